# SPDX-License-Identifier: GPL-2.0-or-later
"""An episode under a policy in Python that can be branched at any decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ns3_env.envs.background_policy import BackgroundPolicy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Policy
from ns3_env.scenario import Scenario
from ns3_env.simulator import DecisionBatch, EpisodeEnd, Simulator
from ns3_env.simulator.branching import around
from ns3_env.simulator.results import charged_slowdowns
from ns3_env.task.observations import column, wire_bytes


class BranchedPlay:
    """All flows of a scenario under "agent", each as the policy decides or as it is told.

    Attributes:
        waiting: the decisions that are due; None at the episode's end.
        results: of the episode, at its end.
    """

    def __init__(self, scenario: Scenario, policy: Policy) -> None:
        """Begins the episode.

        Args:
            scenario: with its seed; a policy's file decides on its own clock.
            policy: of all flows. Its states have to be arrays, or what can be copied deeply.

        Raises:
            ScenarioError, SimulatorError: as :meth:`Simulator.receive`.
        """
        carried = wire_bytes(policy.fields)
        if isinstance(policy, NetworkPolicy):
            carried = policy.spec.telemetry_bytes
            scenario = scenario.model_copy(update={"clock": policy.spec.clock})
        if scenario.transport == "rdma":
            scenario = scenario.with_agent({"TelemetryBytes": carried})
        self._policy, self._base = policy, BackgroundPolicy(policy)
        self._simulator = Simulator(max(64, scenario.agent_flow_count))
        self._simulator.send_reset(scenario)
        self.waiting: DecisionBatch | None = None
        self.results: dict[str, Any] = {}
        self._answers = np.empty((0, 3))
        self._await()

    def _await(self) -> None:
        message = self._simulator.receive()
        if isinstance(message, EpisodeEnd):
            self.waiting, self.results = None, message.results
            return
        assert isinstance(message, DecisionBatch)
        self.waiting = message
        due = message.due
        self._answers = self._base.actions(message.records[due], message.flows[due])

    @property
    def due(self) -> list[int]:
        """Flows whose decisions are due."""
        return [] if self.waiting is None else self.waiting.flows[self.waiting.due].tolist()

    def branch(self) -> Self:
        """A copy at the same decisions. Raises SimulatorError."""
        (simulator,) = self._simulator.branch()
        return around(self, (self._policy, self.waiting), _simulator=simulator)

    def step(self, factors: Mapping[int, float] | None = None, keep: frozenset[int] = frozenset()) -> None:
        """Answers the decisions that are due, and goes on to the next.

        Args:
            factors: by which the policy's windows and rates of these flows are multiplied.
            keep: flows that go on with the window and the rate that they have.
        """
        assert self.waiting is not None
        answers = self._answers.copy()
        records = self.waiting.records[self.waiting.due]
        for row, flow in enumerate(self.due):
            if flow in keep:
                answers[row, :2] = [column(records, name)[row] for name in ("window_bytes", "rate_bps")]
            if factors is not None and flow in factors:
                answers[row, :2] *= factors[flow]
        self._simulator.send_actions(answers)
        self._await()

    def play_on(self) -> float:
        """To the end under the policy; the mean slowdown of all flows."""
        while self.waiting is not None:
            self.step()
        return self.mean_slowdown

    @property
    def mean_slowdown(self) -> float:
        """Of all flows, at the end; what is left of a flow is charged (``charged_slowdowns``)."""
        return float(np.nanmean(self.slowdowns))

    @property
    def slowdowns(self) -> NDArray[np.float64]:
        """Of each flow (n,), at the end."""
        return charged_slowdowns(self.results)

    def close(self) -> None:
        """Ends the simulator; may be called again."""
        self._simulator.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
