# SPDX-License-Identifier: GPL-2.0-or-later
"""Flow completion times against the published simulator's: three scenarios, and small networks.

tests/data/probes: each about one accident; topology, flows, scenario, published times (ns) by controller.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from ns3_env.eval.papers.published import published_scenarios
from ns3_env.eval.papers.published.published_scenarios import (
    CONTROLLERS,
    SCENARIOS,
    Comparison,
    bars_of,
    compare,
    report,
)
from ns3_env.eval.papers.published.random_networks import HPCC_RATES
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.paths import DATA

PAIRS = [(name, controller) for name in SCENARIOS for controller in CONTROLLERS]


@pytest.fixture(scope="module")
def compared() -> dict[tuple[str, str], Comparison]:
    with Simulator() as simulator:
        return {(name, controller): compare(name, controller, simulator) for name, controller in PAIRS}


@pytest.mark.parametrize(("name", "controller"), PAIRS)
def test_every_flow_completes_at_the_published_nanosecond(
    compared: dict[tuple[str, str], Comparison], name: str, controller: str
) -> None:
    """Stricter than the tolerances: ties, wake-ups and ECN's random numbers also are the published ones."""
    assert compared[name, controller].max_abs_dev == 0
    assert compared[name, controller].misses(bars_of(name, controller)) == []


def test_a_flow_too_late_misses_its_bar() -> None:
    row = Comparison(avg=2.05, p50=2, p99=3, ref_avg=2, ref_p50=2, ref_p99=3, max_abs_dev=0.002)
    assert row.misses(bars_of("fattree16_websearch30", "hpcc")) == ["avg"]
    assert row.misses(bars_of("dumbbell_1g_4to1", "timely")) == []
    assert row.misses(bars_of("dumbbell_1g_4to1", "dctcp")) == ["per_flow"]


def test_table_and_json_hold_the_same_figures(
    compared: dict[tuple[str, str], Comparison],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        published_scenarios, "compare", lambda name, controller, *_: compared[name, controller]
    )
    monkeypatch.setenv("COLUMNS", "80")
    report(tmp_path / "reference.json")
    output = capsys.readouterr().out
    assert "…" not in output
    written = json.loads((tmp_path / "reference.json").read_text())
    assert set(written) == set(SCENARIOS)
    for (name, controller), row in compared.items():
        figures = written[name][controller]
        assert set(figures) == {"avg", "p50", "p99", "ref_avg", "ref_p50", "ref_p99", "max_abs_dev"}
        assert figures["avg"] == row.avg
        assert f"{row.avg:.3f}" in output


PROBES = DATA / "probes"
#: A flow whose last packet was lost never ends there: a simulation of it hangs.
HUNG = -1.0
#: Here it continues after this time (ns), behind all other flows.
LATE_NS = 1e9


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
