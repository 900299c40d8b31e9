# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium VectorEnv of many networks, whose simulators compute side by side."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from ns3_env.config.bounds import MAX_FLOWS
from ns3_env.envs import renamed
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.rendering import FPS, RENDER_MODES
from ns3_env.simulator import DecisionBatch, LockStep
from ns3_env.task.late import LateDict

#: Keys of the info of a flow that goes on, where every field is known.
_GOING_ON = {"time_ns", "telemetry", "elapsed", "record"}
Batch = tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class FlowVectorEnv(SyncVectorEnv):
    """``num_envs`` :class:`ns3_env.envs.gym_env.FlowEnv`, in each one controlled flow and a simulator.

    What ``gymnasium.make_vec("ns3_env/RdmaIncast-v0", num_envs=8)`` gives. All actions go out before the
    first answer is waited for. Every row of every step is a decision: an environment whose episode ends
    begins the next one in the same step (Gymnasium's SAME_STEP), ``infos["final_obs"]`` and
    ``infos["final_info"]`` hold what ended it.

    Args:
        num_envs: environments.
        render_mode: None, or "rgb_array".
        arguments: those of FlowEnv.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it so)
        "render_modes": RENDER_MODES,
        "render_fps": FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }
    #: What each of them is.
    env_class: ClassVar[type[FlowEnv]] = FlowEnv
    envs: list[FlowEnv]  # type: ignore[assignment]

    def __init__(self, num_envs: int = 1, render_mode: str | None = None, **arguments: Any) -> None:
        make = partial(self.env_class, render_mode=render_mode, **arguments)
        self._together = LockStep([], 1)
        super().__init__([make] * num_envs, autoreset_mode=AutoresetMode.SAME_STEP)

    def step(self, actions: NDArray[Any]) -> Batch:
        """Observations (num_envs, D), rewards, terminated, truncated (num_envs,), infos."""
        if self._act_together(actions):
            arrived = self._arrived()
        else:
            for env, action in zip(self.envs, actions, strict=True):
                env.act(action)
            arrived = [env.arrived() for env in self.envs]
        records = np.concatenate([rows.records[own : own + 1] for rows, own in arrived])
        flags = np.array([(m.first[own], m.terminated[own], m.truncated[own]) for m, own in arrived]).T
        task = self.envs[0].task
        came, seen = task.outcomes(records, *flags), task.observe(records)
        over = flags[1] | flags[2]
        told = [
            env.info(rows, own, said)
            for env, (rows, own), said in zip(self.envs, arrived, came.infos(), strict=True)
        ]
        infos: dict[str, Any] = {}
        if over.any():
            ended = np.flatnonzero(over).tolist()
            for i in ended:
                infos = self._add_info(infos, {"final_obs": seen[i].copy()}, i)
                self.envs[i].begin(None)
            infos["final_info"] = self._joined([(i, told[i]) for i in ended])
            infos["_final_info"] = over
            for i in ended:
                seen[i], told[i] = self.envs[i].begun()
        infos.update(self._joined(list(enumerate(told))))
        return seen, came.rewards, came.final, over & ~came.final, infos

    def _act_together(self, actions: NDArray[Any]) -> bool:
        """Whether the actions, one for each simulator, went out in one call."""
        records = [env.sole_record() for env in self.envs]
        present = [record for record in records if record is not None]
        if len(present) < self.num_envs:
            return False
        simulators = [env._simulator for env in self.envs]
        if simulators != self._together.simulators:
            self._together = LockStep(simulators, MAX_FLOWS)
        try:
            answers = self.envs[0].task.action(np.asarray(actions), np.concatenate(present))
            self._together.send(answers, [1] * self.num_envs)
        except ValueError:
            return False  # that environment says it whose action is none
        for env in self.envs:
            env.acted()
        return True

    def _arrived(self) -> list[tuple[DecisionBatch, int]]:
        """As :meth:`FlowEnv.arrived`, of each; those that go on are received in one call."""
        came = self._together.receive(partly=True)
        if came is None:
            return [env.arrived() for env in self.envs]
        arrived, row = [], 0
        for env, count, time_ns in zip(self.envs, came.counts, came.times_ns, strict=True):
            one = slice(row, row := row + count)
            arrived.append(env.came(came.batch(one, time_ns)) if count == 1 else env.arrived())
        return arrived

    def _joined(self, told: list[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
        """The infos of these environments as Gymnasium joins them, the telemetry when somebody looks."""
        mask = np.zeros(self.num_envs, dtype=np.bool_)
        mask[[i for i, _ in told]] = True
        joined: dict[str, Any] = {}
        if all(info.keys() == _GOING_ON for _, info in told) and mask.all():
            for key in ("time_ns", "elapsed", "record"):
                joined[key], joined[f"_{key}"] = np.array([info[key] for _, info in told]), mask.copy()
        else:
            for i, info in told:
                self._add_info(joined, {key: info[key] for key in info if key != "telemetry"}, i)
        telemetry = [(i, info["telemetry"]) for i, info in told]
        joined["telemetry"], joined["_telemetry"] = LateDict(partial(self._added, telemetry)), mask
        return joined

    def _added(self, told: list[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
        """As Gymnasium joins them."""
        joined: dict[str, Any] = {}
        for i, info in told:
            joined = self._add_info(joined, info, i)
        return joined

    def close_extras(self, **kwargs: Any) -> None:
        """Ends all simulators."""
        self._together.forget()
        super().close_extras(**kwargs)

    def render(self) -> tuple[Any, ...] | None:  # type: ignore[override]
        """A picture of each environment; None where ``render_mode`` is."""
        return None if self.render_mode is None else super().render()


__getattr__ = renamed(__name__)
