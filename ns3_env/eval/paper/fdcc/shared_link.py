# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares of a link over time: each flow's under every entry, drawn in panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ns3_env.eval.paper.fdcc.entries import Entries
from ns3_env.eval.paper.mpcc.throughput import measured, shares
from ns3_env.eval.paper.outcome import Progress
from ns3_env.eval.paper.panels import finished, panels
from ns3_env.eval.plots.plots import time_unit
from ns3_env.eval.plots.table import csv_text
from ns3_env.eval.trace.flow_series import flow_colours
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats

RATE_BPS = 100e9


def bottleneck(topology: Dumbbell) -> tuple[int, int]:
    """(node, port) of switch A's port to switch B: hosts come first, and A's ports are in the order of its
    links."""
    return topology.senders + topology.receivers, topology.senders


@dataclass(frozen=True)
class Shared:
    """One entry's run.

    Attributes:
        results: the simulator's.
        share: of the bottleneck's rate, bytes on the wire, (flows, bins) from time 0 on.
        bin_ns: length of a bin.
    """

    results: Mapping[str, Any]
    share: Floats
    bin_ns: int

    def between(self, begin_ns: float, end_ns: float, flows: int) -> Floats:
        """Shares of the first flows in the whole bins of an interval: (flows, bins)."""
        first, last = -(-round(begin_ns) // self.bin_ns), int(end_ns // self.bin_ns)
        return self.share[:flows, first:last]


def play_each(
    simulator: Simulator,
    base: Scenario,
    topology: Dumbbell,
    entries: Entries,
    bin_ns: int,
    progress: Progress,
) -> dict[str, Shared]:
    """The scenario over a dumbbell under each entry, counted at its bottleneck.

    Raises ScenarioError, SimulatorError.
    """
    found = {}
    for name, played in entries.each(base).items():
        progress(name)
        results, counted = measured(simulator, played, bottleneck(topology), bin_ns)
        found[name] = Shared(results, shares(counted, bin_ns, RATE_BPS), bin_ns)
    return found


def draw(runs: Mapping[str, Shared], until_ns: float, names: Sequence[str]) -> bytes:
    """Each flow's share, a panel for each entry, up to an instant; ``names`` of the flows."""
    unit, word = time_unit(until_ns)
    figure, several = panels([name.upper() for name in runs], 2, 2.3)
    for axes, run in zip(several, runs.values(), strict=True):
        kept = run.between(0, until_ns, len(names))
        middles = (np.arange(kept.shape[1]) + 0.5) * run.bin_ns / unit
        for share, colour, name in zip(kept, flow_colours(len(names)), names, strict=True):
            axes.plot(middles, share, color=colour, linewidth=1.1, label=name)
        axes.set(
            xlabel=f"time ({word})", ylabel="share of the link", xlim=(0, until_ns / unit), ylim=(0, 1.05)
        )
    return finished(figure, several[0])


def csv_of(runs: Mapping[str, Shared]) -> str:
    """Shares as CSV."""
    flows = max(len(run.share) for run in runs.values())
    rows = [
        (name, k * run.bin_ns, *(round(float(x), 5) for x in run.share[:, k]))
        for name, run in runs.items()
        for k in range(run.share.shape[1])
    ]
    return csv_text(("controller", "t_ns", *(f"flow_{i}" for i in range(flows))), rows)
