# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of one group of flows alone, where a scenario has groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ns3_env.simulator.results import Results, groups_of, of_group

#: Of flows alone, which so are a group's as well.
OF_FLOWS = (
    "fct_slowdown_avg",
    "fct_slowdown_p50",
    "fct_slowdown_p95",
    "fct_slowdown_p99",
    "slowdown_charged",
    "goodput",
    "pfc_pause_fraction",
    "unfinished_flows",
)


def by_group(
    results: Results, measured: Callable[[Results], Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Metrics of each group's flows as if there were no others; what is of ports stays the network's.

    Args:
        results: of an episode.
        measured: the metrics of such results.

    Returns:
        Group -> metric -> value, with ``flows``, how many; empty where the scenario has no groups.
    """
    rows = {}
    for name in groups_of(results):
        own = of_group(results, name)
        rows[name] = {"flows": float(len(own["flows"]["src"])), **measured(own)}
    return rows
