# SPDX-License-Identifier: GPL-2.0-or-later
"""Stable-Baselines3 VecEnv with one slot per flow."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn
from typing_extensions import Unpack

from ns3_env.decision.action_faults import action_rows
from ns3_env.decision.observations import named
from ns3_env.decision.outcomes import Batch
from ns3_env.envs.flow_stream import FlowStream, Sampler, StreamOptions, episode_seed
from ns3_env.envs.rendering import FPS, RENDER_MODES, Film
from ns3_env.envs.slots import Mask
from ns3_env.errors import PaddingError, SimulatorError
from ns3_env.scenario import ScenarioLike
from ns3_env.simulator import Script


class FlowVecEnv(FlowStream, VecEnv):
    """One slot per flow, many simulators: a :class:`FlowStream` that is also a Stable-Baselines3 VecEnv.

    :meth:`step` is :meth:`send` and :meth:`recv` in one; slots that are not due (``due`` is False) keep their
    observation, have reward 0 and ignore their action. Under the clock ``synchronous`` every live slot is due
    at every step; slots without a flow wait, and a step that has such rows is a PaddingError unless the
    learner leaves them out (:mod:`ns3_env.envs.sb3_buffers`).

    Args:
        sampler: the scenario of each episode's number, or one for all: a Scenario, its keys, its YAML file or
            its name.
        render_mode: None, or "rgb_array": :meth:`render` draws the first simulator's flows.
        telemetry: infos have every field by name; False saves three quarters of the time that they cost.
        options: see :class:`FlowStream`; ``seed`` is the base seed, which :meth:`seed` sets too.

    Attributes:
        mask: rows of the last step that were decisions.
        due: (num_envs,) rows that decide next.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": RENDER_MODES, "render_fps": FPS}  # type: ignore[misc]

    def __init__(
        self,
        sampler: Sampler | ScenarioLike | Script | None = None,
        *,
        render_mode: str | None = None,
        telemetry: bool = True,
        **options: Unpack[StreamOptions],
    ) -> None:
        self._made_of = sampler, {"render_mode": render_mode, "telemetry": telemetry, **options}
        self._telemetry = telemetry
        FlowStream.__init__(self, sampler, **options)
        self.render_mode = render_mode
        spaces = self.task.observation_space, self.task.action_space
        VecEnv.__init__(self, self.num_simulators * self.slots, *spaces)
        self._unread: Batch | None = None  # the message that reset() received, for a following recv()
        self._slots_due: NDArray[np.int64] = np.empty(0, dtype=np.int64)  # the due rows as they came
        self._all_slots = np.arange(self.num_envs).tobytes()
        self._seen_all = False  # nothing was received or sent since ``due`` was set
        self.due = np.zeros(self.num_envs, dtype=np.bool_)
        self._observations: NDArray[np.float32] = np.zeros(
            (self.num_envs, len(self.fields)), dtype=np.float32
        )
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)
        self._began = time.monotonic()
        self.results: list[tuple[int, dict[str, Any]]] = []
        self.mask = Mask(self.num_envs)
        self._film = Film(render_mode)

    def __getstate__(self) -> dict[str, Any]:
        """Returns its constructor's arguments: an unpickled environment starts afresh, with its
        own simulators."""
        return {"made_of": self._made_of}

    def __setstate__(self, state: dict[str, Any]) -> None:
        sampler, options = state["made_of"]
        FlowVecEnv.__init__(self, sampler, **options)

    def start(self) -> None:
        self._unread = None
        super().start()

    def recv(self, *, wait_all: bool = False) -> Batch:
        """See :meth:`FlowStream.recv`; after :meth:`reset`, the rows it has seen already."""
        self._seen_all = False
        if self._unread is not None:
            unread, self._unread = self._unread, None
            return unread
        return super().recv(wait_all=wait_all)

    def send(self, actions: ArrayLike, slots: ArrayLike) -> None:
        self._unread, self._seen_all = None, False
        super().send(actions, slots)

    def reset(self) -> NDArray[np.float32]:
        """New episodes everywhere; observations (num_envs, D), zeros in slots whose flow has not started.

        A :meth:`recv` that follows gives the same rows.
        """
        self._began = time.monotonic()
        self.start()
        self._observations[:] = 0
        self._returns[:] = 0
        self._lengths[:] = 0
        batch = self._unread = self.recv(wait_all=True)
        self._seen_all = True
        self.due[:] = False
        self.results = batch.results
        due = batch.due
        self._observations[batch.slots] = batch.observations
        self._slots_due = batch.slots[due]
        self.due[self._slots_due] = True
        self.reset_infos = self._infos(batch)
        self._film.begin()
        self._show(batch)
        self._reset_seeds()
        self._reset_options()
        observations: NDArray[np.float32] = self._observations.copy()
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Hands over actions (num_envs, A); only those of due slots count. Raises as :meth:`send`."""
        try:
            self.mask.before_step(self.due)
        except PaddingError as error:
            if (first := self.too_few_slots()) is None:
                raise
            raise PaddingError(f"{first}. Then: {error}") from None
        slots = self._slots_due if self._seen_all else np.flatnonzero(self.due)
        rows = action_rows(actions, "slots", range(self.num_envs), self._one_action.shape or ())
        self.send(rows[slots], slots)

    def step_wait(self) -> VecEnvStepReturn:
        """Observations (num_envs, D), rewards, dones, infos; see the class on slots that are not due.

        Infos of rows that decide next contain "flow" (its index in the scenario) and "telemetry" (every field
        of its record by name), those of slots that decided "elapsed" (base RTTs since then). When a flow
        ends, infos contain "terminal_observation", "slowdown", "TimeLimit.truncated" (it was cut, and the
        reward has not charged the remaining bytes) and "episode" (return "r", length "l", seconds "t"); the
        observation is that of the slot's next flow if it starts in this very step. A slot that waited is
        "done" in the step in which its next flow starts, so that a recurrent policy forgets its wait.
        """
        batch = self.recv(wait_all=True)
        self._seen_all = True
        n = self.num_envs
        dones = np.zeros(n, dtype=np.bool_)
        ended: list[tuple[int, dict[str, Any]]] = []
        if batch.goes_on and batch.slots.tobytes() == self._all_slots:  # a row for each, in order
            rewards, elapsed, self._slots_due = batch.rewards.astype(np.float32), batch.elapsed, batch.slots
            self._returns += batch.rewards
            self._lengths += 1
            self.due[:] = True
            self._observations[:] = batch.observations
            columns = zip(elapsed.tolist(), batch.flows.tolist(), strict=True)
            infos: list[dict[str, Any]] = [
                {"due": True, "elapsed": since, "flow": flow} for since, flow in columns
            ]
            self._add_telemetry(infos, batch.records)
            return self._stepped(batch, rewards, dones, elapsed, infos)
        rewards, elapsed = np.zeros(n, dtype=np.float32), np.zeros(n)
        self.due[:] = False
        if batch.goes_on:  # a row for each slot, at most
            slots = batch.slots
            rewards[slots] = batch.rewards
            elapsed[slots] = batch.elapsed
            self._returns[slots] += batch.rewards
            self._lengths[slots] += 1
            self._slots_due = slots
            self.due[slots] = True
            self._observations[slots] = batch.observations
        else:
            scored = ~batch.first
            np.add.at(rewards, batch.slots[scored], batch.rewards[scored].astype(np.float32))
            elapsed[batch.slots[scored]] = batch.elapsed[scored]
            np.add.at(self._returns, batch.slots[scored], batch.rewards[scored])
            np.add.at(self._lengths, batch.slots[scored], 1)
            for row in np.flatnonzero(~batch.due & scored).tolist():
                slot = int(batch.slots[row])
                dones[slot] = True
                ended.append((slot, self._end(batch, row, slot)))
            goes_on = batch.slots[batch.due]
            self._slots_due = goes_on
            self.due[goes_on] = True
            self._observations[goes_on] = batch.observations[batch.due]
            dones[batch.slots[batch.first]] = True
        return self._stepped(batch, rewards, dones, elapsed, self._infos(batch, elapsed, ended))

    def _stepped(
        self,
        batch: Batch,
        rewards: NDArray[np.float32],
        dones: NDArray[np.bool_],
        elapsed: NDArray[np.float64],
        infos: list[dict[str, Any]],
    ) -> VecEnvStepReturn:
        """Returns a step's results."""
        self._show(batch)
        self.mask.after_step(self.due, dones, elapsed)
        self.results = batch.results
        return self._observations.copy(), rewards, dones, infos

    def _infos(
        self,
        batch: Batch,
        elapsed: NDArray[np.float64] | None = None,
        ended: Sequence[tuple[int, dict[str, Any]]] = (),
    ) -> list[dict[str, Any]]:
        """Infos of all slots.

        Args:
            batch: the step's rows.
            elapsed: (num_envs,) base RTTs of the slots that decided; None: no slot decided.
            ended: slots whose flow is over, with its infos.
        """
        infos: list[dict[str, Any]] = [{"due": False} for _ in range(self.num_envs)]
        if elapsed is not None:
            scored = batch.slots[~batch.first]
            for slot, since in zip(scored.tolist(), elapsed[scored].tolist(), strict=True):
                infos[slot]["elapsed"] = since
        for slot, info in ended:
            infos[slot].update(info)
        due = batch.due
        deciding = [infos[slot] for slot in batch.slots[due].tolist()]
        for info, flow in zip(deciding, batch.flows[due].tolist(), strict=True):
            info.update(due=True, flow=flow)
        self._add_telemetry(deciding, batch.records[due])
        return infos

    def _add_telemetry(self, infos: Sequence[dict[str, Any]], records: NDArray[np.float64]) -> None:
        """Adds the telemetry of records (k, fields) to k infos, if requested."""
        if self._telemetry:
            for info, telemetry in zip(infos, named(records), strict=True):
                info["telemetry"] = telemetry

    def _end(self, batch: Batch, row: int, slot: int) -> dict[str, Any]:
        """Returns the infos of the flow that is over in this row of the slot; the slot's sums start
        again."""
        info = {
            "terminal_observation": batch.observations[row].copy(),
            "TimeLimit.truncated": not batch.final[row],
            "slowdown": float(batch.slowdowns[row]),
            "episode": {
                "r": float(self._returns[slot]),
                "l": int(self._lengths[slot]),
                "t": time.monotonic() - self._began,
            },
        }
        self._returns[slot] = 0.0
        self._lengths[slot] = 0
        self._observations[slot] = batch.observations[row]
        return info

    def _show(self, batch: Batch) -> None:
        """Adds the rows that decide next to the film."""
        if self._film.rolls:
            mask = batch.due & (batch.simulators == 0)
            if any(i == 0 for i, _ in batch.results):
                self._film.begin()
            self._film.see(batch.flows[mask], batch.records[mask])

    def render(self, mode: str | None = None) -> NDArray[np.uint8] | None:
        """The flows of the first simulator (:mod:`ns3_env.envs.rendering`); None if ``render_mode`` is."""
        return self._film.frame()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """See :meth:`render`: one picture."""
        return [self.render()]

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Sets the base seed; the next reset starts with episode 0 again."""
        if seed is not None:
            self._base_seed = seed
            self._next_episodes = list(range(self.num_simulators))
        self._seeds = [self._base_seed + slot for slot in range(self.num_envs)]
        return self._seeds

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The environment's attribute, once per slot."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets an attribute of the environment; all slots share it."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Calls a method of the environment once; its result per slot."""
        result = getattr(self, method_name)(*args, **kwargs)
        return [result] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Returns whether slots are wrapped by themselves: none is, but each reports episodes as Monitor
        does."""
        return [wrapper_class is Monitor] * len(list(self._get_indices(indices)))


__all__ = ["Batch", "FlowVecEnv", "Sampler", "SimulatorError", "episode_seed"]
