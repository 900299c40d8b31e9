# SPDX-License-Identifier: GPL-2.0-or-later
"""The rollout algorithm (Bertsekas 1997): at decisions, the best of a few actions in branches.

Each action is tried in a branch, which the base policy plays to the episode's end. What is found is exact and
never worse than the base policy, for the simulator is deterministic. It needs the flows to come, and seconds
for a millisecond: a bound on what a policy could do, and no policy for a network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ns3_env.planning.branched_play import BranchedPlay
from ns3_env.policies.policy import Policy
from ns3_env.scenario import Scenario

#: Of the base policy's window and rate; 1 is not tried, as its future is known.
FACTORS = (0.5, 2.0)


@dataclass(frozen=True)
class Plan:
    """What the planner came to.

    Attributes:
        base: mean slowdown under the base policy alone.
        planned: under the planner.
        decisions: of all flows.
        changed: decisions in which another action than the base policy's was better.
        branches: that were played to their end.
        results: of the planned episode.
    """

    base: float
    planned: float
    decisions: int
    changed: int
    branches: int
    results: dict[str, Any]


def plan(
    scenario: Scenario,
    policy: Policy,
    factors: Sequence[float] = FACTORS,
    every: int = 1,
    told: Callable[[float, int, int], object] = lambda best, decisions, branches: None,
) -> Plan:
    """The scenario under the planner.

    Args:
        scenario: with its seed.
        policy: the base policy.
        factors: of the base policy's window and rate, tried beside it.
        every: of a flow's decisions each n-th is planned.
        told: hears of each planned decision: mean slowdown to come, decisions and branches so far.

    Raises:
        ScenarioError, SimulatorError: as :class:`BranchedPlay`.
    """
    with BranchedPlay(scenario, policy) as play:
        with play.branch() as alone:
            best = base = alone.play_on()
        count: dict[int, int] = {}
        decisions = changed = branches = 0
        while play.waiting is not None:
            chosen: dict[int, float] = {}
            for flow in play.due:
                decisions += 1
                count[flow] = count.get(flow, -1) + 1
                if count[flow] % every:
                    continue
                for factor in factors:
                    with play.branch() as future:
                        future.step({**chosen, flow: factor})
                        found = future.play_on()
                    branches += 1
                    if found < best:
                        best, chosen = found, {**chosen, flow: factor}
                told(best, decisions, branches)
            changed += len(chosen)
            play.step(chosen)
        return Plan(base, play.mean_slowdown, decisions, changed, branches, play.results)
