# SPDX-License-Identifier: GPL-2.0-or-later
"""Contenders of an experiment: controllers with settings, and trained policies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from ns3_env.config.model import Strict
from ns3_env.errors import ConfigError
from ns3_env.policies.released import released
from ns3_env.programs.parameters import PAPER, parameters_of
from ns3_env.scenario import AGENT, Scenario

#: Files of trained policies, by the name they are run under.
Policies = Mapping[str, Path]


class Entries(Strict):
    """Contenders: controllers with settings that they lack by themselves, and trained policies.

    Attributes:
        controllers: controllers of the simulator, with their attributes; "dcqcn+window" is a separate entry,
            of dcqcn.
        released: names of released policies.
        parameters: "paper": controllers have the values of their own papers, if known; "published":
            those of the published simulator.
    """

    controllers: Mapping[str, Mapping[str, bool]]
    released: tuple[str, ...] = ()
    parameters: Literal["paper", "published"] = "published"

    @property
    def names(self) -> tuple[str, ...]:
        """All, in the paper's order."""
        return (*self.controllers, *self.released)

    def present(self, files: Policies) -> tuple[Policies, tuple[str, ...]]:
        """The policies given, and available released ones whose names are not given; a note for
        each that is missing or not the released one."""
        policies = dict(files)
        notes = [f"{name.upper()} is a policy given for this run." for name in files]
        for name in self.released:
            if name in files:
                continue
            try:
                policies[name] = released(name)
            except ConfigError:
                notes.append(f"{name.upper()} did not play: no policy of that name is released.")
        return policies, tuple(notes)

    def each(self, base: Scenario, policies: Policies, parameters: str | None = None) -> dict[str, Scenario]:
        """The scenario under each entry, by name: the paper's controllers first, then the added policies.

        ``parameters`` replaces the entries' own setting.
        """
        present = [name for name in self.names if name in self.controllers or name in policies]
        return {
            name: base.under(AGENT).playing(policies[name])
            if name in policies
            else self._controlled(base, name, parameters or self.parameters)
            for name in (*present, *(name for name in policies if name not in self.names))
        }

    def _controlled(self, base: Scenario, name: str, parameters: str) -> Scenario:
        controller = name.partition("+")[0]
        preset = parameters_of(controller, parameters) if controller in PAPER else {}
        return base.under(controller, {**preset, **self.controllers[name]})
