# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays an experiment's episodes: every case under every contestant, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import as_completed
from typing import Any, TypeVar

from ns3_env.eval.paper.fdcc.contestants import Contestants
from ns3_env.eval.paper.outcome import Say
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import Players

Case = TypeVar("Case")
T = TypeVar("T")


def play_all(
    simulator: Simulator,
    cases: Mapping[Case, Scenario],
    who: Contestants,
    measure: Callable[[Mapping[str, Any]], T],
    say: Say,
) -> dict[Case, dict[str, T]]:
    """What ``measure`` makes of each episode's results, by case and contestant, in their order.

    The last cases are begun first: an experiment's largest, which would otherwise be waited for alone.

    Args:
        simulator: lends its patience with a simulator that hangs.
        cases: scenarios, one seed each, so that every contestant has the same flows.
        who: plays them.
        measure: of the results, which are not kept.
        say: told what is done.

    Raises:
        ScenarioError: the simulator refuses a scenario.
        SimulatorError: it failed.
    """
    with Players(hang_timeout_s=simulator.hang_timeout_s) as players:
        running = {
            players.submit(scenario, measure): (case, name)
            for case, base in reversed(list(cases.items()))
            for name, scenario in who.each(base).items()
        }
        found: dict[tuple[Case, str], T] = {}
        for done in as_completed(running):
            found[running[done]] = done.result()
            say(f"{len(found)} of {len(running)} episodes played")
    return {case: {name: found[case, name] for name in who.names} for case in cases}
