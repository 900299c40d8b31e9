# SPDX-License-Identifier: GPL-2.0-or-later
"""Dialogue with a simulator in turns: reset, receive, act; its death or silence raises an exception."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ns3_env import _native
from ns3_env.errors import ScenarioError, SimulatorDied, SimulatorError, SimulatorHung
from ns3_env.programs.executable import (
    describe_controllers,
    find_executable,
    plugins_of,
)
from ns3_env.programs.plugins import load_plugins
from ns3_env.programs.transport import Transport, transport_of
from ns3_env.simulator.messages import DecisionBatch, EpisodeEnd, Transitions
from ns3_env.simulator.process import SLICE_S, LastWords, SimulatorProcess, Watch, hang_timeout_s
from ns3_env.simulator.results import ASKED, results_with_columns
from ns3_env.simulator.script import Script
from ns3_env.simulator.shared import SharedProcess, sent_scenario

if TYPE_CHECKING:
    from ns3_env.scenario import Scenario

#: Time for an abandoned episode or a process to end, s.
_PATIENCE_S = 1.0


class Simulator:
    """One simulator's process and the channel to it: rdma-sim or tcp-sim, as the scenario's transport is.

    Used in turns: :meth:`send_reset`, then :meth:`receive`, then :meth:`send_actions`, and so on until
    :class:`EpisodeEnd`. A reset may replace any other message, and starts the process if there is
    none, or one of another transport. After an exception of any kind at any place (Ctrl-C, for example), a
    reset starts afresh and :meth:`close` closes. Not for use by two threads at once.

    Args:
        capacity: most rows of one message.
        executable: path of the program, for either transport; default :func:`find_executable`.
        hang_timeout_s: time, s, after which a simulator that is stopped, asleep, or computing without a sign
            of life is killed; default: that of :func:`hang_timeout_s`. A simulator that waits for a core is
            not killed.
        start_timeout_s: patience for a process that starts.
        plugins: shared objects with the user's controllers; like an import, known to all of this process and
            to the processes that it starts from then on (:func:`ns3_env.simulator.load_plugins`).

    Raises ConfigError if a file is not a plugin.
    """

    def __init__(
        self,
        capacity: int = 64,
        *,
        executable: str | os.PathLike[str] | None = None,
        hang_timeout_s: float | None = None,
        start_timeout_s: float = 60.0,
        plugins: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        load_plugins(plugins)
        self._capacity = capacity
        self._executable = executable
        self._hang_timeout_s = hang_timeout_s
        self._start_timeout_s = start_timeout_s
        self._scenario: Scenario | Script | None = None
        self._script: Script | None = None
        self._shared: SharedProcess | None = None
        self._place = 0  # in the shared process
        self._forget()

    def share(self, process: SharedProcess, place: int) -> None:
        """Has the next process be a shared one, in which this simulator has a place."""
        self._shared, self._place = process, place

    @property
    def hang_timeout_s(self) -> float:
        """Seconds of computing without a sign of life after which the process is killed."""
        return hang_timeout_s() if self._hang_timeout_s is None else self._hang_timeout_s

    def _forget(self) -> None:
        """State without a process."""
        self._agent: _native.AgentChannel | None = None
        self._process: SimulatorProcess | None = None
        # Views of the channel's memory keep its descriptors open as long as they live.
        none: NDArray[Any] = np.empty(0)
        self._actions = none
        self._watch = Watch()
        self._transitions = False  # the scenario asks for them
        self._columns = False  # these were requested
        self._transport: Transport = "rdma"  # that of the process

    @property
    def pid(self) -> int | None:
        """The process's id, None while it does not run."""
        return None if self._process is None else self._process.pid

    @property
    def waiting(self) -> bool:
        """The simulator has the turn: :meth:`receive` will give its answer."""
        return self._agent is not None and not self._agent.our_turn

    @property
    def due(self) -> int:
        """Actions that the simulator has asked for; negative: none."""
        return -1 if self._agent is None else self._agent.due

    def start(self, transport: Transport = "rdma") -> None:
        """Starts the transport's process, if it does not run.

        Raises SimulatorNotFound, SimulatorDied, SimulatorHung, or SimulatorError if there is no memory for
        the channel; ConfigError if a plugin cannot be loaded.
        """
        if self._process is not None and self._agent is not None:
            return
        self.kill()  # an interrupt may have left one without the other
        if (script := self._script) is not None:
            executable = Path(script.program)
        else:
            executable = find_executable(transport) if self._executable is None else Path(self._executable)
        if script is None and plugins_of(transport):
            describe_controllers(executable)  # loads them: a fault is a line, not a process that dies
        try:
            self._process, self._agent = self._entered(executable, transport)
            self._transport = transport
            self._actions = self._agent.actions
            if (kind := self._await(starting=True)) != _native.MESSAGE_READY:
                self._raise_broken(f"message {kind} at its start")
        except BaseException:
            self.kill()
            raise

    def _entered(
        self, executable: Path, transport: Transport
    ) -> tuple[SimulatorProcess, _native.AgentChannel]:
        """The process and its channel: shared with others, or this simulator's alone."""
        try:
            if self._shared is not None:
                if plugins_of(transport) or self._script is not None:
                    self._shared = None  # a plugin may keep something for itself from one network to the next
                elif entered := self._shared.enter(self._place, executable, transport, self._capacity):
                    return entered
            agent = _native.AgentChannel(self._capacity)
        except _native.ChannelError as error:  # no memory left, or none allowed
            raise SimulatorError(f"there is no channel to it: {error}") from None
        return SimulatorProcess.started(executable, [agent], transport, self._script), agent

    def send_reset(
        self, scenario: Scenario | Script | Mapping[str, Any], *, replace: bool = True, columns: bool = False
    ) -> None:
        """Starts the scenario's episode, without waiting for it. An episode that still runs is given up.

        An ns-3 script runs one episode in a process: it is started here.

        Args:
            scenario: a mapping is sent as it is: the simulator's JSON (see ``Scenario.to_simulator_json``).
            replace: true to replace a process that has died by now; otherwise :meth:`receive` reports its
                death.
            columns: true for windows and queue series as arrays (:mod:`ns3_env.simulator.results`).

        Raises as :meth:`start`.
        """
        if isinstance(scenario, Mapping):
            text, transport = json.dumps(scenario, separators=(",", ":")), transport_of(scenario)
            record = scenario.get("record")
            transitions = isinstance(record, Mapping) and bool(record.get("transitions"))
            self._scenario = None
        else:
            text, transport, transitions = scenario.to_simulator_text(), scenario.transport, False
            self._scenario = scenario
        script = scenario if isinstance(scenario, Script) else None
        if columns := columns and script is None:
            text = ASKED + text[1:]
        self._take_script(script)
        if transport != self._transport:
            self.kill()  # another program, and its own channel
        if self.waiting:
            self._give_up()
        if replace and self._process is not None and self._process.has_ended():
            self.kill()  # while it had nothing to do
        self.start(transport)
        assert self._agent is not None
        assert self._process is not None
        self._process.forget_words()
        self._agent.write_blob(text.encode())
        self._transitions, self._columns = transitions, columns
        self._agent.send(_native.COMMAND_RESET)

    def _take_script(self, script: Script | None) -> None:
        """Ends a process that runs no other episode: that of a script, or any process before a script."""
        ended = self.due < 0 and not self.waiting
        if self._script is not None and self._process is not None and ended:
            self._process.wait(_PATIENCE_S)  # it may have something to write after the episode's end
        if self._script is not None or script is not None:
            self.kill()
        self._script = script

    def _give_up(self) -> None:
        """Receives the answer that an episode still owes; a process that does not answer soon is replaced."""
        until = time.monotonic() + _PATIENCE_S

        def look() -> None:
            if time.monotonic() > until:
                self._raise_hung("was still computing")

        with contextlib.suppress(SimulatorDied, SimulatorHung):
            self._await(look)

    def send_actions(self, actions: ArrayLike) -> None:
        """Answers the last decisions and lets the simulator continue.

        Args:
            actions: (m, 3), a row per due row of the last decisions: window (B; infinite: none), pacing rate
                (bit/s), and the number that comes back as ``last_action``.

        Raises ValueError for another shape, for a window or rate that is no number >= 0, and for a last
        number that is not finite: nothing is sent then.
        """
        if self._agent is None or (due := self._agent.due) < 0:
            raise RuntimeError(
                "the simulator has asked for no actions: send_reset() and receive() come first"
            )
        values = np.asarray(actions, dtype=np.float64)
        if values.shape != (due, _native.ACTION_WIDTH) and not values.size == due == 0:
            raise ValueError(f"{due} rows of {_native.ACTION_WIDTH} actions were due, not {values.shape}")
        self._agent.step(values)

    def branch(self, copies: int = 1, *, until_ns: float | None = None, asks: bool = True) -> list[Simulator]:
        """Copies of the simulation at the decision that it waits for; each continues by itself.

        A copy waits for the same actions: its next call is :meth:`send_actions`. With the same actions it
        comes to the same results, bit for bit. It may be branched again, outlives what it was copied from,
        runs further episodes, and ends when it is closed or no longer referred to, and with this process.
        Captures of frames stay the original's. Memory is shared until either writes to it.

        Args:
            copies: number of copies.
            until_ns: simulated time at which their episode ends at the latest; None: as the scenario has it.
                A flow that this cuts has "left_ns" in the results (:mod:`ns3_env.simulator.results`).
            asks: False: they apply the actions that are due, and ask for none after that: flows under the
                agent keep window and rate, those over a base controller are left to it. The answer is the
                episode's end.

        Raises:
            RuntimeError: the simulator waits for no actions.
            SimulatorError: there is no process, no memory or no descriptor for a copy; this simulation is as
                before, and there are no copies.
        """
        if self.due < 0:
            raise RuntimeError("only a simulator that waits for actions can be branched")
        branches: list[Simulator] = []
        try:
            branches.extend(self._copied(until_ns, asks) for _ in range(copies))
        except BaseException:
            for copy in branches:
                copy.kill()
            raise
        return branches

    def _copied(self, until_ns: float | None, asks: bool) -> Simulator:
        assert self._agent is not None
        assert self._process is not None
        copy = Simulator(
            self._capacity,
            executable=self._executable,
            hang_timeout_s=self._hang_timeout_s,
            start_timeout_s=self._start_timeout_s,
        )
        try:
            agent = _native.AgentChannel(self._capacity)
            words = LastWords("ns3_env-stderr")
        except (_native.ChannelError, OSError) as error:
            raise SimulatorError(f"there is no channel to a copy: {error}") from None
        until_ps, turns = -1 if until_ns is None else round(until_ns * 1000), self._agent.turns
        try:
            self._agent.branch(agent, words.fd, until_ps, asks)
            if (kind := self._await()) != _native.MESSAGE_COPIED:
                self._raise_broken(f"message {kind} where a copy was asked for")
            if (pid := self._agent.copy_pid) < 0:
                raise SimulatorError(f"the simulator cannot be copied: {os.strerror(-pid)}")
            copy._process, copy._agent = self._process.copied(pid, words), agent
        except BaseException:
            if self._agent is not None and self._agent.turns != turns:
                self._disown(words)
            raise
        copy._transport, copy._scenario = self._transport, self._scenario
        copy._transitions, copy._columns = self._transitions, self._columns
        copy._actions = agent.actions
        copy._await()
        return copy

    def _disown(self, words: LastWords) -> None:
        """Ends the copy of a branch that was interrupted; the same actions are due again."""
        assert self._agent is not None
        assert self._process is not None
        with contextlib.suppress(SimulatorDied, SimulatorHung):
            if self.waiting:
                self._await()
            if self._agent.kind == _native.MESSAGE_COPIED and (pid := self._agent.copy_pid) > 0:
                self._process.copied(pid, words).end()

    def receive(
        self, meanwhile: Callable[[], object] | None = None
    ) -> DecisionBatch | Transitions | EpisodeEnd:
        """Waits for the simulator's answer. Transitions need ``send_actions(())`` to continue.

        Args:
            meanwhile: function called every 0.02 s during the wait; an exception that it
                raises ends the wait.

        Raises:
            ScenarioError: the simulator refuses the scenario; it stays alive.
            SimulatorDied: the process has ended; the message contains its last output.
            SimulatorHung: the process gave no sign of life and was killed.
        """
        if self._agent is None or self._agent.our_turn:
            raise RuntimeError(
                "nothing was asked of the simulator: send_reset() or send_actions() come first"
            )
        kind = self._await(meanwhile)
        agent = self._agent
        if kind == _native.MESSAGE_DECISIONS:
            return DecisionBatch.of(agent)
        if kind == _native.MESSAGE_TRANSITIONS and self._transitions:
            actions = self._actions[: agent.row_count]
            return Transitions.of(agent, actions=actions[:, 2].copy(), windows=actions[:, :2].copy())
        if kind == _native.MESSAGE_EPISODE_END:
            try:
                read = results_with_columns if self._columns else json.loads
                results = read(self._read_blob())
            except (ValueError, RecursionError, LookupError, TypeError) as error:
                self._raise_broken(f"results that are no JSON: {error}")
            if not isinstance(results, dict):
                self._raise_broken(f"results that are a {type(results).__name__}")
            return EpisodeEnd(results)
        if kind == _native.MESSAGE_FAILED:
            self._raise_failed(self._read_blob().decode(errors="replace"))
        if kind == _native.MESSAGE_ERROR:
            text = self._read_blob().decode(errors="replace")
            if not text:
                self._raise_broken("an error without words")
            raise ScenarioError(text if self._scenario is None else self._scenario.refusal(text))
        self._raise_broken(f"message {kind} out of turn")

    def play(self, scenario: Scenario | Mapping[str, Any], *, columns: bool = False) -> dict[str, Any]:
        """The results of an episode in which no flow is under a policy (:mod:`ns3_env.simulator.results`).

        With ``columns``, windows and queue series are arrays (:mod:`ns3_env.simulator.results`).

        Raises:
            ScenarioError, SimulatorError: see :meth:`receive`.
            RuntimeError: a flow is under "agent", and asks for a decision.
        """
        self.send_reset(scenario, columns=columns)
        message = self.receive()
        if not isinstance(message, EpisodeEnd):
            raise RuntimeError("a flow under 'agent' asked for a decision, but no policy is here")
        return message.results

    def answered(self) -> bool:
        """Returns whether the simulator has answered: :meth:`receive` would not wait."""
        return self.waiting and self._agent is not None and _native.wait_any([self._agent], 0.0) == 0

    def check(self) -> None:
        """Checks that the process is well, no matter whose turn it is; no process is also well.

        A script's process ends with its episode: it is also well.

        Raises:
            SimulatorDied: the process has ended.
            SimulatorHung: it is stopped, or has the turn and gives no sign of life, and was killed.
        """
        if self._process is None or self._agent is None:
            return
        if self._script is not None and not self.waiting and self.due < 0:
            return
        self._raise_if_dead()
        working = self.waiting and not self.answered()
        if reason := self._watch.look(self.pid, self._sign(), self.hang_timeout_s, working=working):
            self._raise_hung(reason)

    def _sign(self) -> tuple[int, int]:
        """Sign of life: it changes while the simulator computes."""
        assert self._agent is not None
        return self._agent.turns, self._agent.heartbeat

    def _await(self, meanwhile: Callable[[], object] | None = None, *, starting: bool = False) -> int:
        """Waits for the next message; the turn is then ours."""
        assert self._agent is not None
        kind = self._next_message()
        if kind == _native.MESSAGE_NONE:
            start_s = time.monotonic()
            while kind == _native.MESSAGE_NONE and not self._agent.our_turn:  # damage may read as "none"
                self._raise_if_dead()
                if starting:
                    if time.monotonic() - start_s > self._start_timeout_s:
                        self._raise_hung(f"did not start within {self._start_timeout_s:g} s")
                elif not self._watch.hears(self._sign()):
                    self.check()
                if meanwhile is not None:
                    meanwhile()
                kind = self._next_message()
        return kind

    def _next_message(self) -> int:
        """Waits for a message of any kind; none after a while."""
        assert self._agent is not None
        try:
            return self._agent.wait(SLICE_S)
        except _native.ChannelError as error:
            self._raise_broken(str(error))

    def _played_scenario(self) -> bytes:
        """The JSON of the scenario that the process plays."""
        assert self._agent is not None
        return sent_scenario(self._agent) if self._shared is None else self._shared.played_scenario()

    def _raise_failed(self, words: str) -> NoReturn:
        """This network of a shared process is over; the others go on."""
        message = f"the simulator (pid {self.pid}) ended with exit code 1; its last words:\n{words}"
        self.kill()
        raise SimulatorDied(message)

    def _read_blob(self) -> bytes:
        assert self._agent is not None
        try:
            return self._agent.read_blob()
        except _native.ChannelError as error:
            self._raise_broken(str(error))

    def _raise_broken(self, what: str) -> NoReturn:
        """The simulator broke the protocol."""
        message = f"the simulator (pid {self.pid}) broke the protocol and was killed: {what}"
        self.kill()
        raise SimulatorDied(message) from None

    def _raise_if_dead(self) -> None:
        """Raises SimulatorDied if the process has ended, unless a script's last answer is still to be
        received."""
        assert self._process is not None
        message = self._process.death(self._played_scenario)
        if message is not None and not (self._script is not None and self.answered()):
            self.kill()
            raise SimulatorDied(message)

    def _raise_hung(self, reason: str) -> None:
        assert self._process is not None
        message = f"the simulator (pid {self.pid}) {reason} and was killed{self._process.last_words()}"
        self.kill()
        raise SimulatorHung(message)

    def kill(self) -> None:
        """Ends the process at once; :meth:`send_reset` starts a new one.

        A shared process whose network waits here goes on for the others.
        """
        process, agent = self._process, self._agent
        self._forget()
        if process is None:
            return
        if process.networks > 1 and agent is not None and agent.our_turn:
            process.networks -= 1
            agent.send(_native.COMMAND_CLOSE)
        else:
            process.leave()

    def close(self) -> None:
        """Ends the process; may be called again."""
        alone = self._process is not None and self._process.networks == 1
        if alone and self._process is not None and self._agent is not None and self._agent.our_turn:
            self._agent.send(_native.COMMAND_CLOSE)
            self._process.wait(_PATIENCE_S)
        self.kill()

    def __enter__(self) -> Simulator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
