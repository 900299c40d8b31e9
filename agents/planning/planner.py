# SPDX-License-Identifier: GPL-2.0-or-later
"""The planner as a player of scenarios: its settings, and what it plays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ns3_env.agents.planning.rollout import FACTORS, Plan, Progress, plan
from ns3_env.config.bounds import Rtts, Setting, few
from ns3_env.config.model import Strict
from ns3_env.policies.policy import Policy
from ns3_env.policies.released import load_policy, policy_path, released_names
from ns3_env.scenario import AGENT, Controller, Scenario


class Planner(Strict):
    """The rollout algorithm over a base (:mod:`ns3_env.agents.planning.rollout`). Takes seconds for each
    simulated millisecond of a flow: a bound for policies."""

    base: str = Field(description="a controller of the simulator, a released policy, or a policy's file")
    every: Setting = Field(default=2, ge=1, description="of a flow's decisions each n-th is planned")
    horizon_rtts: Rtts | None = Field(
        default=None,
        gt=0,
        description="base RTTs to where futures are compared; none: the episode's end",
    )
    factors: Annotated[list[float], few(100, "each is a branch at every planned decision")] = Field(
        default=list(FACTORS), description="of the base's window and rate, tried beside it"
    )

    def of_base(self) -> Policy | Controller:
        """The base. Raises ConfigError where it names a file that holds no policy."""
        if self.base in released_names() or policy_path(Path(self.base)).exists():
            return load_policy(self.base)
        return Controller(name=self.base)

    def play(
        self, scenario: Scenario, progress: Callable[[Progress], object] = lambda progress: None
    ) -> Plan:
        """The scenario, flows under "agent" planned.

        Args:
            scenario: with its seed.
            progress: hears of each planned decision.

        Raises:
            ScenarioError, SimulatorError: as :class:`ns3_env.agents.planning.branched_play.BranchedPlay`.
        """
        return plan(
            scenario.under(AGENT), self.of_base(), self.factors, self.every, self.horizon_rtts, progress
        )
