# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium VectorEnv of many networks, whose simulators compute side by side."""

from __future__ import annotations

import os
from functools import partial
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from ns3_env.config.bounds import MAX_FLOWS
from ns3_env.decision.action_faults import action_fault, action_rows
from ns3_env.envs.arrivals import Arrivals, InfoColumns, joined_infos
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.rendering import FPS, RENDER_MODES
from ns3_env.simulator import LockStep, SharedProcess, share

Batch = tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class FlowVectorEnv(SyncVectorEnv):
    """``num_envs`` :class:`ns3_env.envs.gym_env.FlowEnv`, in each one controlled flow and a simulator.

    The class of ``gymnasium.make_vec("ns3_env/RdmaIncast-v0", num_envs=8)``. All actions go out before the
    first answer is waited for.

    Args:
        num_envs: environments.
        render_mode: None, or "rgb_array".
        autoreset_mode: Gymnasium's. SAME_STEP: an environment whose episode ends starts the next one in the
            same step, ``infos["final_obs"]`` and ``infos["final_info"]`` describe the end, and every row of
            every step is a decision. NEXT_STEP, which Gymnasium's NormalizeObservation needs: it starts in
            the next step, which ignores the row's action and has reward 0. DISABLED:
            ``reset(options={"reset_mask": ...})`` starts it.
        max_episode_steps: steps after which an episode is truncated; None: no limit.
        arguments: arguments of FlowEnv.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it so)
        "render_modes": RENDER_MODES,
        "render_fps": FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }
    #: Class of each of them.
    env_class: ClassVar[type[FlowEnv]] = FlowEnv

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        max_episode_steps: int | None = None,
        **arguments: Any,
    ) -> None:
        make = partial(self.env_class, render_mode=render_mode, **arguments)
        self._together = LockStep([], 1)
        self._most_steps = np.inf if max_episode_steps is None else max_episode_steps
        self._steps = np.zeros(num_envs)  # of each episode
        # The last messages, until they are answered or an environment is asked for by itself.
        self._came: Arrivals | None = None
        super().__init__([make] * num_envs, autoreset_mode=autoreset_mode)
        first = self.envs[0]
        for env in self.envs[1:]:
            if env.scenario == first.scenario:  # its text for the simulators is written once
                env.scenario, env.task = first.scenario, first.task
        self._processes: list[SharedProcess] = []
        if arguments.get("executable") is None:
            cores = len(os.sched_getaffinity(0))
            self._processes = share([env._simulator for env in self.envs], cores)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """See SyncVectorEnv."""
        self._steps[(options or {}).get("reset_mask", slice(None))] = 0
        return super().reset(seed=seed, options=options)

    def step(self, actions: NDArray[Any]) -> Batch:
        """Observations (num_envs, D), rewards, terminated, truncated (num_envs,), infos.

        Raises ValueError for actions of another shape, or that are no numbers; all may be given again then.
        """
        rows = action_rows(
            actions, "environments", range(self.num_envs), self.single_action_space.shape or ()
        )
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            return self._step_one_by_one(rows)
        came = self._exchange(rows)
        task = self._envs[0].task
        outcomes = task.outcomes(came.records, came.first, came.terminated, came.truncated)
        observations = task.observe(came.records)
        self._steps += 1
        over = came.terminated | came.truncated | (self._steps >= self._most_steps)
        columns = InfoColumns.of(came.times_ns, outcomes)
        infos: dict[str, Any] = {}
        if over.any():
            self._steps[over] = 0
            infos = self._begin_anew(over, came, columns, observations)
        self._keep(came)
        infos.update(joined_infos(np.ones(self.num_envs, dtype=np.bool_), came.records, columns))
        return observations, outcomes.rewards, outcomes.final, over & ~outcomes.final, infos

    def _begin_anew(
        self, over: NDArray[np.bool_], came: Arrivals, columns: InfoColumns, observations: NDArray[np.float32]
    ) -> dict[str, Any]:
        """Starts the next episode of environments whose episode is ``over`` (n,): their rows of all else
        become its first ones. Returns the infos on the ends."""
        infos: dict[str, Any] = {}
        ended = np.flatnonzero(over).tolist()
        for i in ended:
            infos = self._add_info(infos, {"final_obs": observations[i].copy()}, i)
            self._envs[i]._send_reset(None)
        infos["final_info"] = joined_infos(over, came.records, columns)
        infos["_final_info"] = over
        for i in ended:
            observations[i], info = self._envs[i]._finish_reset()
            columns.put(i, info)
            came.records[i] = self._envs[i]._record
            came.alone[i] = True
        return infos

    def _step_one_by_one(self, rows: NDArray[np.float64]) -> Batch:
        """A step in which no environment starts an episode in the step that ends the one before."""
        begins = self._autoreset_envs.copy()
        if self.autoreset_mode is AutoresetMode.DISABLED and begins.any():
            over = np.flatnonzero(begins).tolist()
            raise RuntimeError(f'the episodes of environments {over} are over: reset them by "reset_mask"')
        self._act_one_by_one(rows, begins)
        observations = np.empty(self.observation_space.shape or (), dtype=np.float32)
        rewards, (terminated, truncated) = np.zeros(self.num_envs), np.zeros((2, self.num_envs), np.bool_)
        infos: dict[str, Any] = {}
        for i, env in enumerate(self.envs):
            if begins[i]:
                observations[i], info = env._finish_reset()
            else:
                observations[i], rewards[i], terminated[i], truncated[i], info = env._finish_step()
            infos = self._add_info(infos, info, i)
        self._steps = np.where(begins, 0, self._steps + 1)
        truncated |= ~(begins | terminated) & (self._steps >= self._most_steps)
        self._autoreset_envs = terminated | truncated
        return observations, rewards, terminated, truncated, infos

    def _act_one_by_one(self, rows: NDArray[np.float64], begin: NDArray[np.bool_]) -> None:
        """Accepts the actions (num_envs, A); environments that ``begin`` (num_envs,) an episode do so."""
        names, space = np.flatnonzero(~begin).tolist(), self.single_action_space
        if fault := action_fault(rows[~begin], "environments", names, space):
            raise fault
        for env, row, fresh in zip(self.envs, rows, begin, strict=True):
            if fresh:
                env._send_reset(None)
            else:
                env._send_action(row)

    def _exchange(self, actions: NDArray[np.float64]) -> Arrivals:
        """Sends the actions (num_envs, A), and receives a message of each environment."""
        if self._act_together(actions):
            joint = self._together.receive(partly=True)
        else:
            self._act_one_by_one(actions, np.zeros(self.num_envs, dtype=np.bool_))
            joint = None
        came = Arrivals.of(joint, self.num_envs)
        for i in np.flatnonzero(came.alone).tolist():
            came.put(i, *self._envs[i]._receive_rows())
        if self.render_mode is not None:
            for env, record in zip(self._envs, came.records, strict=True):
                env._see(record)
        return came

    def _act_together(self, actions: NDArray[np.float64]) -> bool:
        """Sends the actions, one for each simulator, in one call; returns whether it could."""
        came = self._came
        records = self._sole_records() if came is None else came.records
        if records is None:
            return False
        alone = range(self.num_envs) if came is None else np.flatnonzero(came.alone).tolist()
        if alone and (simulators := [env._simulator for env in self._envs]) != self._together.simulators:
            self._together = LockStep(simulators, MAX_FLOWS)
        try:
            answers = self._envs[0].task.action(actions, records)
            self._together.send(answers, [1] * self.num_envs)
        except ValueError as error:
            who = "environments", range(self.num_envs)
            raise action_fault(actions, *who, self.single_action_space) or error from None
        self._came = None
        for i in alone:
            self._envs[i]._note_sent()
        return True

    def _sole_records(self) -> NDArray[np.float64] | None:
        """Records (num_envs, fields) of the decisions that are due; None unless each environment waits for
        one."""
        records = [env.sole_record() for env in self._envs]
        present = [record for record in records if record is not None]
        return np.concatenate(present) if len(present) == self.num_envs else None

    def _keep(self, came: Arrivals) -> None:
        """Keeps the messages for the next step; environments with other flows' decisions have each their
        own."""
        self._came = came
        kept = np.flatnonzero(came.alone).tolist()
        if any(self._envs[i].sole_record() is None for i in kept):
            self.envs  # noqa: B018 (hands over the others' messages)

    @property
    def envs(self) -> list[FlowEnv]:  # type: ignore[override]
        """The environments, each with its last message."""
        came, self._came = self._came, None
        if came is not None:
            for i in np.flatnonzero(~came.alone).tolist():
                self._envs[i]._take_rows(came.batch(i))
        return self._envs

    @envs.setter
    def envs(self, envs: list[FlowEnv]) -> None:
        self._envs = envs

    def close_extras(self, **kwargs: Any) -> None:
        """Ends all simulators."""
        self._together.forget()
        super().close_extras(**kwargs)
        for process in self._processes:
            process.end()

    def render(self) -> tuple[Any, ...] | None:  # type: ignore[override]
        """A picture of each environment; None if ``render_mode`` is."""
        return None if self.render_mode is None else super().render()
