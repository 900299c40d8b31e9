# SPDX-License-Identifier: GPL-2.0-or-later
"""Small networks, each about one accident of the published simulator, to the nanosecond.

tests/data/probes: topology, flows, scenario, and the published completion times (ns) of each controller.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

import pytest

from ns3_env.eval.papers.published.random_networks import HPCC_RATES
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.paths import DATA

PROBES = DATA / "probes"
#: What has no end there is waited for: a flow whose last packet was lost.
HUNG = -1.0
#: After so long (ns) it goes on here, behind all others.
LATE_NS = 1e9


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as started:
        yield started


def ends(name: str) -> dict[str, list[tuple[float, float]]]:
    """Completion time and standalone time (ns) of each flow, by controller, as published."""
    published: dict[str, list[tuple[float, float]]] = {}
    with (PROBES / f"{name}.csv").open() as rows:
        for row in csv.DictReader(rows):
            times = float(row["fct_ns"]), float(row["standalone_ns"])
            published.setdefault(row["controller"], []).append(times)
    return published


@pytest.mark.parametrize("name", sorted(file.stem for file in PROBES.glob("*.yaml")))
def test_every_flow_ends_at_the_published_nanosecond(simulator: Simulator, name: str) -> None:
    scenario = Scenario.load(PROBES / f"{name}.yaml")
    rates_gbps = {link.rate_bps / 1e9 for link in scenario.topology.build().links}
    for controller, published in ends(name).items():
        if controller == "hpcc" and not rates_gbps <= set(HPCC_RATES):
            continue
        flows = simulator.play(scenario.under(controller))["flows"]
        ended = [
            (fct, alone) if fct < LATE_NS else (HUNG, HUNG)
            for fct, alone in zip(flows["fct_ns"], flows["standalone_ns"], strict=True)
        ]
        assert ended == published, controller
