# SPDX-License-Identifier: GPL-2.0-or-later
"""Entries: three laws and two trained policies (Zhang 2023, section 5.2), and play under each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import as_completed
from dataclasses import dataclass
from typing import Any, TypeVar

from ns3_env.errors import ConfigError
from ns3_env.eval.paper.outcome import Policies, Progress
from ns3_env.policies.released import released
from ns3_env.scenario import AGENT, Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import LocalPool, Play

#: Laws of the simulator, and what they do not bring by themselves: no flow has more than a BDP under way
#: (Zhang 2023, section 5.3). HPCC and a policy's flows never do.
LAWS: Mapping[str, Mapping[str, bool]] = {
    "dcqcn": {"BdpWindow": True},
    "timely": {"BdpWindow": True},
    "hpcc": {},
}
#: Released policies: the learned baseline, and the thesis's own.
RELEASED = ("rlcc", "fdcc")
#: In the order of Table 6.2.
NAMES = (*LAWS, *RELEASED)
Case = TypeVar("Case")
T = TypeVar("T")


@dataclass(frozen=True)
class Entries:
    """Who plays.

    Attributes:
        policies: files of trained policies, by name.
        notes: a sentence for each that is missing or not the released one.
    """

    policies: Policies
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All of them: the thesis's in its order, then others."""
        known = (name for name in NAMES if name in LAWS or name in self.policies)
        return (*known, *(name for name in self.policies if name not in NAMES))

    def each(self, base: Scenario) -> dict[str, Scenario]:
        """The scenario under each, by name."""
        return {
            name: base.under(AGENT).playing(self.policies[name])
            if name in self.policies
            else base.under(name, LAWS[name])
            for name in self.names
        }


def make_entries(given: Policies) -> Entries:
    """The laws, the policies given, and the released ones whose names are not given and that are there."""
    policies = dict(given)
    notes = [f"{name.upper()} is a policy given for this run." for name in given]
    for name in RELEASED:
        if name in given:
            continue
        try:
            policies[name] = released(name)
        except ConfigError:
            notes.append(f"{name.upper()} did not play: no policy of that name is released.")
    return Entries(policies, tuple(notes))


def play_all(
    simulator: Simulator,
    cases: Mapping[Case, Scenario],
    entries: Entries,
    measure: Callable[[Mapping[str, Any]], T],
    progress: Progress,
) -> dict[Case, dict[str, T]]:
    """What ``measure`` makes of each episode's results, by case and entry, in their order.

    The last cases are begun first: an experiment's largest, which would otherwise be waited for alone.

    Args:
        simulator: lends its patience with a simulator that hangs.
        cases: scenarios, one seed each, so that every entry has the same flows.
        entries: plays them.
        measure: of the results, which are not kept.
        progress: told what is done.

    Raises:
        ScenarioError: the simulator refuses a scenario.
        SimulatorError: it failed.
    """
    with LocalPool() as players:
        running = {
            players.submit(Play(scenario, measure)): (case, name)
            for case, base in reversed(list(cases.items()))
            for name, scenario in entries.each(base).items()
        }
        found: dict[tuple[Case, str], T] = {}
        for done in as_completed(running):
            found[running[done]] = done.result()
            progress(f"{len(found)} of {len(running)} episodes played")
    return {case: {name: found[case, name] for name in entries.names} for case in cases}
