# SPDX-License-Identifier: GPL-2.0-or-later
"""Failures of links and switches as they are drawn, and flows through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env.eval.metrics import measure
from ns3_env.scenario import Controller, DrawnOutages, Failures, FatTree3, Outage, Poisson, Scenario
from ns3_env.simulator import Simulator
from tests.samples.scenarios import conserved


def drawn(seed: int = 1, of: Any = "fabric_links") -> Scenario:
    outages = DrawnOutages(of=of, mean_up_ns=2_000_000, mean_down_ns=300_000)
    return Scenario(
        seed=seed,
        topology=FatTree3(),
        traffic=Poisson(sizes="websearch", load=0.2, duration_ns=1_000_000),
        controllers=[Controller(name="dcqcn")],
        failures=Failures(convergence_ns=50_000, drawn=outages),
        retransmission_timeout_ns=500_000,
        time_limit_ns=100_000_000,
    )


def test_drawn_failures_are_exponential_and_the_seeds_own() -> None:
    """Up for 2 ms and down for 0.3, on average: 16 links between switches are down 13 % of the time."""
    network = FatTree3().build()
    fabric = [x for x in network.links if network.nodes[x.a] == network.nodes[x.b] == "switch"]
    rows = [x for seed in range(20) for x in drawn(seed).to_simulator_json()["failures"]["outages"]]
    whole = [(row["at_ns"], row["until_ns"]) for row in rows if row["until_ns"] >= 0]
    down = np.array([until - at for at, until in whole])
    assert len(whole) == pytest.approx(20 * len(fabric) * 100 / 2.3, rel=0.05)
    assert down.mean() == pytest.approx(300_000, rel=0.05)
    assert down.std() == pytest.approx(300_000, rel=0.05)
    assert {frozenset((row["a"], row["b"])) for row in rows} == {frozenset((x.a, x.b)) for x in fabric}
    assert drawn(1).to_simulator_json()["failures"] == drawn(1).to_simulator_json()["failures"]
    assert drawn(1).to_simulator_json()["failures"] != drawn(2).to_simulator_json()["failures"]
    # Whatever fails, the flows are the same.
    assert drawn(1).to_simulator_json()["flows"] == drawn(1, of="switches").to_simulator_json()["flows"]


@pytest.mark.parametrize("of", ["fabric_links", "links", "switches"])
def test_flows_go_on_through_failures_that_are_drawn(simulator: Simulator, of: str) -> None:
    results = simulator.play(drawn(of=of))
    conserved(results)
    assert results["totals"]["unfinished"] == 0
    assert results["paths"]["outages"] > 100
    metrics = measure(results)
    assert metrics["failure_losses"] == results["totals"]["dropped_packets"] > 0
    assert metrics["link_losses"] == metrics["buffer_losses"] == 0


def test_failures_that_do_not_come_change_nothing(simulator: Simulator) -> None:
    """Only the values that report failures differ; flows also get a timeout, which HPCC does not need."""
    calm = drawn().model_copy(update={"failures": None, "controllers": [Controller(name="hpcc")]})
    later = Failures(outages=[Outage(switch=24, at_ns=99_000_000)])
    plain = simulator.play(calm)
    results = dict(simulator.play(calm.model_copy(update={"failures": later})))
    assert results.pop("paths")["outages"] == 4
    results["flows"] = dict(results["flows"])
    assert (
        set(results["flows"].pop("reordered_packets")) == set(results["flows"].pop("reorder_distance")) == {0}
    )
    assert results == plain
    assert "failure_losses" not in measure(plain)
