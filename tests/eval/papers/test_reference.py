# SPDX-License-Identifier: GPL-2.0-or-later
"""Flow completion times against the published simulator's, by scenario and controller."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ns3_env.eval.papers.published import published_scenarios
from ns3_env.eval.papers.published.published_scenarios import (
    CONTROLLERS,
    SCENARIO_FOLDER,
    SCENARIOS,
    Comparison,
    bars_of,
    compare,
    report,
)
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator

PAIRS = [(name, controller) for name in SCENARIOS for controller in CONTROLLERS]


def bars() -> Iterator[object]:
    for name, controller in PAIRS:
        wanted = bars_of(name, controller)
        for figure, bar in (("avg", wanted.avg), ("p99", wanted.p99), ("per_flow", wanted.per_flow)):
            if bar is not None:
                yield pytest.param(name, controller, figure, id=f"{name}-{controller}-{figure}")


@pytest.fixture(scope="module")
def compared() -> dict[tuple[str, str], Comparison]:
    with Simulator() as simulator:
        return {(name, controller): compare(name, controller, simulator) for name, controller in PAIRS}


@pytest.mark.parametrize(("name", "controller", "figure"), list(bars()))
def test_completion_times_are_the_published_ones(
    compared: dict[tuple[str, str], Comparison], name: str, controller: str, figure: str
) -> None:
    row = compared[name, controller]
    measured = row.max_abs_dev if figure == "per_flow" else row.deviation(figure)
    assert figure not in row.misses(bars_of(name, controller)), f"{100 * measured:+.2f} %"


@pytest.mark.parametrize(("name", "controller"), PAIRS)
def test_every_flow_completes_at_the_published_nanosecond(
    compared: dict[tuple[str, str], Comparison], name: str, controller: str
) -> None:
    """More than the bars ask for: ties, wake-ups and ECN's random numbers are the published ones, too."""
    assert compared[name, controller].max_abs_dev == 0


def test_bars_are_those_of_the_reference_page() -> None:
    assert bars_of("dumbbell_1g_4to1", "dctcp").per_flow == 0.001
    assert bars_of("dumbbell_100g_4to1", "dctcp").per_flow == 0.001
    assert bars_of("dumbbell_1g_4to1", "timely").avg == 0.12
    others = [(n, c) for n, c in PAIRS if (n, c) != ("dumbbell_1g_4to1", "timely")]
    others = [(n, c) for n, c in others if c != "dctcp" or n.startswith("fattree")]
    assert {(bars_of(n, c).avg, bars_of(n, c).p99) for n, c in others} == {(0.02, 0.05)}


@pytest.mark.parametrize("name", SCENARIOS)
def test_flows_keep_the_order_of_the_file(name: str) -> None:
    """Flows that start together take turns in that order, so it moves completion times."""
    sent = Scenario.load(SCENARIO_FOLDER / f"{name}.yaml").to_simulator_json()["flows"]
    with (SCENARIO_FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for column in ("src", "dst", "size_bytes", "start_ns"):
        assert sent[column] == [int(row[column]) for row in rows]


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
    shown = capsys.readouterr().out
    assert "…" not in shown
    written = json.loads((tmp_path / "reference.json").read_text())
    assert set(written) == set(SCENARIOS)
    for (name, controller), row in compared.items():
        figures = written[name][controller]
        assert set(figures) == {"avg", "p50", "p99", "ref_avg", "ref_p50", "ref_p99", "max_abs_dev"}
        assert figures["avg"] == row.avg
        assert f"{row.avg:.3f}" in shown
