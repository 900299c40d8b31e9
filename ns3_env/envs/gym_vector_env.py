# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium VectorEnv of many networks, whose simulators compute side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from ns3_env.config.bounds import MAX_FLOWS
from ns3_env.decision.action_faults import action_fault, action_rows
from ns3_env.decision.observations import INDEX
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.rendering import FPS, RENDER_MODES
from ns3_env.simulator import DecisionBatch, LockStep, share
from ns3_env.simulator.shared import SharedProcess

Batch = tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


#: Keys of Gymnasium's masks of the environments with a value.
_MASKS = tuple(f"_{name}" for name in INDEX)


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
    envs: list[FlowEnv]  # type: ignore[assignment]

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
        super().__init__([make] * num_envs, autoreset_mode=autoreset_mode)
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
        if self._act_together(rows):
            arrivals = self._receive()
        else:
            self._act_one_by_one(rows, np.zeros(self.num_envs, dtype=np.bool_))
            arrivals = [env._receive_rows() for env in self.envs]
        records = np.concatenate([rows.records[row : row + 1] for rows, row in arrivals])
        flags = np.array([(m.first[row], m.terminated[row], m.truncated[row]) for m, row in arrivals]).T
        task = self.envs[0].task
        outcomes, observations = task.outcomes(records, *flags), task.observe(records)
        self._steps += 1
        over = flags[1] | flags[2] | (self._steps >= self._most_steps)
        self._steps[over] = 0
        row_infos = [
            env._short_info(rows, row, info)
            for env, (rows, row), info in zip(self.envs, arrivals, outcomes.infos(), strict=True)
        ]
        infos: dict[str, Any] = {}
        if over.any():
            ended = np.flatnonzero(over).tolist()
            for i in ended:
                infos = self._add_info(infos, {"final_obs": observations[i].copy()}, i)
                self.envs[i]._send_reset(None)
            infos["final_info"] = self._joined(ended, [row_infos[i] for i in ended])
            infos["_final_info"] = over
            for i in ended:
                observations[i], row_infos[i] = self.envs[i]._finish_reset()
        infos.update(self._joined(range(self.num_envs), row_infos))
        return observations, outcomes.rewards, outcomes.final, over & ~outcomes.final, infos

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

    def _act_together(self, actions: NDArray[np.float64]) -> bool:
        """Sends the actions, one for each simulator, in one call; returns whether it could."""
        records = [env.sole_record() for env in self.envs]
        present = [record for record in records if record is not None]
        if len(present) < self.num_envs:
            return False
        simulators = [env._simulator for env in self.envs]
        if simulators != self._together.simulators:
            self._together = LockStep(simulators, MAX_FLOWS)
        try:
            answers = self.envs[0].task.action(actions, np.concatenate(present))
            self._together.send(answers, [1] * self.num_envs)
        except ValueError as error:
            who = "environments", range(self.num_envs)
            raise action_fault(actions, *who, self.single_action_space) or error from None
        for env in self.envs:
            env._note_sent()
        return True

    def _receive(self) -> list[tuple[DecisionBatch, int]]:
        """Processes, as :meth:`FlowEnv._receive_rows`, each message; those that continue are received in one
        call."""
        joint = self._together.receive(partly=True)
        if joint is None:
            return [env._receive_rows() for env in self.envs]
        arrivals, row = [], 0
        for env, count, time_ns in zip(self.envs, joint.counts, joint.times_ns, strict=True):
            one = slice(row, row := row + count)
            arrivals.append(env._take_rows(joint.batch(one, time_ns)) if count == 1 else env._receive_rows())
        return arrivals

    def _joined(self, envs: Sequence[int], infos: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The infos of these environments, with their last telemetry, as Gymnasium joins them."""
        mask = np.zeros(self.num_envs, dtype=np.bool_)
        mask[envs] = True
        joined: dict[str, Any] = {}
        keys = infos[0].keys()
        if mask.all() and all(info.keys() == keys for info in infos):
            for key in keys - {"telemetry"}:
                joined[key], joined[f"_{key}"] = np.array([info[key] for info in infos]), mask.copy()
        else:
            for i, info in zip(envs, infos, strict=True):
                self._add_info(joined, {key: info[key] for key in info if key != "telemetry"}, i)
        records = np.full((len(INDEX), self.num_envs), np.nan)
        records[:, envs] = np.array([self.envs[i]._record for i in envs]).T
        present = records == records
        records[~present] = 0.0
        telemetry: dict[str, Any] = dict(zip(INDEX, records, strict=True))
        if mask.all() and present.all():
            telemetry.update(dict.fromkeys(_MASKS, present[0]))
        else:
            telemetry.update(zip(_MASKS, present, strict=True))
            for name, is_there in zip(INDEX, present.any(axis=1).tolist(), strict=True):
                if not is_there:
                    del telemetry[name], telemetry[f"_{name}"]
        joined["telemetry"], joined["_telemetry"] = telemetry, mask
        return joined

    def close_extras(self, **kwargs: Any) -> None:
        """Ends all simulators."""
        self._together.forget()
        super().close_extras(**kwargs)
        for process in self._processes:
            process.end()

    def render(self) -> tuple[Any, ...] | None:  # type: ignore[override]
        """A picture of each environment; None if ``render_mode`` is."""
        return None if self.render_mode is None else super().render()
