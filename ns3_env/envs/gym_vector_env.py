# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium VectorEnv of many networks, which as many simulators play as there are cores."""

from __future__ import annotations

import os
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray
from typing_extensions import Self

from ns3_env.config.bounds import MAX_FLOWS
from ns3_env.decision.action_faults import action_fault, action_rows
from ns3_env.decision.observations import INDEX, field_indices, telemetry_names
from ns3_env.decision.outcomes import Outcomes
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.rendering import FPS, RENDER_MODES
from ns3_env.simulator import DecisionBatch, JointDecisions, LockStep, SharedProcess, share

Batch = tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]

#: Names of telemetry of flows and of ports, their positions in a record, and the keys of Gymnasium's masks.
_NAMES = {ports: telemetry_names(ports=ports) for ports in (False, True)}
_POSITIONS = {ports: list(field_indices(names)) for ports, names in _NAMES.items()}
_MASKS = {ports: tuple(f"_{name}" for name in names) for ports, names in _NAMES.items()}


class Arrivals(NamedTuple):
    """Rows of the controlled flows of n environments, in their last messages.

    Attributes:
        alone: (n,) true for a message that the environment has itself.
        flows, slots, first, terminated, truncated, records: see :class:`DecisionBatch`.
        times_ns: (n,) simulated times.
    """

    alone: NDArray[np.bool_]
    flows: NDArray[np.int64]
    slots: NDArray[np.int64]
    first: NDArray[np.bool_]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    records: NDArray[np.float64]
    times_ns: NDArray[np.float64]

    @classmethod
    def of(cls, joint: JointDecisions | None, count: int) -> Self:
        """The messages of one row each that came together; :meth:`put` adds the others."""
        together = np.zeros(count, dtype=np.bool_) if joint is None else np.array(joint.counts) == 1
        flags = np.zeros((3, count), dtype=np.bool_)
        if joint is not None and together.all():
            flows, slots, records = joint.flows, joint.slots, joint.records
        else:
            flows, slots = np.zeros((2, count), dtype=np.int64)
            records = np.empty((count, len(INDEX)))
            if joint is not None:
                flows[together], slots[together] = joint.flows, joint.slots
                records[together] = joint.records
        times_ns = np.zeros(count) if joint is None else np.array(joint.times_ns)
        return cls(~together, flows, slots, flags[0], flags[1], flags[2], records, times_ns)

    def put(self, i: int, message: DecisionBatch, row: int) -> None:
        """Copies a row of the message of environment i."""
        self.first[i], self.terminated[i] = message.first[row], message.terminated[row]
        self.truncated[i], self.records[i] = message.truncated[row], message.records[row]
        self.times_ns[i] = message.time_ns

    def batch(self, i: int) -> DecisionBatch:
        """Environment i's row, as a message."""
        one = slice(i, i + 1)
        return DecisionBatch(
            float(self.times_ns[i]),
            self.flows[one],
            self.slots[one],
            self.first[one],
            self.terminated[one],
            self.truncated[one],
            self.records[one],
        )


class InfoColumns(NamedTuple):
    """Infos of n environments but for their telemetry, (n,) each, as a single environment names them."""

    time_ns: NDArray[np.float64]
    elapsed: NDArray[np.float64]
    slowdown: NDArray[np.float64]
    cut: NDArray[np.bool_]

    @classmethod
    def of(cls, times_ns: NDArray[np.float64], outcomes: Outcomes) -> Self:
        """The infos with these outcomes (:meth:`Outcomes.infos`)."""
        slowdowns = outcomes.slowdowns
        return cls(times_ns, outcomes.elapsed, np.where(slowdowns == slowdowns, slowdowns, 0.0), outcomes.cut)

    def begin(self, mask: NDArray[np.bool_]) -> None:
        """Replaces those of the environments in the mask (n,) by a first decision's, but for the time."""
        self.elapsed[mask], self.slowdown[mask], self.cut[mask] = 0.0, 0.0, False


def joined_infos(
    mask: NDArray[np.bool_], records: NDArray[np.float64], columns: InfoColumns, *, ports: bool
) -> dict[str, Any]:
    """The infos of the environments in the mask (n,), as Gymnasium joins them.

    ``records`` (n, fields): the telemetry, of ports or of flows. A field without a number is no entry of it,
    and a record that has one is no info "record".
    """
    joined: dict[str, Any] = {}
    for key, column in columns._asdict().items():
        joined[key], joined[f"_{key}"] = np.where(mask, column, column.dtype.type(0)), mask.copy()
    numbers = records == records
    whole = bool(numbers.all())
    complete = mask if whole else numbers.all(axis=1) & mask
    if complete.any():
        joined["record"] = np.where(complete[:, None], records, 0.0)
        joined["_record"] = complete.copy()
    present = numbers.T[_POSITIONS[ports]]
    if not (whole and mask.all()):
        present = present & mask
    fields = np.where(present, records.T[_POSITIONS[ports]], 0.0)
    telemetry: dict[str, Any] = dict(zip(_NAMES[ports], fields, strict=True))
    if whole:
        telemetry.update(dict.fromkeys(_MASKS[ports], present[0]))
    else:
        telemetry.update(zip(_MASKS[ports], present, strict=True))
        for name, is_there in zip(_NAMES[ports], present.any(axis=1).tolist(), strict=True):
            if not is_there:
                del telemetry[name], telemetry[f"_{name}"]
    joined["telemetry"], joined["_telemetry"] = telemetry, mask.copy()
    return joined


class FlowVectorEnv(SyncVectorEnv):
    """``num_envs`` :class:`ns3_env.envs.gym_env.FlowEnv`, in each one controlled flow and a network.

    The class of ``gymnasium.make_vec("ns3_env/RdmaIncast-v1", num_envs=8)``. All actions go out before the
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
        self._arrivals: Arrivals | None = None
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
        begins = self._begins()
        arrivals = self._exchange(rows, begins)
        task = self._envs[0].task
        outcomes = task.outcomes(arrivals.records, arrivals.first, arrivals.terminated, arrivals.truncated)
        observations = task.observe(arrivals.records)
        columns = InfoColumns.of(arrivals.times_ns, outcomes)
        self._steps = np.where(begins, 0, self._steps + 1)
        over = arrivals.terminated | arrivals.truncated | (self._steps >= self._most_steps)
        infos: dict[str, Any] = {}
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._autoreset_envs = over
            self._env_obs = [*observations]  # reset() returns those of environments that it leaves alone
        elif over.any():
            infos = self._begin_anew(over, arrivals, columns, observations)
        self._keep(arrivals)
        infos.update(self._joined(np.ones(self.num_envs, dtype=np.bool_), arrivals, columns))
        return observations, outcomes.rewards, outcomes.final, over & ~outcomes.final, infos

    def _begins(self) -> NDArray[np.bool_]:
        """(num_envs,) environments whose next episode begins with this step."""
        over: NDArray[np.bool_] = self._autoreset_envs.copy()
        if self.autoreset_mode is AutoresetMode.DISABLED and over.any():
            names = np.flatnonzero(over).tolist()
            raise RuntimeError(f'the episodes of environments {names} are over: reset them by "reset_mask"')
        return over

    def _joined(self, mask: NDArray[np.bool_], arrivals: Arrivals, columns: InfoColumns) -> dict[str, Any]:
        """The infos of the environments in the mask (n,)."""
        ports = self._envs[0].scenario.decides_at_ports
        return joined_infos(mask, arrivals.records, columns, ports=ports)

    def _begin_anew(
        self,
        over: NDArray[np.bool_],
        arrivals: Arrivals,
        columns: InfoColumns,
        observations: NDArray[np.float32],
    ) -> dict[str, Any]:
        """Starts the next episode of environments whose episode is ``over`` (n,); returns the infos on the
        ends."""
        infos: dict[str, Any] = {}
        for i in np.flatnonzero(over).tolist():
            infos = self._add_info(infos, {"final_obs": observations[i].copy()}, i)
            self._envs[i]._send_reset(None)
        infos["final_info"] = self._joined(over, arrivals, columns)
        infos["_final_info"] = over
        self._steps[over] = 0
        for i in np.flatnonzero(over).tolist():
            arrivals.put(i, *self._envs[i]._first_rows())
            arrivals.alone[i] = True
            self._envs[i]._see(arrivals.records[i])
        observations[over] = self._envs[0].task.observe(arrivals.records[over])
        columns.begin(over)
        return infos

    def _exchange(self, actions: NDArray[np.float64], begins: NDArray[np.bool_]) -> Arrivals:
        """Sends the actions (num_envs, A), and receives a message of each environment; those that begin an
        episode send no action, and receive the first one."""
        joint = None
        if self._act_together(actions, begins):
            joint = self._together.receive(partly=True)
        else:
            self._act_one_by_one(actions, begins)
        arrivals = Arrivals.of(joint, self.num_envs)
        for i in np.flatnonzero(arrivals.alone).tolist():
            env = self._envs[i]
            arrivals.put(i, *(env._first_rows() if begins[i] else env._receive_rows()))
        if self.render_mode is not None:
            for env, record in zip(self._envs, arrivals.records, strict=True):
                env._see(record)
        return arrivals

    def _act_one_by_one(self, actions: NDArray[np.float64], begins: NDArray[np.bool_]) -> None:
        """Sends the actions (num_envs, A); environments that begin an episode do so."""
        if fault := self._fault(actions, begins):
            raise fault
        for env, row, fresh in zip(self.envs, actions, begins, strict=True):
            if fresh:
                env._send_reset(None)
            else:
                env._send_action(row)

    def _fault(self, actions: NDArray[np.float64], begins: NDArray[np.bool_]) -> ValueError | None:
        """The error that names environments whose action is no number, unless they begin an episode."""
        names = np.flatnonzero(~begins).tolist()
        return action_fault(actions[~begins], "environments", names, self.single_action_space)

    def _act_together(self, actions: NDArray[np.float64], begins: NDArray[np.bool_]) -> bool:
        """Does the same with one call for all simulators; returns whether it could."""
        arrivals = self._arrivals
        records = self._sole_records(begins) if arrivals is None else arrivals.records[~begins]
        if records is None:
            return False
        alone = range(self.num_envs) if arrivals is None else np.flatnonzero(arrivals.alone).tolist()
        if alone and (simulators := [env._simulator for env in self._envs]) != self._together.simulators:
            self._together = LockStep(simulators, MAX_FLOWS)
        try:
            answers = self._envs[0].task.action(actions[~begins], records)
            self._together.send(answers, np.where(begins, -1, 1).tolist())
        except ValueError as error:
            raise self._fault(actions, begins) or error from None
        self._arrivals = None
        for i in alone:
            self._envs[i]._note_sent()
        for i in np.flatnonzero(begins).tolist():
            self._envs[i]._send_reset(None)
        return True

    def _sole_records(self, begins: NDArray[np.bool_]) -> NDArray[np.float64] | None:
        """Records (n, fields) of the decisions that are due; None unless each environment that does not begin
        an episode waits for one."""
        records = [self._envs[i].sole_record() for i in np.flatnonzero(~begins).tolist()]
        present = [record for record in records if record is not None]
        return np.concatenate(present) if 0 < len(present) == len(records) else None

    def _keep(self, arrivals: Arrivals) -> None:
        """Keeps the messages for the next step; environments with other flows' decisions have each their
        own."""
        self._arrivals = arrivals
        waiting = np.flatnonzero(arrivals.alone & ~self._autoreset_envs).tolist()
        if any(self._envs[i].sole_record() is None for i in waiting):
            self.envs  # noqa: B018 (hands over the others' messages)

    @property  # type: ignore[override]
    def envs(self) -> list[FlowEnv]:
        """The environments, each with its last message."""
        arrivals, self._arrivals = self._arrivals, None
        if arrivals is not None:
            for i in np.flatnonzero(~arrivals.alone).tolist():
                self._envs[i]._take_rows(arrivals.batch(i))
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
