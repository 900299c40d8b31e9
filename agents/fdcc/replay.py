# SPDX-License-Identifier: GPL-2.0-or-later
"""Replay buffer of asynchronous slots, with histories and n-step returns.

A history is copied when a transition is stored, so no stored window can reach across an episode's end, a
truncation or the end of the ring.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium import spaces
from stable_baselines3.common.buffers import BaseBuffer, ReplayBuffer
from stable_baselines3.common.type_aliases import ReplayBufferSamples
from stable_baselines3.common.vec_env import VecNormalize

from ns3_env.envs.rollouts import Rollout
from ns3_env.policies.history import Floats, Ints, append, histories_of


class History(NamedTuple):
    """Histories as the networks read them: windows (B, K, F) float32 and lengths (B,) int64 in 1..K."""

    windows: th.Tensor
    lengths: th.Tensor


class SlotHistories:
    """The windows of all live slots; input = observation, followed by the previous action if requested."""

    def __init__(
        self, slots: int, length: int, observation_dim: int, action_dim: int, with_last_action: bool
    ) -> None:
        """
        Args:
            slots: number of slots.
            length: K.
            observation_dim: D.
            action_dim: A.
            with_last_action: true for F = D + A instead of D. Not needed if the observation includes the last
                action.
        """
        self.windows: Floats = np.zeros(
            (slots, length, observation_dim + (action_dim if with_last_action else 0)), dtype=np.float32
        )
        self.lengths: Ints = np.zeros(slots, dtype=np.int64)
        self.last_actions: Floats = np.zeros((slots, action_dim), dtype=np.float32)
        self.with_last_action = with_last_action

    def forget(self, slots: Ints) -> None:
        """Empties the histories of ``slots``: an episode starts."""
        self.windows[slots] = 0.0
        self.lengths[slots] = 0
        self.last_actions[slots] = 0.0

    def observe(self, slots: Ints, observations: Floats) -> None:
        """Adds ``observations`` (m, D) to the histories of ``slots`` (m,), all different."""
        inputs = observations
        if self.with_last_action:
            inputs = np.concatenate([observations, self.last_actions[slots]], axis=1)
        windows, lengths = self.windows[slots], self.lengths[slots]
        append(windows, lengths, inputs)
        self.windows[slots], self.lengths[slots] = windows, lengths


Bools = npt.NDArray[np.bool_]


@dataclass(slots=True)
class _Pending:
    """A decision whose n-step return is not complete yet."""

    window: Floats
    length: int
    action: Floats
    reward: float = 0.0
    discount: float = 1.0
    steps: int = 0


class HistoryReplayBuffer(ReplayBuffer):
    """Transitions of asynchronous slots with their histories and n-step returns.

    A slot's life is ``begin``, then ``act`` and ``outcome`` in turn, until an outcome ends the episode. A
    transition is (history at t, action at t, Σ_{i<m} γ^{e(i)} r_{t+i}, history at t+m, γ^{e(m)}, final);
    m = n, or less if the episode ended before, and e(i) are the base RTTs that i decisions took
    (Bradtke and Duff 1994). After a final row no value is bootstrapped; after another end the value of the
    last history is, as a truncated episode would have continued (Zhang 2023, sec. 4.2, gives the return
    only).

    Memory per transition: 2·K·F + A + a few floats, e.g. 0.5 kB at K = 8, F = 8.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        device: th.device | str = "auto",
        n_envs: int = 1,
        optimize_memory_usage: bool = False,
        handle_timeout_termination: bool = True,
        *,
        history_length: int,
        n_steps: int,
        gamma: float,
        append_last_action: bool,
    ) -> None:
        """
        Args:
            buffer_size: most transitions kept, over all slots.
            observation_space: Box of shape (D,).
            action_space: Box of shape (A,).
            device: device of the samples.
            n_envs: number of slots.
            optimize_memory_usage: not supported.
            handle_timeout_termination: always on.
            history_length: K >= 1.
            n_steps: n >= 1.
            gamma: discount per base RTT.
            append_last_action: true if the input is the observation followed by the previous action.

        Raises:
            ValueError: for an option that is not supported or a number out of range.
        """
        if optimize_memory_usage or not handle_timeout_termination:
            raise ValueError(
                "HistoryReplayBuffer: optimize_memory_usage is off and handle_timeout_termination on, always"
            )
        if history_length < 1 or n_steps < 1 or buffer_size < 1:
            raise ValueError(
                "HistoryReplayBuffer: history_length, n_steps and buffer_size must be at least 1"
            )
        BaseBuffer.__init__(self, buffer_size, observation_space, action_space, device, n_envs)
        if len(self.obs_shape) != 1:
            raise ValueError(
                f"HistoryReplayBuffer: the observation must be a vector, not of shape {self.obs_shape}"
            )
        self.optimize_memory_usage = False
        self.handle_timeout_termination = True
        self.history_length = history_length
        self.n_steps = n_steps
        self.gamma = gamma
        self.append_last_action = append_last_action
        self.start_collection(n_envs)
        self._allocate()

    def _allocate(self) -> None:
        size, window = self.buffer_size, self.histories.windows.shape[1:]
        self.windows: Floats = np.zeros((size, *window), dtype=np.float32)
        self.lengths: Ints = np.ones(size, dtype=np.int64)
        self.next_windows: Floats = np.zeros((size, *window), dtype=np.float32)
        self.next_lengths: Ints = np.ones(size, dtype=np.int64)
        self.actions: Floats = np.zeros((size, self.action_dim), dtype=np.float32)
        self.rewards: Floats = np.zeros((size, 1), dtype=np.float32)
        self.dones: Floats = np.zeros((size, 1), dtype=np.float32)
        self.discounts: Floats = np.zeros((size, 1), dtype=np.float32)

    def start_collection(self, slots: int) -> None:
        """Forgets the episodes under way, not the stored transitions, as the environment was reset."""
        self.n_envs = slots
        self.histories = SlotHistories(
            slots, self.history_length, int(self.obs_shape[0]), self.action_dim, self.append_last_action
        )
        self._pending: list[deque[_Pending]] = [deque() for _ in range(slots)]

    def begin(self, slots: Ints, observations: Floats) -> None:
        """An episode starts in each of ``slots`` (m,) with ``observations`` (m, D).

        Decisions of an episode that was abandoned (its end was never observed) are stored if their
        outcome is known.
        """
        for slot in slots:
            self._flush(int(slot), final=False)
        self.histories.forget(slots)
        self.histories.observe(slots, observations)

    def act(self, slots: Ints, actions: Floats) -> None:
        """The ``actions`` (m, A), scaled to [-1, 1], taken in ``slots`` (m,) on their last observations."""
        histories = self.histories
        for slot, action in zip(slots, actions, strict=True):
            self._pending[slot].append(
                _Pending(
                    histories.windows[slot].copy(), int(histories.lengths[slot]), action.astype(np.float32)
                )
            )
        histories.last_actions[slots] = actions

    def outcome(
        self,
        slots: Ints,
        rewards: Floats,
        observations: Floats,
        elapsed: Floats,
        final: Bools,
        ended: Bools,
    ) -> None:
        """Stores the outcome of the last action of each of ``slots`` (m,), all different.

        Args:
            slots: (m,).
            rewards: (m,), of the last action.
            observations: (m, D); at an episode's end, its final observation.
            elapsed: (m,), base RTTs since that action.
            final: (m,), true if the episode is over and its value from here on is zero.
            ended: (m,), true if the episode is over.
        """
        self.histories.observe(slots, observations)
        discounts = self.gamma ** np.asarray(elapsed, dtype=np.float64)
        for slot, reward, discount, last, end in zip(slots, rewards, discounts, final, ended, strict=True):
            pending = self._pending[slot]
            for decision in pending:
                decision.reward += decision.discount * float(reward)
                decision.discount *= float(discount)
                decision.steps += 1
            if end:
                self._flush(int(slot), final=bool(last))
            elif pending and pending[0].steps == self.n_steps:
                self._store(pending.popleft(), int(slot), done=False)

    def add_rollout(self, rollout: Rollout, rewards: Floats) -> None:
        """Stores every decision of an episode that was run in the simulator.

        Args:
            rollout: the episode.
            rewards: (n,) rewards to learn from, each of the action in the row before, as in ``rollout``.
        """
        rows = len(rollout.flows)
        if rows == 0:
            return
        begins = np.flatnonzero(rollout.first)
        flow = np.cumsum(rollout.first) - 1
        windows, lengths = self._windows(rollout)
        last = np.append(begins[1:], rows)[flow] - 1  # the row with which each row's flow ends
        transitions = np.flatnonzero(np.arange(rows) < last)
        after = np.minimum(
            transitions + self.n_steps, last[transitions]
        )  # the row whose value is bootstrapped
        since = np.cumsum(rollout.elapsed)  # base RTTs; a flow's first row adds none
        returns = np.zeros(len(transitions))
        for step in range(self.n_steps):
            counted = transitions + step < after
            row = transitions[counted] + step
            returns[counted] += self.gamma ** (since[row] - since[transitions[counted]]) * rewards[row + 1]
        newest = slice(max(0, len(transitions) - self.buffer_size), None)
        transitions, after, returns = transitions[newest], after[newest], returns[newest]
        at = (self.pos + np.arange(len(transitions))) % self.buffer_size
        self.windows[at], self.lengths[at] = windows[transitions], lengths[transitions]
        self.next_windows[at], self.next_lengths[at] = windows[after], lengths[after]
        self.actions[at] = rollout.actions[transitions, None]
        self.rewards[at] = returns[:, None]
        self.dones[at] = rollout.final[after, None]
        self.discounts[at] = (self.gamma ** (since[after] - since[transitions]))[:, None]
        self.full = self.full or self.pos + len(transitions) >= self.buffer_size
        self.pos = (self.pos + len(transitions)) % self.buffer_size

    def _windows(self, rollout: Rollout) -> tuple[Floats, Ints]:
        """Each row's history: windows (n, K, F) and lengths (n,)."""
        inputs, age = rollout.observations, rollout.age
        if self.append_last_action:
            before = np.where(age > 0, np.append(0.0, rollout.actions[:-1]), 0.0).astype(np.float32)
            inputs = np.concatenate([inputs, before[:, None]], axis=1)
        return histories_of(inputs, age, self.history_length)

    def _flush(self, slot: int, final: bool) -> None:
        """Stores the decisions whose return the episode's end cut short."""
        pending = self._pending[slot]
        while pending:
            decision = pending.popleft()
            if decision.steps > 0:
                self._store(decision, slot, done=final)

    def _store(self, decision: _Pending, slot: int, done: bool) -> None:
        at = self.pos
        self.windows[at] = decision.window
        self.lengths[at] = decision.length
        self.next_windows[at] = self.histories.windows[slot]
        self.next_lengths[at] = self.histories.lengths[slot]
        self.actions[at] = decision.action
        self.rewards[at] = decision.reward
        self.dones[at] = done
        self.discounts[at] = decision.discount
        self.pos += 1
        if self.pos == self.buffer_size:
            self.full = True
            self.pos = 0

    def add(self, *args: Any, **kwargs: Any) -> None:
        """Not offered: a lone transition has no history. Use ``begin``, ``act`` and ``outcome``."""
        raise NotImplementedError("HistoryReplayBuffer is filled by begin(), act() and outcome()")

    def sample(self, batch_size: int, env: VecNormalize | None = None) -> ReplayBufferSamples:
        """Uniform over the stored transitions; ``observations`` and ``next_observations`` are ``History``
        tuples.

        Raises:
            ValueError: for an environment wrapped in VecNormalize, whose statistics would not fit stored
                histories.
        """
        if env is not None:
            raise ValueError(
                "HistoryReplayBuffer does not work with VecNormalize: telemetry is normalised already"
            )
        return self._get_samples(np.random.randint(0, self.size(), size=batch_size))  # noqa: NPY002, what set_random_seed() seeds

    def _get_samples(
        self, batch_inds: npt.NDArray[Any], env: VecNormalize | None = None
    ) -> ReplayBufferSamples:
        def tensor(array: npt.NDArray[Any]) -> th.Tensor:
            return th.as_tensor(array[batch_inds], device=self.device)

        return ReplayBufferSamples(
            observations=History(tensor(self.windows), tensor(self.lengths)),  # type: ignore[arg-type]
            actions=tensor(self.actions),
            next_observations=History(tensor(self.next_windows), tensor(self.next_lengths)),  # type: ignore[arg-type]
            dones=tensor(self.dones),
            rewards=tensor(self.rewards),
            discounts=tensor(self.discounts),
        )

    _RINGS = (
        "windows",
        "lengths",
        "next_windows",
        "next_lengths",
        "actions",
        "rewards",
        "dones",
        "discounts",
    )

    def __getstate__(self) -> dict[str, Any]:
        """Pickles the filled part, and no episode under way: simulators do not outlive the process."""
        state = dict(self.__dict__)
        state.update({name: state[name][: self.size()] for name in self._RINGS})
        del state["histories"], state["_pending"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        filled = {name: state.pop(name) for name in self._RINGS}
        self.__dict__.update(state)
        self.start_collection(self.n_envs)
        self._allocate()
        for name, array in filled.items():
            getattr(self, name)[: len(array)] = array
