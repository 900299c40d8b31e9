# SPDX-License-Identifier: GPL-2.0-or-later
"""An episode under a policy or a controller of the simulator that can be branched at decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ns3_env.decision.observations import column
from ns3_env.decision.task import Task
from ns3_env.envs.background_policy import BackgroundPolicy
from ns3_env.errors import ScenarioError
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Policy, action_map_for
from ns3_env.scenario import AGENT, Controller, Scenario
from ns3_env.simulator import DecisionBatch, EpisodeEnd, Simulator
from ns3_env.simulator.results import charged_slowdowns
from ns3_env.simulator.simulator import around


class BranchedPlay:
    """All flows of a scenario that are under "agent", each as the base decides or as it is told.

    A base policy is asked at every decision. A base controller steers by itself, with each ACK, and at a
    decision its window and rate can be scaled until the flow's next one; left alone, the episode is the
    controller's own, to the bit.

    Attributes:
        waiting: the decisions that are due; None at the episode's end.
        results: of the episode, at its end.
    """

    def __init__(self, scenario: Scenario, base: Policy | Controller) -> None:
        """Begins the episode.

        Args:
            scenario: with its seed; a policy's file decides on its own clock.
            base: of all flows. A policy's states have to be arrays, or what can be copied deeply. A
                controller is RDMA's.

        Raises:
            ScenarioError, SimulatorError: as :meth:`Simulator.receive`; and no flow decides.
        """
        self._base: BackgroundPolicy | None = None
        self._policy: Policy | None = None
        if isinstance(base, Controller):
            episode_scenario: Scenario | dict[str, Any] = over_controller(scenario, base)
            flows = len(scenario.flows())
        else:
            self._policy, self._base = base, BackgroundPolicy(base)
            episode_scenario = _under_policy(scenario, base)
            flows = episode_scenario.agent_flow_count
        self._simulator = Simulator(max(64, flows))
        self._simulator.send_reset(episode_scenario)
        self.waiting: DecisionBatch | None = None
        self.results: dict[str, Any] = {}
        self._answers = np.empty((0, 3))
        self._await()
        if self.waiting is None:
            self.close()
            raise ScenarioError(
                f"{scenario.source}: controllers: no flow decides anything, so there is nothing to branch: "
                "let 'agent' have some (controllers: [agent]), which live until their first ACK"
            )

    def _await(self) -> None:
        message = self._simulator.receive()
        if isinstance(message, EpisodeEnd):
            self.waiting, self.results = None, message.results
            return
        assert isinstance(message, DecisionBatch)
        self.waiting = message
        due = message.due
        if self._base is None:
            self._answers = _kept(message.records[due])
        else:
            self._answers = self._base.actions(message.records[due], message.flows[due])

    @property
    def due(self) -> list[int]:
        """Flows whose decisions are due."""
        return [] if self.waiting is None else self.waiting.flows[self.waiting.due].tolist()

    def ahead(self, horizon_rtts: float | None) -> float | None:
        """The simulated time, in ns, so many base RTTs (the longest of the flows that are due) from now."""
        if horizon_rtts is None or self.waiting is None:
            return None
        longest = float(column(self.waiting.records[self.waiting.due], "base_rtt_ns").max(initial=0.0))
        return self.waiting.time_ns + horizon_rtts * longest

    def branch(self, until_ns: float | None = None, *, asks: bool = True) -> Self:
        """A copy at the same decisions, and how it goes on: see :meth:`Simulator.branch`."""
        (simulator,) = self._simulator.branch(until_ns=until_ns, asks=asks)
        return around(self, (self._policy, self.waiting), _simulator=simulator)

    def step(self, factors: Mapping[int, float] | None = None, keep: frozenset[int] = frozenset()) -> None:
        """Answers the decisions that are due, and goes on to the next.

        Args:
            factors: by which the base's windows and rates of these flows are multiplied.
            keep: flows that go on with the window and the rate that they have.
        """
        assert self.waiting is not None
        answers = self._answers.copy()
        current_actions = _kept(self.waiting.records[self.waiting.due])
        for row, flow in enumerate(self.due):
            if flow in keep:
                answers[row] = current_actions[row]
            if factors is not None and flow in factors:
                answers[row, :2] *= factors[flow]
        self._simulator.send_actions(answers)
        self._await()

    def future(
        self,
        factors: Mapping[int, float] | None = None,
        keep: frozenset[int] = frozenset(),
        until_ns: float | None = None,
    ) -> NDArray[np.float64]:
        """Slowdowns of all flows (n,) that come of a step, the base going on from there; this play stays
        where it is.

        Args:
            factors, keep: of the step.
            until_ns: horizon, at which what is left of a flow is charged (``charged_slowdowns``); None: the
                episode's end. Flows that have not begun by then are NaN.
        """
        with self.branch(until_ns, asks=self._base is not None) as other:
            other.step(factors, keep)
            other.play_on()
            return other.slowdowns

    def play_on(self) -> float:
        """To the end under the base; the mean slowdown of all flows."""
        while self.waiting is not None:
            self.step()
        return self.mean_slowdown

    @property
    def mean_slowdown(self) -> float:
        """Mean over all flows at the end; what is left of a flow is charged (``charged_slowdowns``)."""
        return float(np.nanmean(self.slowdowns))

    @property
    def slowdowns(self) -> NDArray[np.float64]:
        """Slowdown of each flow (n,), at the end."""
        return charged_slowdowns(self.results)

    def close(self) -> None:
        """Ends the simulator; may be called again."""
        self._simulator.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def over_controller(scenario: Scenario, base: Controller) -> dict[str, Any]:
    """The simulator's JSON of the scenario with the agent's flows under the controller, which decisions may
    scale: "agent" with the attribute Base.

    Raises ScenarioError where the scenario cannot be under the controller.
    """
    content = scenario.under(base.name, base.attributes).to_simulator_json()
    controller = content["controllers"][0]
    text = ",".join(
        [controller["name"], *(f"{name}={value}" for name, value in controller["attributes"].items())]
    )
    content["controllers"][0] = {"name": AGENT, "attributes": {"Base": text, "TelemetryBytes": "0"}}
    flows = content["flows"]
    agents = np.asarray(flows["controller"]) == 0
    flows["slot"] = np.where(agents, np.cumsum(agents) - 1, -1).tolist()
    return content


def _under_policy(scenario: Scenario, policy: Policy) -> Scenario:
    """The scenario as the policy plays it: which flows decide, their telemetry and, of a file, its clock."""
    if not isinstance(policy, NetworkPolicy):
        return Task(policy.fields, action=action_map_for(policy)).posed_on(scenario)
    spec = policy.spec
    if scenario.transport == "rdma":
        scenario = scenario.with_agent({"TelemetryBytes": spec.telemetry_bytes, **spec.agent_attributes})
    return scenario.model_copy(update={"clock": spec.clock})


def _kept(records: NDArray[np.float64]) -> NDArray[np.float64]:
    """The actions (m, 3) that leave flows as they are."""
    window, rate = (column(records, name) for name in ("window_bytes", "rate_bps"))
    return np.column_stack([window, rate, np.zeros(len(records))])
