# SPDX-License-Identifier: GPL-2.0-or-later
"""The rollout algorithm (Bertsekas 1997): at decisions, the best of a few actions in branches.

Each action is tried in a branch, which the base plays on. To the episode's end what is found is exact and
never worse than the base, for the simulator is deterministic; up to a horizon it is what flows will take if
their links are shared equally from there on. It needs the flows to come, and seconds for a millisecond: a
bound on what a policy could do, and no policy for a network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ns3_env.agents.planning.branched_play import BranchedPlay
from ns3_env.policies.policy import Policy
from ns3_env.scenario import Controller, Scenario

#: Of the base's window and rate; 1 is tried, too, where its future is not known.
FACTORS = (0.5, 2.0)


@dataclass(frozen=True)
class Plan:
    """Result of the planner.

    Attributes:
        base: mean slowdown under the base alone.
        planned: under the planner.
        decisions: of all flows.
        changed: decisions in which another action than the base's was better.
        branches: that were played.
        results: of the planned episode.
    """

    base: float
    planned: float
    decisions: int
    changed: int
    branches: int
    results: dict[str, Any]


@dataclass(frozen=True)
class Progress:
    """Progress of a plan.

    Attributes:
        time_ns: simulated.
        foreseen: mean slowdown of the best future so far.
        decisions, branches: until now.
    """

    time_ns: float
    foreseen: float
    decisions: int
    branches: int


def plan(
    scenario: Scenario,
    base: Policy | Controller,
    factors: Sequence[float] = FACTORS,
    every: int = 1,
    horizon_rtts: float | None = None,
    progress: Callable[[Progress], object] = lambda progress: None,
) -> Plan:
    """The scenario under the planner.

    Args:
        scenario: with its seed.
        base: a policy, or a controller of the simulator's.
        factors: of the base's window and rate, tried beside it.
        every: of a flow's decisions each n-th is planned.
        horizon_rtts: after which futures are compared, in base RTTs; None: at the episode's end.
        progress: hears of each planned decision.

    Raises:
        ScenarioError, SimulatorError: as :class:`BranchedPlay`.
    """
    with BranchedPlay(scenario, base) as play:
        alone = best = float(np.nanmean(play.future()))
        count: dict[int, int] = {}
        decisions = changed = branches = 0
        while play.waiting is not None:
            chosen: dict[int, float] = {}
            until = play.ahead(horizon_rtts)
            has_best = until is None
            for flow in play.due:
                decisions += 1
                count[flow] = count.get(flow, -1) + 1
                if count[flow] % every:
                    continue
                if not has_best:
                    best, has_best = float(np.nanmean(play.future(until_ns=until))), True
                    branches += 1
                for factor in factors:
                    slowdown = float(np.nanmean(play.future({**chosen, flow: factor}, until_ns=until)))
                    branches += 1
                    if slowdown < best:
                        best, chosen = slowdown, {**chosen, flow: factor}
                progress(Progress(play.waiting.time_ns, best, decisions, branches))
            changed += len(chosen)
            play.step(chosen)
        return Plan(alone, play.mean_slowdown, decisions, changed, branches, play.results)
