# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m eval run --trace``: the series that it writes and draws, and notes on missing ones."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import yaml

from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.recording import COLUMNS, recorded_series
from ns3_env.eval.episodes.trace import draw, pause_intervals
from tests.samples.files import dumped, rows

SCENARIO = {
    "topology": {"kind": "dumbbell", "senders": 3},
    "traffic": {"kind": "incast", "size_bytes": 60_000, "spread_ns": 5_000},
    "controllers": [{"name": "hpcc", "attributes": {"Eta": 0.9}}],
    "time_limit_ns": 10_000_000,
}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    return dumped(tmp_path / "three.yaml", SCENARIO)


def trace(scenario: Path, out: Path, *more: str, controller: str = "mpcc") -> int:
    return main(["run", str(scenario), "--trace", "--controllers", controller, "--out", str(out), *more])


def test_every_recorded_series_is_written_and_drawn(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "deep" / "out"
    assert trace(scenario, out) == 0
    out /= "mpcc"
    assert f"{out / 'trace.png'}: " in capsys.readouterr().out.replace("\n", "")
    assert (out / "trace.png").read_bytes().startswith(b"\x89PNG")
    windows, queue = rows(out / "windows.csv"), rows(out / "queue_series.csv")
    assert tuple(windows[0]) == COLUMNS["windows"]
    assert tuple(queue[0]) == COLUMNS["queue_series"]
    assert {row["flow"] for row in windows} == {"0", "1", "2"}
    assert max(float(row["bytes"]) for row in queue) > 0
    longest = max(rows(out / "queues.csv"), key=lambda row: float(row["mean_bytes"]))
    assert (longest["node"], longest["port"]) in {(row["node"], row["port"]) for row in queue}
    if importlib.util.find_spec("pyarrow"):
        from pyarrow import parquet

        table = parquet.read_table(out / "windows.parquet").to_pylist()
        assert [row["window_bytes"] for row in table] == [float(row["window_bytes"]) for row in windows]


def test_what_goes_on_inside_the_controller_is_written_and_drawn(scenario: Path, tmp_path: Path) -> None:
    assert trace(scenario, tmp_path / "out") == 0
    states = rows(tmp_path / "out" / "mpcc" / "controller_state.csv")
    assert tuple(states[0]) == ("time_ns", "flow", "name", "value")
    assert {row["name"] for row in states} == {"FairShareBytes", "PredictedQueueBytes", "StateHop"}
    assert {row["flow"] for row in states} == {"0", "1", "2"}
    changes = [[0, 0, "Gradient", -0.5], [100, 0, "Gradient", 0.5], [100, 1, "Alpha", 1.0]]
    titles = said(controller_state=changes)
    assert titles.count("State of the controller") == 2
    assert "State of the controller: Alpha" in titles


def test_a_controller_without_windows_leaves_their_column_empty(scenario: Path, tmp_path: Path) -> None:
    assert trace(scenario, tmp_path / "out", controller="timely") == 0
    windows = rows(tmp_path / "out" / "timely" / "windows.csv")
    assert {row["window_bytes"] for row in windows} == {""}
    assert all(float(row["rate_bps"]) > 0 for row in windows)


def test_the_seed_and_the_interval_are_those_asked_for(scenario: Path, tmp_path: Path) -> None:
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        arguments = ["--controllers", "mpcc", "--out", str(tmp_path / name), "--seeds", seed]
        traced = ["--trace"] if name == "a" else []
        assert main(["run", str(scenario), *arguments, *traced, "--queue-series", "500"]) == 0
    flows = [(tmp_path / name / "mpcc" / "flows.csv").read_text() for name in "abc"]
    assert flows[0] == flows[1] != flows[2]
    times = [float(row["t_ns"]) for row in rows(tmp_path / "a" / "mpcc" / "queue_series.csv")]
    assert sorted(set(times))[:3] == [0, 500, 1000]
    assert yaml.safe_load((tmp_path / "a" / "mpcc" / "config.yaml").read_text())["scenario"]["seed"] == 7


def test_a_cell_is_played_again_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)
    entry = {
        "name": "two",
        "scenario": {key: SCENARIO[key] for key in ("topology", "traffic", "time_limit_ns")},
    }
    mine = {"name": "mine", "policy": "ns3_env.agents.baselines.mpcc:MpccPolicy"}
    wide = {"name": "wide", "controller": "hpcc", "attributes": {"Eta": 0.8}}
    content = {"controllers": [mine, wide], "seeds": [5], "scenarios": [entry]}
    suite = dumped(tmp_path / "suite.yaml", content)
    run = tmp_path / "run"
    assert main(["benchmark", str(suite), "--out", str(run), "--jobs", "1", "--allow-imports"]) == 0
    for name, more in (("mine", ["--trace", "--allow-imports"]), ("wide", [])):
        cell = run / "cells" / "two" / name / "seed-5"
        again_in = ["run", str(cell / "config.yaml"), "--controllers", name, "--out", str(tmp_path / name)]
        assert main([*again_in, *more]) == 0
        again = [row["fct_ns"] for row in rows(tmp_path / name / name / "flows.csv")]
        assert again == [row["fct_ns"] for row in rows(cell / "flows.csv")]


SERIES = {"t_ns": [0, 5_000], "bytes": [0, 20]}


def results(**more: Any) -> dict[str, Any]:
    """Results of two flows, the second of which was paused."""
    return {
        "flows": {"src": [0, 1], "end_ns": [9_000, -1], "pause_ns": [0, 1_500]},
        "queues": [
            {"node": 3, "port": 2, "mean_bytes": 10.0, "tx_bytes": 1, "p99_bytes": 20, "series": SERIES}
        ],
        "windows": [[0, 0, None, 1e9], [0, 1, 5_000.0, 1e9], [500, 1, 4_000.0, 2e9]],
        "totals": {"end_ns": 10_000, "pfc_frames": 3},
        **more,
    }


def said(**more: Any) -> str:
    """All titles and texts of the figure."""
    figure = draw(results(**more), "title")
    return "\n".join(
        [axes.get_title() for axes in figure.axes]
        + [x.get_text() for axes in figure.axes for x in axes.texts]
    )


def test_what_the_simulator_does_not_record_is_said() -> None:
    assert set(recorded_series(results())) == {"windows", "queue_series"}
    text = said()
    assert "does not record marks" in text
    assert "1 flows were paused" in text
    assert "flow 1: 1.5" in text


def test_marks_and_pauses_are_drawn_where_they_are_recorded() -> None:
    more = {"marks": [[100, 0], [200, 1], [300, 1]], "pauses": [[1_000, 3, 2, 1], [2_000, 3, 2, 0]]}
    assert recorded_series(results(**more))["marks"] == more["marks"]
    assert recorded_series(results(**more))["pauses"] == more["pauses"]
    text = said(**more)
    assert "ECN marks: 3" in text
    assert "does not record" not in text
    assert "no port was paused" in said(marks=[], pauses=[])


def test_a_pause_lasts_until_its_resume_or_the_end() -> None:
    changes = [(1, 3, 2, 1), (2, 3, 2, 1), (4, 3, 2, 0), (5, 3, 1, 1), (7, 3, 2, 1), (8, 3, 2, 0)]
    assert pause_intervals(changes, 10) == {(3, 1): [(5, 10)], (3, 2): [(1, 4), (7, 8)]}
