# SPDX-License-Identifier: GPL-2.0-or-later
"""Task: a policy's observations at a decision, its reward, and the meaning of its actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from ns3_env import _native
from ns3_env.config.model import shown
from ns3_env.decision import observations
from ns3_env.decision.actions import (
    ActionMap,
    MultiplicativeWindow,
    make_action_map,
    unobserved,
)
from ns3_env.decision.observations import (
    FDCC_FIELDS,
    PORT_FIELDS,
    TIMES,
    Records,
    agent_flags,
    declared,
    field_indices,
    observation_space,
    wire_bytes,
)
from ns3_env.decision.outcomes import Outcomes
from ns3_env.decision.rewards import DEFAULT_REWARD, REWARDS, Reward, make_reward, minus, settles
from ns3_env.errors import ScenarioError
from ns3_env.programs.transport import SHOWN, Transport, transport_of
from ns3_env.scenario import Scenario
from ns3_env.simulator.messages import DecisionBatch
from ns3_env.simulator.script import Script


def knows(transport: Transport, field: str) -> bool:
    """Returns whether flows of the transport know the field: TCP's sender has its own numbers and its RTT,
    but no telemetry of hops, and no feedback frames of switches. Raises KeyError for an unknown field."""
    needs_no_switch = map(_native.known_without_switches, field_indices(declared([field])))
    return all(needs_no_switch) or transport == "rdma"


def fields_of(transport: Transport) -> list[str]:
    """Names of the fields that flows of the transport know."""
    return [field.name for field in observations.FIELDS if knows(transport, field.name)]


def unknown_fields(transport: Transport, fields: Sequence[str]) -> str | None:
    """Describes the fault in observing ``fields``; None if all are known."""
    lacking = [field for field in declared(fields) if not knows(transport, field)]
    if not lacking:
        return None
    return (
        f"{' and '.join(map(repr, lacking))}: telemetry of switches, which {SHOWN[transport]} has not; "
        f"there are {', '.join(fields_of(transport))}"
    )


def unknown_to_reward(transport: Transport, reward: Reward) -> str | None:
    """Describes the fault in such a reward; None if it reads known fields, or does not declare
    any."""
    lacking = [field for field in _read_by(reward) if not knows(transport, field)]
    if not lacking:
        return None
    fit = [name for name in REWARDS if _fits(transport, name)]
    return (
        f"reads {' and '.join(map(repr, lacking))}, telemetry of switches, which {SHOWN[transport]} has not; "
        f"{', '.join(fit)} does without, or write one of your own (pkg.module:name)"
    )


def foreign_to_subject(fields: Sequence[str], *, ports: bool) -> str | None:
    """Describes fields that a flow's record has and a port's has not, or the reverse; None without any."""
    lacking = [x for x in declared(fields) if (x in PORT_FIELDS) != ports and not (ports and x in TIMES)]
    if not lacking:
        return None
    where = "'switch.ecn_agents' puts agents at ports" if ports else "agents are at flows"
    there = f"; a port's are {', '.join((*PORT_FIELDS, *TIMES))}" if ports else ""
    return f"{' and '.join(map(repr, lacking))}: no field of theirs, as {where}{there}"


def _subject_faults(task: Task, *, ports: bool) -> list[str]:
    """Lists what of the task is not of flows, or of ports."""
    faults = []
    if fault := foreign_to_subject(task.fields, ports=ports):
        faults.append(f"fields: {fault}")
    if fault := foreign_to_subject(_read_by(task.reward), ports=ports):
        instead = "; 'acc' rewards ports" if ports else ""
        faults.append(f"reward: {type(task.reward).__name__} reads {fault}{instead}")
    if getattr(task.action, "of_ports", False) != ports:
        name = type(task.action).__name__
        faults.append(
            f"action: {name} sets windows of flows, and agents are at ports: take 'ecn_thresholds'"
            if ports
            else f"action: {name} sets thresholds of ports, and agents are at flows: give switch.ecn_agents"
        )
    return faults


def _fits(transport: Transport, name: str) -> bool:
    """Returns whether the reward of that name, with its defaults, declares only known fields."""
    try:
        fields = _read_by(REWARDS[name]())
    except TypeError:  # it has no default
        return False
    return bool(fields) and all(knows(transport, field) for field in fields)


def _read_by(reward: Reward) -> Sequence[str]:
    return tuple(getattr(reward, "fields", ()))


#: A reward, its name, or its name with settings: {"name": "goodput_delay", "delay_weight": 2.0}.
RewardLike = str | Mapping[str, Any] | Reward
#: An action map, its name, or its name with settings: {"name": "exponential_window", "scale": 2.0}.
ActionLike = str | Mapping[str, Any] | ActionMap


def _chosen(key: str, chosen: Any, make: Callable[..., Any], fits: Callable[[Any], bool]) -> Any:
    """Returns the result of ``make`` for a name, with or without settings, or the choice if it ``fits``.

    Raises TypeError for anything else, or unknown settings.
    """
    if isinstance(chosen, str):
        return make(chosen)
    if isinstance(chosen, Mapping):
        settings = dict(chosen)
        if not isinstance(name := settings.pop("name", None), str):
            raise TypeError(f"{key}: is {shown(chosen)}: write {{'name': ..., with its settings}}")
        try:
            return make(name, **settings)
        except TypeError as error:
            raise TypeError(f"{key}: {name}: {error}") from None
    if isinstance(chosen, type) or not fits(chosen):
        text = f"{chosen.__name__}()" if isinstance(chosen, type) else f"{make.__name__}(name, **settings)"
        raise TypeError(f"{key}: is {shown(chosen)}: write a name, or {text} of {make.__module__}")
    return chosen


class Task:
    """A decision problem, whatever the network; every environment has one.

    Attributes:
        fields: names of the observed fields, in the order of the observation's columns.
        reward: function from telemetry records to rewards.
        action: the action map.
        telemetry_bytes: bytes on the wire that the telemetry adds to packets of the agent's flows, unless the
            scenario sets them (the attribute ``TelemetryBytes`` of "agent").
        observation_space: float32, shape (len(fields),).
        action_space: action space of one flow.
    """

    def __init__(
        self,
        fields: Sequence[str] = FDCC_FIELDS,
        reward: RewardLike = DEFAULT_REWARD,
        action: ActionLike | None = None,
        telemetry_bytes: int | None = None,
    ) -> None:
        """
        Args:
            fields: names of the observed fields, and formulas over declared ones ("queueing = rtt - 1").
            reward: name of a reward, its name with settings ({"name": "goodput_delay", "delay_weight": 2.0}),
                or a function of :class:`ns3_env.decision.observations.Records` (k, fields) to rewards (k,):
                ``lambda records: records["goodput"] - records["qlen"]``.
            action: name of an action map, its name with settings, or the map; None:
                ``MultiplicativeWindow()``.
            telemetry_bytes: bytes of telemetry per packet; None: those of the fields
                (:func:`ns3_env.decision.observations.wire_bytes`).

        Raises KeyError for an unknown field, reward or action map, naming those that are known; TypeError
        for a reward or an action map that is neither a name nor callable; ValueError for a wrong formula, or
        if the action map reads a field that is not observed.
        """
        if isinstance(fields, str):
            raise TypeError(f"fields: is {fields!r}: write a list of names, [{fields!r}]")
        self.fields = tuple(fields)
        self.reward: Reward = _chosen("reward", reward, make_reward, callable)
        action = MultiplicativeWindow() if action is None else action
        self.action: ActionMap = _chosen("action", action, make_action_map, lambda one: hasattr(one, "space"))
        if fault := unobserved(self.action, declared(self.fields)):
            raise ValueError(fault)
        self.telemetry_bytes = wire_bytes(self.fields) if telemetry_bytes is None else telemetry_bytes
        self.observation_space: Box = observation_space(self.fields)
        self._posed: tuple[Scenario | Script, Scenario | Script] | None = (
            None  # the last scenario, and its prepared form
        )
        self._reading = self._compiled()

    @classmethod
    def of(cls, task: Task | None, *parts: Any) -> Task:
        """Returns the task, or without one that of these parts. Raises TypeError for anything else."""
        if task is not None and not isinstance(task, cls):
            raise TypeError(f"task: is {shown(task)}: write ns3_env.Task(fields, reward, action)")
        return cls(*parts) if task is None else task

    def _compiled(self) -> _native.Reading:
        """Compiles its reading of records: a call costs less than NumPy's for a few rows."""
        cost = minus(self.reward)
        return _native.Reading(list(self.fields), settles(self.reward), cost)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_reading"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reading = self._compiled()

    @property
    def action_space(self) -> Space[Any]:
        """Space of one flow's action."""
        return self.action.space

    def observe(self, records: NDArray[np.float64]) -> NDArray[np.float32]:
        """Observations (k, len(fields)) of records (k, all fields), within the space in float32 too."""
        return self._reading.observe(records)

    def outcomes(
        self,
        records: NDArray[np.float64],
        first: NDArray[np.bool_],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> Outcomes:
        """Returns the outcomes of the decisions before these rows (k)."""
        rewards, since, final, cut, slowdowns = self._reading.outcomes(records, first, terminated, truncated)
        if rewards is None:
            rewards = self.rewards(records)
            rewards[first] = 0.0
        return Outcomes(rewards, since, final, cut, slowdowns)

    def read_row(
        self, rows: DecisionBatch, index: int
    ) -> tuple[NDArray[np.float32], float, bool, dict[str, float], dict[str, Any]]:
        """Reads one row at once: its observation (D,), the reward and whether the value after it is 0, its
        telemetry by name, and the entries of :meth:`Outcomes.infos`."""
        observation, reward, final, telemetry, infos = self._reading.row(
            rows.records, rows.first, rows.terminated, rows.truncated, index
        )
        if reward is None:
            reward = float(self.rewards(rows.records[index : index + 1])[0])
            reward = 0.0 if rows.first[index] else reward
        return observation, reward, final, telemetry, infos

    def rewards(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rewards (k,) of records (k, all fields). Raises TypeError unless there is a number for each."""
        rewards = np.array(self.reward(records.view(Records)), dtype=np.float64)
        if rewards.shape != (len(records),):
            name = getattr(self.reward, "__name__", type(self.reward).__name__)
            raise TypeError(
                f"reward: {name} gave shape {rewards.shape} for {len(records)} records: expected "
                f"{(len(records),)}, a number for each"
            )
        return rewards

    @overload
    def posed_on(self, scenario: Scenario) -> Scenario: ...
    @overload
    def posed_on(self, scenario: Script) -> Script: ...
    @overload
    def posed_on(self, scenario: Scenario | Script) -> Scenario | Script: ...
    def posed_on(self, scenario: Scenario | Script) -> Scenario | Script:
        """The scenario whose flows under "agent" carry the observed fields and report the rewarded ones.

        The scenario's own settings of them take precedence.
        """
        if self._posed is None or self._posed[0] is not scenario:
            carried: dict[str, bool | int | str] = {}
            if scenario.transport == "rdma":
                carried = {"TelemetryBytes": self.telemetry_bytes, **agent_flags(self.fields)}
            self._posed = scenario, self.rewarded_on(scenario.with_agent(carried))
        return self._posed[1]

    @overload
    def rewarded_on(self, scenario: Scenario) -> Scenario: ...
    @overload
    def rewarded_on(self, scenario: Script) -> Script: ...
    @overload
    def rewarded_on(self, scenario: Scenario | Script) -> Scenario | Script: ...
    def rewarded_on(self, scenario: Scenario | Script) -> Scenario | Script:
        """The scenario whose flows under "agent" report the fields that the task rewards."""
        flags = agent_flags(_read_by(self.reward))
        return scenario.with_agent(flags) if flags else scenario

    def check(
        self,
        scenario: Scenario | Script | Mapping[str, Any],
        also: Sequence[str] = (),
    ) -> None:
        """Raises ScenarioError, naming fields, if the scenario's transport does not know one of them, one
        that the reward reads, or one of ``also``."""
        transport = transport_of(scenario) if isinstance(scenario, Mapping) else scenario.transport
        faults = []
        if fault := unknown_fields(transport, (*self.fields, *also)):
            faults.append(f"fields: {fault}")
        if fault := unknown_to_reward(transport, self.reward):
            faults.append(f"reward: {type(self.reward).__name__} {fault}")
        if not isinstance(scenario, Mapping) and not faults:
            faults += _subject_faults(self, ports=scenario.decides_at_ports)
        if isinstance(scenario, Scenario) and settles(self.reward) and scenario.has_endless_agents():
            faults.append(
                f"reward: {type(self.reward).__name__} pays for completion, and flows are endless: give them "
                "a size, or take another reward ('goodput_delay', 'proportional', 'rtt_target')"
            )
        if faults:
            source = None if isinstance(scenario, Mapping) else scenario.source
            raise ScenarioError("\n".join(f"{source}: {fault}" if source else fault for fault in faults))


class WithTask:
    """Base of classes with a task, with the task's parts as its own attributes."""

    task: Task

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the observed fields."""
        return self.task.fields

    @property
    def reward(self) -> Reward:
        """Reward of records."""
        return self.task.reward

    @property
    def action(self) -> ActionMap:
        """Meaning of actions."""
        return self.task.action
