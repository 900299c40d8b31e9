# SPDX-License-Identifier: GPL-2.0-or-later
"""Declaration of a task: its scenarios, a flow's observations, actions and rewards, and the score."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ns3_env.decision.actions import EcnThresholds, Map
from ns3_env.decision.observations import RDMA_FIELDS, RDMA_SPARED, spared_attributes
from ns3_env.decision.task import Task
from ns3_env.envs.bottleneck_envs import RDMA_ACTION, RDMA_CLOCK, RDMA_REWARD
from ns3_env.errors import ScenarioError
from ns3_env.ids import id_of
from ns3_env.scenario import AGENT, Clock, Scenario

#: Seeds of test scenarios start here. Episodes have seeds below 2^31, so that none is ever trained on.
FIRST_TEST_SEED = 2**40
#: Test scenarios of a task, unless it has more.
TESTS = 10

#: Maximum number of draws of a seed: the first valid scenario with room counts.
_MOST_DRAWS = 1000

#: Draws a scenario's keys.
Draw = Callable[[np.random.Generator], dict[str, Any]]


@dataclass(frozen=True)
class TaskSpec:
    """A task.

    Attributes:
        name: name in ids: "ns3_env/Incast-v4".
        draw: function that draws the keys of a scenario, except controllers and clock.
        slots: most flows under the agent in a scenario; one with more, or an impossible one, is drawn again.
        fields: fields of the observation of a flow.
        action: the action map.
        reward: name of the reward.
        clock: clock of the flows' decisions.
        attributes: attributes of the controller "agent".
        spared: telemetry that flows do without in an environment
            (:func:`ns3_env.decision.observations.spared_attributes`); a policy's file has its own settings.
        measure: the measured quantity: "slowdown" (the mean over flows; a cut one includes the time for its
            remaining bytes), "max_min" (the deviation of slowdowns from those of the max-min allocation) or
            "job_time" (of training jobs, from first start to last end, mean over jobs; a cut one lasts until
            the time limit; flows of no job do not count).
        decisions: number of decisions of a training on only this task.
        tests: number of test scenarios.
    """

    name: str
    draw: Draw
    slots: int = 64
    fields: tuple[str, ...] = RDMA_FIELDS
    action: Map | EcnThresholds = RDMA_ACTION
    reward: str = RDMA_REWARD
    clock: Clock = RDMA_CLOCK
    attributes: Mapping[str, bool | float] = field(default_factory=dict)
    spared: Mapping[str, float] = field(default_factory=lambda: RDMA_SPARED)
    measure: Literal["slowdown", "max_min", "job_time"] = "slowdown"
    decisions: int = 200_000
    tests: int = TESTS

    @property
    def id(self) -> str:
        """Id under which Gymnasium registers it."""
        return id_of(self.name)

    @property
    def decides_at_ports(self) -> bool:
        """True if its agents are at ports of switches; its scenarios then name the flows' controllers."""
        return isinstance(self.action, EcnThresholds)

    @property
    def flow_action(self) -> Map:
        """The action map of a flow. Raises ValueError if the agents are at ports."""
        if isinstance(self.action, EcnThresholds):
            raise ValueError(f"{self.id}: its agents set thresholds of ports, and flows are needed here")
        return self.action

    @property
    def summary(self) -> str:
        """One line."""
        return (self.draw.__doc__ or "").strip().splitlines()[0].rstrip(".")

    @property
    def reference(self) -> str:
        """The controller whose score is 100.

        For job times that is also the oracle: on the training scenarios its jobs need less time than those of
        max-min shares. It sends the flow with the least bytes left first, and does not know which flow a
        job waits for, so it is no bound: the best order of a job's flows may be faster, and in single tests a
        hand-designed controller is.
        """
        return "max_min" if self.measure == "max_min" else "oracle"

    def problem(self, **parts: Any) -> Task:
        """Decision problem: an agent's observations, actions and rewards.

        ``parts``: ``fields``, ``reward`` or ``action`` as :class:`ns3_env.decision.task.Task` accepts them,
        instead of the task's. Raises as that.
        """
        return Task(**{"fields": self.fields, "reward": self.reward, "action": self.action, **parts})

    def training(self, seed: int) -> Scenario:
        """The scenario of a seed in [0, 2^31), every flow of the task under "agent".

        Raises ValueError for a seed of the test scenarios, or beyond them.
        """
        if not 0 <= seed < 2**31:
            raise ValueError(
                f"{self.name}: seed {seed} is not one to train on: those are 0 to 2^31 - 1, test scenarios "
                f"have {FIRST_TEST_SEED} and more (test())"
            )
        return self._draw_scenario(seed)

    def episode(self, seed: int) -> Scenario:
        """The training scenario of a seed in an environment, whose flows have the task's telemetry.

        Raises as :meth:`training`.
        """
        return self.training(seed).with_agent(spared_attributes(**self.spared))

    def test(self, number: int) -> Scenario:
        """The fixed test scenario of this number. Raises ValueError if there is none."""
        if not 0 <= number < self.tests:
            raise ValueError(f"{self.name}: test scenarios are 0 to {self.tests - 1}, not {number}")
        return self._draw_scenario(FIRST_TEST_SEED + number)

    def _draw_scenario(self, seed: int) -> Scenario:
        random = np.random.default_rng((zlib.crc32(self.name.encode()), seed))
        agent = {"name": AGENT, "attributes": dict(self.attributes)}
        refused: ScenarioError | None = None
        for _ in range(_MOST_DRAWS):
            keys = self.draw(random)
            common = {"clock": self.clock.model_dump(), "seed": seed}
            flows = {} if self.decides_at_ports else {"controllers": [agent, *keys.pop("others", [])]}
            content = {**flows, **common, **keys}
            try:
                scenario = Scenario.from_mapping(content, self.id)
            except ScenarioError as error:  # such as buffers that many fast, long links leave nothing of
                refused = error
                continue
            if scenario.agent_count <= self.slots:
                return scenario
        raise refused or ScenarioError(
            f"{self.id}: seed {seed}: all scenarios have more than {self.slots} flows"
        )
