# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium environment over a simulation that was built with ns3-ai's Gym interface."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
from gymnasium.spaces import Box
from gymnasium.utils import EzPickle

from ns3_env.decision.action_faults import action_fault, action_rows
from ns3_env.envs.gym_env import arguments
from ns3_env.errors import SimulatorDied
from ns3_env.ns3ai.gym_wire import Reason, WireError, message
from ns3_env.ns3ai.segments import MAKERS, Names
from ns3_env.ns3ai.session import Session
from ns3_env.ns3ai.spaces import contain, space_of, value_of

#: Message, ours or from ns-3's script, that a simulation has crashed: it has looked for objects in vain.
_CRASHED = re.compile("signal|SIG[A-Z]{3,4}|Segmentation|assert|dumped", re.IGNORECASE)
#: Numbers of the drawn names; the process's id makes them distinct among processes.
_DRAWN = iter(range(2**62))


class Ns3AiEnv(gym.Env[Any, Any], EzPickle):
    """A simulation that speaks ns3-ai's Gym interface, unchanged.

    It is started here, for its spaces, and again by each :meth:`reset` but a first one without a seed. An
    episode ends with the simulation's reason: ``terminated`` for its reason GameOver, ``truncated`` for
    SimulationEnd. ``info["info"]`` is the text that it sends along. Values have the shapes and dtypes of the
    spaces that it announces: int32, uint32, float32 or float64 for INT, UINT, FLOAT or DOUBLE.

    Several may live at once. While a simulation starts, the segment's name is its own; environments of the
    same name start one after the other. Unpickled, it is a new environment with the same
    arguments.

    Args:
        target: the target that ``ns3 run`` runs.
        ns3_path: folder with ``ns3``: that of an ns-3 source tree, or :func:`ns3_env.ns3ai.path`.
        settings: settings passed to the simulation as ``--key=value``.
        segment: name of the shared-memory segment; the simulation must use the same. None: with
            ``segment_key`` one is drawn, otherwise it is ns3-ai's own, "My Seg".
        segment_key: the setting that passes the segment's name to the simulation, if it has one.
        seed_key: the setting that passes an episode's seed: ns-3's command line knows ``RngRun``. A value in
            ``settings`` is that of every episode for which reset() is given no seed. None: no seed is passed.
        object_names: names of the two messages and the synchronisation block: ``to_python``,
            ``to_simulator``, ``lockable``, if the simulation has other names than ns3-ai's.
        segment_bytes: size of the segment.
        timeout_s: the longest wait for a message of the simulation, including its build and start, s; None:
            no limit.
        show_output: true shows the simulation's output; otherwise errors quote its end.

    Raises, from here, reset and step:
        SimulatorNotFound: no ``ns3`` in that folder.
        SimulatorDied: the simulation ended out of turn; reported within 0.1 s. The next reset starts another
        one. SimulatorHung: it took longer than ``timeout_s``, and was killed.
        MessageTooLargeError: an action that needs more than 1 KiB, which is not sent; or a message of the
            simulation that did.
        WireError: it sent an unexpected message.
        SegmentError: the segment cannot be made, or another program uses it.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (Gymnasium declares it so)

    def __init__(
        self,
        target: str,
        ns3_path: str | os.PathLike[str],
        settings: Mapping[str, Any] | None = None,
        *,
        segment: str | None = None,
        segment_key: str | None = None,
        seed_key: str | None = "RngRun",
        object_names: Mapping[str, str] | None = None,
        segment_bytes: int = 4096,
        timeout_s: float | None = None,
        show_output: bool = False,
    ) -> None:
        EzPickle.__init__(self, **arguments(locals()))
        if segment is None and segment_key is not None:
            segment = f"ns3_env-{os.getpid()}-{next(_DRAWN)}"
        self._names = Names(**({} if segment is None else {"segment": segment}), **(object_names or {}))
        self._settings = dict(settings or {})
        if segment_key is not None:
            self._settings[segment_key] = self._names.segment
        self._seed_key = seed_key
        self._target, self._ns3_path = target, ns3_path
        self._options: dict[str, Any] = {
            "segment_bytes": segment_bytes,
            "timeout_s": timeout_s,
            "show_output": show_output,
        }
        self._makers = MAKERS  # of segments, one of which the simulation finds its objects in
        self._session: Session | None = None
        self._playing = False  # a step may follow
        try:
            self._begin(None)
        except BaseException:  # no caller has this environment, to close it
            self._end()
            raise
        self._fresh = True  # no reset has used the simulation that was started for its spaces

    def _begin(self, seed: int | None) -> None:
        """Starts the simulation, and learns its spaces."""
        settings = dict(self._settings)
        if self._seed_key is not None and (seed is not None or self._seed_key not in settings):
            settings[self._seed_key] = int(self.np_random.integers(2**31)) if seed is None else seed
        self._fresh = self._playing = False
        init_message = self._first_words(settings)
        try:
            spaces = space_of(init_message.obsSpace), space_of(init_message.actSpace)
        except ValueError as error:
            raise self._broken(f"spaces that cannot be: {error}") from None
        if hasattr(self, "observation_space") and spaces != (self.observation_space, self.action_space):
            raise self._broken(f"other spaces than at its first start: {spaces[0]}, {spaces[1]}")
        self.observation_space, self.action_space = spaces

    def _first_words(self, settings: Mapping[str, Any]) -> Any:
        """Starts a simulation and returns its first message; tries again in Boost's other layout
        if it crashes at once."""
        first: SimulatorDied | None = None
        for maker in self._makers:
            self._session = Session(
                self._target, self._ns3_path, settings, names=self._names, maker=maker, **self._options
            )
            self._session.start()
            try:
                init_message = self._received("SimInitMsg")
            except SimulatorDied as error:
                if not _CRASHED.search(str(error)):
                    raise
                first = first or error
            else:
                self._makers = (maker,)
                return init_message
        assert first is not None
        raise first

    def _received(self, name: str) -> Any:
        assert self._session is not None
        try:
            return self._session.receive(name)
        except BaseException:
            self._end()
            raise

    def _broken(self, what: str) -> WireError:
        self._end()
        return WireError(f"the simulation {self._target!r} announced {what}")

    def _end(self) -> None:
        self._playing = False
        if self._session is not None:
            self._session.end()
            self._session = None

    def _stop(self) -> None:
        """Asks the simulation to stop, if it waits for an answer; ends it."""
        session = self._session
        if session is None:
            return
        try:
            if self._playing:
                session.send(message("EnvActMsg", stopSimReq=True))
            elif self._fresh:
                session.send(message("SimInitAck", done=True, stopSimReq=True))
            session.stop()
        except (RuntimeError, ValueError):
            pass  # it is dead already
        finally:
            self._playing = self._fresh = False
            session.end()
            self._session = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Restarts the simulation with the seed, or the next of the environment's own generator.

        Args:
            seed: seed of the episode, and of those that follow.
            options: {"settings": {...}}: change the simulation's settings, from now on.
        """
        super().reset(seed=seed)
        remaining = dict(options or {})
        changed = remaining.pop("settings", {})
        if remaining:
            raise ValueError(f"options: there is no {min(remaining)!r}; reset() knows 'settings'")
        self._settings.update(changed)
        if seed is not None or changed or not self._fresh or self._session is None:
            self._stop()
            self._begin(seed)
        self._fresh = False
        assert self._session is not None
        self._session.send(message("SimInitAck", done=True, stopSimReq=False))
        state = self._received("EnvStateMsg")
        observation = self._observation(state)
        self._after(state)
        return observation, {"info": state.info}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Sends the action; the answer is the simulation's next state."""
        if not self._playing or self._session is None:
            raise RuntimeError("the episode is over: reset() comes first")
        if isinstance(self.action_space, Box):
            rows = action_rows(action, "simulations", [self._target], self.action_space.shape)
            if fault := action_fault(rows, "simulations", [self._target], self.action_space):
                raise fault
        answer = message("EnvActMsg", actData=contain(self.action_space, action, doubles=False))
        try:
            self._session.send(answer)
        except RuntimeError:  # it has died, or hung; an action that is too large has ended nothing
            self._end()
            raise
        state = self._received("EnvStateMsg")
        observation = self._observation(state)
        self._after(state)
        over = bool(state.isGameOver)
        terminated = over and state.reason == Reason.GameOver
        return observation, float(state.reward), terminated, over and not terminated, {"info": state.info}

    def _observation(self, state: Any) -> Any:
        try:
            return value_of(self.observation_space, state.obsData)
        except ValueError as error:
            self._end()
            raise WireError(f"the simulation {self._target!r} sent an observation of {error}") from None

    def _after(self, state: Any) -> None:
        """The simulation waits for an action, or a request to stop."""
        self._playing = True
        if state.isGameOver:
            assert self._session is not None
            self._session.send(message("EnvActMsg", stopSimReq=True))
            self._playing = False

    def close(self) -> None:
        """Ends the simulation; may be called again."""
        self._stop()
