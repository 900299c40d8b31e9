# SPDX-License-Identifier: GPL-2.0-or-later
"""fdcc-2 beside MPCC and HPCC on the same flows: equal shares, a full link, hardly any queue."""

from __future__ import annotations

import pytest

from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.metrics import measure
from ns3_env.policies.released import named_controller
from ns3_env.simulator import Simulator

CELLS = {entry.name: entry.scenario for entry in Suite.load("sharing").scenarios}
METRICS = ("goodput", "jain_index", "queue_avg_bytes", "unfinished_flows")


def measured(cell: str, who: str, seed: int) -> dict[str, float]:
    controller = named_controller(who)
    with Simulator() as simulator:
        scenario = CELLS[cell].with_seed(seed).under(controller.name, controller.attributes)
        return dict(measure(simulator.play(scenario), METRICS))


@pytest.mark.parametrize("cell", CELLS)
def test_it_fills_the_link_with_equal_shares_and_hardly_any_queue(cell: str) -> None:
    metrics = measured(cell, "fdcc-2", 31)
    assert metrics["jain_index"] >= 0.95
    assert metrics["goodput"] >= 1.01 * measured(cell, "mpcc", 31)["goodput"]
    assert metrics["queue_avg_bytes"] <= 2 * measured(cell, "hpcc", 31)["queue_avg_bytes"]
    assert metrics["unfinished_flows"] == 0
