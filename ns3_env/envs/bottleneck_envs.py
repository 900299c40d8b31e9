# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium environments with one controlled flow at a bottleneck: an RDMA incast, a TCP link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ns3_env.config.model import shown
from ns3_env.decision.actions import FairShareWindow
from ns3_env.decision.observations import RDMA_FIELDS, RDMA_SPARED, spared_attributes
from ns3_env.decision.task import ActionLike, RewardLike
from ns3_env.envs.gym_env import Draw, FlowEnv, incast_scenario
from ns3_env.envs.gym_vector_env import FlowVectorEnv
from ns3_env.scenario import PerFlowRtt, Scenario, ScenarioLike
from ns3_env.scenario.traffic import ENDLESS

#: Fields that a TCP sender knows by itself of its path, as shares of its link and multiples of its base RTT.
TCP_FIELDS = ("rtt", "rtt_slope", "goodput", "pacing_rate", "ecn_fraction", "last_action")

#: Action of the tasks on RDMA: 0 is the fair share, 1 all of a link that a hundred flows share; the least
#: window still has a packet each three base RTTs, whose ACK brings the next decision.
RDMA_ACTION = FairShareWindow(alpha=4.6, least_packets=0.32)
#: Clock of the tasks on RDMA: a flow decides its first window, and again twice per RTT.
RDMA_CLOCK = PerFlowRtt(rtt_fraction=0.4, start_bdps=0.5)
#: Reward of the tasks on RDMA: the gain on equal sharing unless the scenario asks for fairness.
RDMA_REWARD = "multi_objective"


class RdmaIncastEnv(FlowEnv):
    """One RDMA flow of an incast under the agent, posed as the tasks are (docs/tasks.md).

    As :class:`ns3_env.envs.gym_env.FlowEnv` in all but its defaults: observations are
    :data:`ns3_env.decision.observations.RDMA_FIELDS`, the action is :data:`RDMA_ACTION`, the reward
    :data:`RDMA_REWARD`, and flows of the default scenario have :data:`RDMA_CLOCK` and the tasks' telemetry.
    """

    def __init__(
        self,
        scenario: ScenarioLike | Draw | None = None,
        *,
        flows: int | None = None,
        fields: Sequence[str] = RDMA_FIELDS,
        reward: RewardLike = RDMA_REWARD,
        action: ActionLike = RDMA_ACTION,
        **arguments: Any,
    ) -> None:
        if scenario is None:
            incast = incast_scenario(4 if flows is None else flows).model_copy(update={"clock": RDMA_CLOCK})
            scenario, flows = incast.with_agent(spared_attributes(**RDMA_SPARED)), None
        super().__init__(scenario, flows=flows, fields=fields, reward=reward, action=action, **arguments)


class RdmaIncastVectorEnv(FlowVectorEnv):
    """``num_envs`` :class:`RdmaIncastEnv` whose simulators compute side by side."""

    env_class: ClassVar[type[FlowEnv]] = RdmaIncastEnv


def bottleneck_scenario(flows: int = 2) -> Scenario:
    """``flows`` hosts at 40 Gb/s that send without end through one link of 10 Gb/s, for 10 ms."""
    return Scenario.from_mapping(
        {
            "transport": "tcp",
            "time_limit_ns": "10ms",
            "topology": {
                "kind": "dumbbell",
                "senders": flows,
                "rate_bps": "40Gbps",
                "bottleneck_bps": "10Gbps",
                "delay_ns": "5us",
            },
            "traffic": {"kind": "incast", "size_bytes": ENDLESS, "spread_ns": 10_000},
        },
        f"bottleneck of {shown(flows)} flows",
    )


class TcpBottleneckEnv(FlowEnv):
    """One TCP flow under the agent at a bottleneck that it shares with other flows.

    As :class:`ns3_env.envs.gym_env.FlowEnv` in all but its defaults: the scenario is
    :func:`bottleneck_scenario` of ``flows`` (None: 2), the rest are under ``cubic``, observations are
    :data:`TCP_FIELDS`, and the reward is goodput less its cost in delay. TCP lacks fields that only switches
    could report, such as the length of a queue: such a field is a ScenarioError.
    """

    def __init__(
        self,
        scenario: ScenarioLike | Draw | None = None,
        *,
        flows: int | None = None,
        others: Any = "cubic",
        fields: Sequence[str] = TCP_FIELDS,
        reward: RewardLike = "goodput_delay",
        **arguments: Any,
    ) -> None:
        if scenario is None:
            scenario, flows = bottleneck_scenario(2 if flows is None else flows), None
        super().__init__(scenario, flows=flows, others=others, fields=fields, reward=reward, **arguments)


class TcpBottleneckVectorEnv(FlowVectorEnv):
    """``num_envs`` :class:`TcpBottleneckEnv` whose simulators compute side by side."""

    env_class: ClassVar[type[FlowEnv]] = TcpBottleneckEnv
