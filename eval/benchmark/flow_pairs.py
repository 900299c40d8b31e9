# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares two controllers on the same flows: ratios of slowdowns by flow and by size."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.cell_files import Flows, flows
from ns3_env.eval.benchmark.folder import Cell
from ns3_env.eval.benchmark.statistics import FloatArray
from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS

_BUCKETS = {name: (above, up_to) for name, _, above, up_to in SIZE_BUCKETS}
_METRIC = re.compile(r"fct_slowdown_(\w+)_avg")


class FlowPairs:
    """Flows of cells, read when they are first needed. Every controller plays the same flows for a seed."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, int], Flows] = {}

    @staticmethod
    def are_of(metric: str) -> bool:
        """Whether the metric is the mean slowdown of a size, which is compared flow by flow."""
        found = _METRIC.fullmatch(metric)
        return found is not None and found[1] in _BUCKETS

    def log_ratios(self, metric: str, cells: Sequence[Cell], others: Sequence[Cell]) -> FloatArray:
        """For each seed, the mean over flows of the size of ln(slowdown in the cell / in the other): (n,).

        Flows that one of both did not finish are left out. Flows of one seed met each other, so they are one
        observation, not many; seeds without such a flow are left out.

        Args:
            metric: one that ``are_of``.
            cells: one for each seed.
            others: the other controller's, of the same seeds.

        Raises:
            ScenarioError: a cell's flows cannot be read.
        """
        found = _METRIC.fullmatch(metric)
        assert found is not None
        above, up_to = _BUCKETS[found[1]]
        means = []
        for cell, other in zip(cells, others, strict=True):
            ours, theirs = self._flows(cell), self._flows(other)
            if len(ours.sizes) != len(theirs.sizes):
                raise ScenarioError(
                    f"{cell.folder / 'flows.csv'} and {other.folder / 'flows.csv'} hold other flows; delete "
                    "the cells' folders and run them again"
                )
            both = (ours.sizes > above) & (ours.sizes <= up_to)
            both &= ~np.isnan(ours.slowdowns) & ~np.isnan(theirs.slowdowns)
            if both.any():
                means.append(float(np.log(ours.slowdowns[both] / theirs.slowdowns[both]).mean()))
        return np.array(means)

    def _flows(self, cell: Cell) -> Flows:
        key = cell.controller, cell.seed
        if key not in self._read:
            self._read[key] = flows(cell)
        return self._read[key]
