# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m eval run --trace``: the series that it writes and draws, and notes of what is missing."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import Any

import pytest
import yaml

from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.series import COLUMNS, recorded_series
from ns3_env.eval.trace.figure import draw, pause_intervals

SCENARIO = {
    "topology": {"kind": "dumbbell", "senders": 3},
    "traffic": {"kind": "incast", "size_bytes": 60_000, "spread_ns": 5_000},
    "controllers": [{"name": "hpcc", "attributes": {"Eta": 0.9}}],
    "time_limit_ns": 10_000_000,
}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "three.yaml"
    file.write_text(yaml.safe_dump(SCENARIO))
    return file


def trace(scenario: Path, out: Path, *more: str, controller: str = "mpcc") -> int:
    return main(["run", str(scenario), "--trace", "--controllers", controller, "--out", str(out), *more])


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


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
    assert {row["name"] for row in states} == {"FairShareBytes", "PredictedQueueBytes"}
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
    for name, more in (("a", ("--seeds", "7")), ("b", ("--seeds", "7")), ("c", ("--seeds", "8"))):
        assert trace(scenario, tmp_path / name, *more, "--queue-series", "500") == 0
    flows = [(tmp_path / name / "mpcc" / "flows.csv").read_text() for name in "abc"]
    assert flows[0] == flows[1] != flows[2]
    times = [float(row["t_ns"]) for row in rows(tmp_path / "a" / "mpcc" / "queue_series.csv")]
    assert sorted(set(times))[:3] == [0, 500, 1000]
    assert yaml.safe_load((tmp_path / "a" / "mpcc" / "config.yaml").read_text())["scenario"]["seed"] == 7


def test_a_cell_is_played_again_as_it_was(tmp_path: Path) -> None:
    entry = {
        "name": "two",
        "scenario": {key: SCENARIO[key] for key in ("topology", "traffic", "time_limit_ns")},
    }
    mine = {"name": "mine", "policy": "ns3_env.agents.baselines.mpcc:MpccPolicy"}
    wide = {"name": "wide", "controller": "hpcc", "attributes": {"Eta": 0.8}}
    suite = tmp_path / "suite.yaml"
    suite.write_text(yaml.safe_dump({"controllers": [mine, wide], "seeds": [5], "scenarios": [entry]}))
    run = tmp_path / "run"
    assert main(["benchmark", str(suite), "--out", str(run), "--jobs", "1", "--allow-imports"]) == 0
    for name, more in (("mine", ["--allow-imports"]), ("wide", [])):
        cell = run / "cells" / "two" / name / "seed-5"
        assert trace(cell / "config.yaml", tmp_path / name, *more, controller=name) == 0
        again = [row["fct_ns"] for row in rows(tmp_path / name / name / "flows.csv")]
        assert again == [row["fct_ns"] for row in rows(cell / "flows.csv")]


def test_an_earlier_trace_is_replaced_and_nothing_else(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert trace(scenario, out) == 0
    assert trace(scenario, out) == 0
    (out / "mpcc" / "thesis.tex").write_text("mine")
    assert trace(scenario, out) == 2
    assert "thesis.tex" in capsys.readouterr().err
    assert (out / "mpcc" / "thesis.tex").read_text() == "mine"


@pytest.mark.parametrize(
    ("more", "controller", "named"),
    [
        ((), "mpc", "known: bcn, dcqcn"),
        (("--queue-series", "0"), "mpcc", "--queue-series"),
    ],
)
def test_mistakes_are_named(
    scenario: Path,
    tmp_path: Path,
    more: tuple[str, ...],
    controller: str,
    named: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert trace(scenario, tmp_path / "out", *more, controller=controller) == 2
    assert named in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_scenario_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert trace(tmp_path / "absent.yaml", tmp_path / "out") == 2
    assert "absent.yaml" in capsys.readouterr().err


def results(**more: Any) -> dict[str, Any]:
    """Of two flows, the second of which was paused."""
    return {
        "flows": {"src": [0, 1], "end_ns": [9_000, -1], "pause_ns": [0, 1_500]},
        "queues": [
            {
                "node": 3,
                "port": 2,
                "mean_bytes": 10.0,
                "tx_bytes": 1,
                "p99_bytes": 20,
                "series": {"t_ns": [0, 5_000], "bytes": [0, 20]},
            }
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
