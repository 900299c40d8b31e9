# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium environment whose agent sets the ECN thresholds of one switch port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ns3_env.decision.actions import EcnThresholds
from ns3_env.envs.gym_env import Draw, FlowEnv
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario, ScenarioLike

#: A port's queue, rates and thresholds as ACC observes them (Yan et al. 2021); bytes as logarithms.
ACC_FIELDS = (
    "queue = log(1 + port_queue_bytes / 20000)",
    "mean_queue = log(1 + port_mean_queue_bytes / 20000)",
    "port_utilisation",
    "port_marked",
    "kmin = log(1 + port_kmin_bytes / 20000)",
    "kmax = log(1 + port_kmax_bytes / 20000)",
    "port_pmax",
)


def switch_incast(flows: int = 8) -> Scenario:
    """``flows`` hosts at 25 Gb/s under DCQCN that send 1 MB each; the agent is at the bottleneck's port."""
    return Scenario.from_mapping(
        {
            "time_limit_ns": "20ms",
            "topology": {"kind": "dumbbell", "senders": flows, "rate_bps": "25Gbps"},
            "traffic": {"kind": "incast", "size_bytes": 1_000_000, "spread_ns": 100_000},
            "controllers": ["dcqcn"],
            "switch": {"ecn_agents": {"ports": [(flows + 1, flows + 2)]}},
        },
        f"incast of {flows} flows",
    )


class PortEnv(FlowEnv):
    """One port of a switch under the agent, which chooses its thresholds at each interval's end.

    An episode ends with the last flow, or at the time limit: it is truncated, as the port goes on. Other
    ports have the thresholds of ``switch.ecn``.

    Args:
        scenario: a Scenario, its keys, its YAML file or its name, or a function that draws one for each
            episode's seed; None: :func:`switch_incast` of ``flows``.
        flows: senders of the default scenario; None: 8.
        port: [switch, neighbour] of the port; None: the first of the scenario's ``switch.ecn_agents``.
        fields, reward, action, task: see :class:`ns3_env.decision.task.Task`.
        arguments: see :class:`ns3_env.envs.gym_env.FlowEnv`.
    """

    def __init__(
        self,
        scenario: ScenarioLike | Draw | None = None,
        *,
        flows: int | None = None,
        port: Sequence[int] | None = None,
        fields: Sequence[str] = ACC_FIELDS,
        reward: Any = "acc",
        action: Any = None,
        **arguments: Any,
    ) -> None:
        if {"flow", "others"} & {*arguments}:
            raise ScenarioError("PortEnv: 'flow' and 'others' are of environments with agents at flows")
        self._port = None if port is None else tuple(port)
        if scenario is None:
            definition, flows = switch_incast(8 if flows is None else flows), None
        else:
            definition = scenario  # type: ignore[assignment]
        action = EcnThresholds() if action is None else action
        super().__init__(definition, flows=flows, fields=fields, reward=reward, action=action, **arguments)
        self._ezpickle_args = ()
        self._ezpickle_kwargs = {
            "scenario": scenario,
            "flows": flows if scenario is not None else len(self.scenario.flows()),
            "port": port,
            "fields": fields,
            "reward": reward,
            "action": action,
            **arguments,
        }

    def _controlled(self, definition: ScenarioLike) -> Scenario:
        scenario = Scenario.of(definition)
        data = scenario.model_dump()
        agents = data["switch"]["ecn_agents"]
        if self._port is None and agents is None:
            raise ScenarioError(
                f"{scenario.source or 'scenario'}: switch.ecn_agents: is none, and no port is given: write "
                "port=(switch, neighbour)"
            )
        port = scenario.agent_ports[0] if self._port is None else self._port
        data["switch"]["ecn_agents"] = {**(agents or {}), "ports": [port]}
        return Scenario.from_mapping(data, scenario.source or "scenario")
