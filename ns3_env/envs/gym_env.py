# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium environment with one controlled flow among other flows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import EzPickle
from numpy.typing import NDArray
from typing_extensions import Self

from ns3_env.config.model import shown
from ns3_env.decision import observations
from ns3_env.decision.action_faults import action_fault, action_rows
from ns3_env.decision.rewards import DEFAULT_REWARD
from ns3_env.decision.task import ActionLike, RewardLike, Task, WithTask
from ns3_env.envs.background_policy import BackgroundPolicy
from ns3_env.envs.flow_stream import SILENT_EPISODES, around, episode_seed
from ns3_env.envs.rendering import FPS, RENDER_MODES, Film
from ns3_env.errors import ScenarioError
from ns3_env.policies.policy import Policy
from ns3_env.policies.released import named_controller, policy_path
from ns3_env.scenario import AGENT, POLICY, Controller, Scenario, ScenarioLike
from ns3_env.simulator import DecisionBatch, Simulator

Observation = NDArray[np.float32]
#: Draws the scenario of an episode from its seed.
Draw = Callable[[int], Scenario]


def arguments(variables: Mapping[str, Any]) -> dict[str, Any]:
    """A constructor's arguments, from its ``locals()`` as it starts, in EzPickle's form."""
    return {name: value for name, value in variables.items() if name not in ("self", "__class__")}


def incast_scenario(flows: int = 4, size_bytes: int = 1_000_000, spread_ns: int = 10_000) -> Scenario:
    """A dumbbell at 100 Gb/s in which ``flows`` hosts send ``size_bytes`` each to one receiver."""
    return Scenario.from_mapping(
        {
            "topology": {"kind": "dumbbell", "senders": flows},
            "traffic": {"kind": "incast", "size_bytes": size_bytes, "spread_ns": spread_ns},
        },
        f"incast of {shown(flows)} flows",
    )


def first_played(
    definition: ScenarioLike | Draw | None, flows: int | None
) -> tuple[ScenarioLike, Draw | None]:
    """Returns the first scenario of an environment, and the function that draws the following ones; None:
    always the first.

    Without a definition, it is :func:`incast_scenario` of ``flows``, None: 4. Raises ScenarioError.
    """
    if definition is not None and flows is not None:
        raise ScenarioError(
            f"flows={shown(flows)}: belongs to the default scenario, and this one has its own flows: "
            "leave it out"
        )
    if callable(definition):
        return definition(0), definition
    return incast_scenario(4 if flows is None else flows) if definition is None else definition, None


class FlowEnv(WithTask, gym.Env[Observation, NDArray[Any]], EzPickle):
    """One flow under the agent, all other flows under a controller in the simulator or under another policy.

    An episode is the controlled flow's life: terminated when it is done, cut at the scenario's time limit.
    If the reward charges the remaining bytes, a cut also terminates the episode; else it is truncated, and a
    learner bootstraps there. A step runs until the flow's next decision.

    ``info["time_ns"]`` is the simulated time, ``info["elapsed"]`` the base RTTs since the flow's last
    decision, the last info's ``["slowdown"]`` the flow's (0 before), ``["cut"]`` whether the limit ended it.
    ``info["telemetry"]`` has every field by name and ``info["record"]`` the same as an array; if the
    transport does not know some fields (TCP), these are absent from the former, and there is no latter.

    Unpickled, it is a new environment with the same arguments.

    Args:
        scenario: a Scenario, its keys, its YAML file or its name; a function that draws one for each
            episode's seed; or None for :func:`incast_scenario` of ``flows``.
        flows: senders of the default scenario; None: 4.
        flow: the controlled flow's index in the flow list; None: another in each episode.
        others: controller of the remaining flows if the scenario names none: a name (``ns3-env list
            controllers``, ``policies``) or the path of a policy's file; or a policy in Python (SB3's
            ``predict`` with ``fields`` and ``action_map``), with a state for each flow.
        fields, reward, action, task: see :class:`ns3_env.decision.task.Task`; ``task`` replaces the first
            three.
        render_mode: None, or "rgb_array": :meth:`render` draws the last milliseconds.
        executable: see :class:`ns3_env.simulator.Simulator`.

    Raises:
        ScenarioError: the scenario is invalid.
        SimulatorError: from reset and step; the next reset works again.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": FPS}  # noqa: RUF012

    def __init__(
        self,
        scenario: ScenarioLike | Draw | None = None,
        *,
        flows: int | None = None,
        flow: int | None = 0,
        others: str | PathLike[str] | Policy = "hpcc",
        fields: Sequence[str] = observations.FDCC_FIELDS,
        reward: RewardLike = DEFAULT_REWARD,
        action: ActionLike | None = None,
        task: Task | None = None,
        render_mode: str | None = None,
        executable: str | PathLike[str] | None = None,
    ) -> None:
        EzPickle.__init__(self, **arguments(locals()))
        self._film = Film(render_mode)
        self._drawn_flow = flow is None
        self._flow = 0 if flow is None else flow
        self._others = _other(others) if isinstance(others, str | PathLike) else others
        self._companions = None if isinstance(self._others, Controller) else BackgroundPolicy(self._others)
        self.render_mode = render_mode
        self.task = Task.of(task, fields, reward, action)
        self.observation_space = self.task.observation_space  # type: ignore[assignment]
        self.action_space = self.task.action_space
        self._of_others = () if isinstance(self._others, Controller) else tuple(self._others.fields)
        self._executable = executable
        first, self._draw = first_played(scenario, flows)
        self.scenario = self._checked(first)
        self._simulator = self._simulator_for(self.scenario)
        self._last: DecisionBatch | None = None

    def _checked(self, definition: ScenarioLike) -> Scenario:
        """The scenario as it is run. Raises ScenarioError."""
        scenario = self._controlled(definition)
        self.task.check(scenario, self._of_others)
        return scenario

    def _controlled(self, definition: ScenarioLike) -> Scenario:
        """The scenario with the flow under the agent, all other flows as this environment has them."""
        if isinstance(self._others, Controller):
            return one_controlled(Scenario.of(definition), self._flow, self._others)
        return all_controlled(Scenario.of(definition), self._flow)

    def _simulator_for(self, scenario: Scenario) -> Simulator:
        self._capacity = max(64, scenario.agent_count)
        return Simulator(self._capacity, executable=self._executable)

    def _play(self, options: Mapping[str, Any]) -> None:
        """Stores the options of reset()."""
        if unknown := sorted(set(options) - {"scenario"}):
            raise ValueError(f"options: there is no {unknown[0]!r}; reset() knows 'scenario'")
        if "scenario" in options:
            self._draw = None
            self._put(options["scenario"])

    def _put(self, definition: ScenarioLike) -> None:
        """Runs this scenario from now on."""
        self.scenario = self._checked(definition)
        if self.scenario.agent_count > self._capacity:
            self._simulator.close()
            self._simulator = self._simulator_for(self.scenario)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts the episode of the seed; without one, the next of the environment's own generator.

        Args:
            seed: seed of the episode, and of those that follow.
            options: {"scenario": a Scenario, its keys, its file or its name}: simulated from now on. None:
                the one before.

        Raises:
            ScenarioError: the scenario is invalid, or the flow never decides.
            ValueError: another option.
        """
        super().reset(seed=seed)
        self._play(options or {})
        self._send_reset(seed)
        return self._finish_reset()

    def _send_reset(self, seed: int | None) -> None:
        """The first half of :meth:`reset`: asks for the episode, and waits for nothing."""
        base = int(self.np_random.integers(2**31)) if seed is None else seed
        self._last = None
        if self._companions is not None:
            self._companions.forget()
        self._film.begin()
        seed = episode_seed(base, 0)
        if self._drawn_flow or self._draw is not None:
            scenario = self.scenario if self._draw is None else self._draw(seed)
            if self._drawn_flow:
                self._flow = int(np.random.default_rng(seed).choice(scenario.agent_flows()))
            self._put(scenario)
        self._simulator.send_reset(self.task.posed_on(self.scenario).with_seed(seed))

    def _finish_reset(self) -> tuple[Observation, dict[str, Any]]:
        """The second half of :meth:`reset`: the episode's first observation."""
        observation, _, _, info = self._read(*self._first_rows())
        return observation, info

    def _first_rows(self) -> tuple[DecisionBatch, int]:
        """The rows of the episode's first decision, and the index of the flow's own."""
        for attempt in range(SILENT_EPISODES if self._drawn_flow else 1):
            if attempt:
                self._send_reset(None)  # another flow
            rows, index = self._until_own_turn()
            if rows is not None and rows.due[index]:
                break
        else:
            raise ScenarioError("the controlled flow never decides: it is over before its first decision")
        self._last = rows
        return rows, index

    def step(self, action: NDArray[Any]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Applies the action; observation and reward are those of the flow's next decision, or its end.

        Raises ValueError if the action has another shape or is no number; it may be given again then.
        """
        self._send_action(action)
        return self._finish_step()

    def _send_action(self, action: NDArray[Any]) -> None:
        """The first half of :meth:`step`: applies the action, and waits for nothing.

        Raises ValueError if it has another shape or is no number
        (:mod:`ns3_env.decision.action_faults`); it may be given again then.
        """
        if self._last is None:
            raise RuntimeError("the episode is over: reset() comes first")
        flows, shape = [self._flow], self.action_space.shape or ()
        row = action_rows(action, "flows", flows, shape)
        try:
            self._simulator.send_actions(self._answers(self._last, row))
        except ValueError as error:
            raise action_fault(row, "flows", flows, self.action_space) or error from None
        self._last = None

    def sole_record(self) -> NDArray[np.float64] | None:
        """Record (1, fields) of the decision that is due; None if another flow's is also due."""
        last = self._last
        if last is None or self._companions is not None or len(last.flows) != 1:
            return None
        return last.records

    def _note_sent(self) -> None:
        """Notes that the caller that steps several simulators together sent the action."""
        self._last = None

    def _take_rows(self, rows: DecisionBatch) -> None:
        """Takes the message over from the caller that steps several simulators together."""
        self._last = rows

    def _finish_step(self) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """The second half of :meth:`step`: the outcome of the action."""
        rows, index = self._receive_rows()
        observation, reward, terminated, info = self._read(rows, index)
        return observation, reward, terminated, not (rows.due[index] or terminated), info

    def _receive_rows(self) -> tuple[DecisionBatch, int]:
        """The rows after the action, and the index of the flow's own."""
        rows, index = self._until_own_turn()
        if rows is None:
            raise RuntimeError("the simulator ended the episode without the flow's last row")
        if rows.due[index]:
            self._last = rows
        return rows, index

    def _answers(self, rows: DecisionBatch, action: NDArray[Any] | None) -> NDArray[np.float64]:
        """Actions of all due rows: the agent's own, and those of other flows' policies."""
        if action is not None and len(rows.flows) == 1:
            return self.task.action(action, rows.records)
        due = np.flatnonzero(rows.due)
        answers = np.empty((len(due), 3))
        mine = rows.flows[due] == self._flow
        if action is not None:
            answers[mine] = self.action(action, rows.records[due[mine]])
        if self._companions is not None:
            others = due[~mine]
            answers[~mine] = self._companions.actions(rows.records[others], rows.flows[others])
        return answers

    def _until_own_turn(self) -> tuple[DecisionBatch | None, int]:
        """The next message with the agent's flow, and its row; None: the end. Companions answer before."""
        while isinstance(rows := self._simulator.receive(), DecisionBatch):
            flows = rows.flows.tolist()
            if self._flow in flows:
                return rows, flows.index(self._flow)
            self._simulator.send_actions(self._answers(rows, None))
        return None, 0

    def _read(self, rows: DecisionBatch, index: int) -> tuple[Observation, float, bool, dict[str, Any]]:
        """Observation of a row's flow, reward of its last decision, whether the next value is 0; infos."""
        observation, reward, final, telemetry, outcome = self.task.read_row(rows, index)
        record = rows.records[index]
        self._see(record)
        info = {"telemetry": telemetry, "time_ns": rows.time_ns, **outcome}
        if not np.count_nonzero(record != record):
            info["record"] = record
        return observation, reward, final, info

    def _see(self, record: NDArray[np.float64]) -> None:
        """Shows the record of the flow in a film."""
        if self._film.rolls:
            self._film.see([self._flow], record[None])

    def branch(self) -> Self:
        """A copy of the environment at this decision, which continues by itself (:meth:`Simulator.branch`).

        Both draw the same next episodes. Policies of other flows are shared, their memories are not.

        Raises:
            RuntimeError: the episode is over, or has not started.
            SimulatorError: there is no memory or process for it.
        """
        (simulator,) = self._simulator.branch()
        shared = (self.task, self.scenario, self._draw, self._others)
        return around(self, shared, _simulator=simulator)

    def snapshot(self) -> Self:
        """The present state for :meth:`restore`: a branch that is not continued."""
        return self.branch()

    def restore(self, snapshot: Self) -> None:
        """Continues from where :meth:`snapshot` was taken, any number of times. Raises as :meth:`branch`."""
        fresh = snapshot.branch()
        self._simulator.kill()
        self.__dict__.update(fresh.__dict__)

    def render(self) -> NDArray[np.uint8] | None:
        """A picture (480, 640, 3) of the controlled flow; None if ``render_mode`` is."""
        return self._film.frame()

    def close(self) -> None:
        """Ends the simulator; may be called again."""
        self._last = None
        self._simulator.close()


def all_controlled(scenario: Scenario, flow: int) -> Scenario:
    """The scenario with every flow under the agent, ``flow`` among them. Raises ScenarioError."""
    whole = _under_agent(scenario, None, [])
    if flow >= whole.flow_count:
        raise ScenarioError(f"flow: there is no flow {flow}; flows are 0 to {whole.flow_count - 1}")
    return whole


def one_controlled(scenario: Scenario, flow: int, other: Controller) -> Scenario:
    """The scenario with only ``flow`` under the agent. Raises ScenarioError."""
    controllers = [c for c in scenario.controllers if c.name != AGENT] or [other]
    return _under_agent(scenario, [flow], controllers)


def _other(name: str | PathLike[str]) -> Controller:
    """The controller of this name, or that of a policy's file."""
    file = policy_path(Path(name))
    return (
        Controller(name=POLICY, attributes={"File": str(file)})
        if file.is_file()
        else named_controller(str(name))
    )


def _under_agent(scenario: Scenario, flows: list[int] | None, others: Sequence[Controller]) -> Scenario:
    """The scenario with these flows under the agent, None: all; it keeps the attributes that it has there."""
    agent = next((c for c in scenario.controllers if c.name == AGENT), Controller(name=AGENT))
    return scenario.with_agents([agent, *others], flows)
