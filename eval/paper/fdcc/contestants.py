# SPDX-License-Identifier: GPL-2.0-or-later
"""Contestants: three laws and two trained policies (Zhang 2023, section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ns3_env.errors import ConfigError
from ns3_env.eval.paper.outcome import Policies
from ns3_env.policies.released import released
from ns3_env.scenario import AGENT, Scenario

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


@dataclass(frozen=True)
class Contestants:
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


def contestants(given: Policies) -> Contestants:
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
    return Contestants(policies, tuple(notes))
