# SPDX-License-Identifier: GPL-2.0-or-later
"""How does Stable-Baselines3 train on many flows? A VecEnv with one slot per flow."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn
from typing_extensions import Unpack

from ns3_env.errors import SimulatorError
from ns3_env.flow_stream import Batch, FlowStream, Sampler, StreamOptions, episode_seed
from ns3_env.scenario import Scenario


class RdmaVecEnv(FlowStream, VecEnv):
    """One slot per flow, many simulators: a :class:`FlowStream` that is a Stable-Baselines3 VecEnv, too.

    :meth:`step` is :meth:`send` and :meth:`recv` in one; slots that are not due (``due`` is False) keep their
    observation, have reward 0 and ignore their action. Under the clock ``synchronous`` every live slot is due
    at every step.

    Args:
        sampler: scenario of each episode, or one for all.
        options: see :class:`FlowStream`; ``seed`` is the base seed, which :meth:`seed` sets too.
    """

    def __init__(
        self, sampler: Sampler | Scenario | Mapping[str, Any], **options: Unpack[StreamOptions]
    ) -> None:
        FlowStream.__init__(self, sampler, **options)
        self.render_mode: str | None = None
        VecEnv.__init__(self, self.num_simulators * self.slots, self._box, self.action.space)
        self._unread: Batch | None = None  # what reset() received, for a recv() that follows
        self.due = np.zeros(self.num_envs, dtype=np.bool_)
        self._observations: NDArray[np.float32] = np.zeros(
            (self.num_envs, len(self.fields)), dtype=np.float32
        )
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)
        self._began = time.monotonic()
        self.results: list[tuple[int, dict[str, Any]]] = []

    def start(self) -> None:
        """See :meth:`FlowStream.start`."""
        self._unread = None
        super().start()

    def recv(self, *, wait_all: bool = False) -> Batch:
        """See :meth:`FlowStream.recv`; after :meth:`reset`, the rows it has seen already."""
        if self._unread is not None:
            unread, self._unread = self._unread, None
            return unread
        return super().recv(wait_all=wait_all)

    def send(self, actions: ArrayLike, slots: ArrayLike) -> None:
        """See :meth:`FlowStream.send`."""
        self._unread = None
        super().send(actions, slots)

    def reset(self) -> NDArray[np.float32]:
        """New episodes everywhere; observations (num_envs, D), zeros where no flow has started yet.

        A :meth:`recv` that follows gives the same rows.
        """
        self._began = time.monotonic()
        self.start()
        self._observations[:] = 0
        self._returns[:] = 0
        self._lengths[:] = 0
        batch = self._unread = self.recv(wait_all=True)
        self.due[:] = False
        self.results = batch.results
        due = batch.due
        self._observations[batch.slots] = batch.observations
        self.due[batch.slots[due]] = True
        self.reset_infos = [{"due": bool(due)} for due in self.due]
        self._reset_seeds()
        self._reset_options()
        observations: NDArray[np.float32] = self._observations.copy()
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Hands over actions (num_envs, A); those of slots that are not due are ignored."""
        slots = np.flatnonzero(self.due)
        self.send(np.asarray(actions)[slots], slots)

    def step_wait(self) -> VecEnvStepReturn:
        """Observations (num_envs, D), rewards, dones, infos; see the class on slots that are not due.

        Where a flow ends, infos hold "terminal_observation", "TimeLimit.truncated" and "episode" (return "r",
        length "l", seconds "t"); the observation is that of the slot's next flow if it begins in this very
        step.
        """
        batch = self.recv(wait_all=True)
        n = self.num_envs
        rewards = np.zeros(n, dtype=np.float32)
        dones = np.zeros(n, dtype=np.bool_)
        over = ~batch.due & ~batch.first
        goes_on = batch.due
        infos: list[dict[str, Any]] = [{"due": False} for _ in range(n)]
        scored = ~batch.first
        np.add.at(rewards, batch.slots[scored], batch.rewards[scored].astype(np.float32))
        np.add.at(self._returns, batch.slots[scored], batch.rewards[scored])
        np.add.at(self._lengths, batch.slots[scored], 1)
        for row in np.flatnonzero(over):
            slot = int(batch.slots[row])
            dones[slot] = True
            infos[slot]["terminal_observation"] = batch.observations[row].copy()
            infos[slot]["TimeLimit.truncated"] = bool(batch.truncated[row] and not batch.terminated[row])
            infos[slot]["episode"] = {
                "r": float(self._returns[slot]),
                "l": int(self._lengths[slot]),
                "t": time.monotonic() - self._began,
            }
            self._returns[slot] = 0.0
            self._lengths[slot] = 0
            self._observations[slot] = batch.observations[row]
        self.due[:] = False
        due_slots = batch.slots[goes_on]
        self.due[due_slots] = True
        self._observations[due_slots] = batch.observations[goes_on]
        for slot in due_slots:
            infos[slot]["due"] = True
        self.results = batch.results
        return self._observations.copy(), rewards, dones, infos

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Sets the base seed; the next reset begins with episode 0 again."""
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
        """No slot is wrapped by itself."""
        return [False] * len(list(self._get_indices(indices)))


__all__ = ["Batch", "RdmaVecEnv", "Sampler", "SimulatorError", "episode_seed"]
