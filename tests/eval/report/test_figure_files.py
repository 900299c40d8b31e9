# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures for papers: a file for each panel, as wide as a column, with embedded fonts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.figure import Figure

from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.flow_series import MANY_FLOWS, percentiles
from ns3_env.eval.episodes.trace import draw
from ns3_env.eval.output.multiples import stretches
from ns3_env.eval.output.plots import (
    COLUMN_IN,
    for_paper,
    new_axes,
    save,
)
from ns3_env.eval.output.table import csv_text
from tests.samples import report_folder
from tests.samples.files import Refused, dumped

NETWORK = {"topology": {"kind": "dumbbell", "senders": 2}, "traffic": {"kind": "incast"}}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder over two sizes, with a gain of dcqcn."""
    dcqcn = {"name": "dcqcn", "controller": "dcqcn", "grid": {"Gain": [0.125, 0.25]}}
    entry = {"name": "equal", "scenario": NETWORK, "grid": {"traffic.size_bytes": [1000, 2000]}}
    suite = report_folder.suite(controllers=["hpcc", dcqcn], seeds=[1, 2], scenarios_of=[entry])
    return report_folder.write(tmp_path_factory.mktemp("bench") / "run", suite)


def width_in(pdf: bytes) -> float:
    """Width of a PDF's page, inches."""
    box = re.search(rb"/MediaBox \[([^\]]*)\]", pdf)
    assert box is not None
    return float(box[1].split()[2]) / 72


def test_each_panel_of_a_report_is_a_file(swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(swept), "--format", "pdf"]) == 0
    out = swept / "figures"
    assert f"figures: {out}" in capsys.readouterr().out
    names = {file.stem for file in out.glob("*.pdf")}
    assert {"equal-size_bytes-1000-queue-cdf", "equal-fct_slowdown_avg-over-size_bytes"} <= names
    assert "dcqcn-fct_slowdown_avg-over-Gain" in names
    page = (swept / "report.html").read_text()
    assert len(names) == page.count("<img ")
    assert page.count(' id="sweep-') == 2
    for file in out.glob("*.pdf"):
        content = file.read_bytes()
        assert width_in(content) == pytest.approx(COLUMN_IN)
        assert b"/FontFile2" in content, "letters are TrueType, inside"
        assert b"/Type3" not in content


def test_a_format_that_is_none_is_answered_with_the_nearest(swept: Path, refused: Refused) -> None:
    message = refused(main, "report", swept, "--format", "pdf,pgn")
    assert "'pgn' is none of pdf, svg, png; the nearest known one is 'png'" in message


def test_the_same_figure_is_the_same_file(tmp_path: Path) -> None:
    def written(name: str) -> list[bytes]:
        with for_paper():
            figure, axes = new_axes()
            axes.plot([1, 2])
            return [file.read_bytes() for file in save(figure, tmp_path / name, "a/b", ("pdf", "svg", "png"))]

    assert written("one") == written("two")
    assert sorted(file.name for file in (tmp_path / "one").iterdir()) == ["a_b.pdf", "a_b.png", "a_b.svg"]


def test_a_comparison_s_panels_are_files_and_its_legend_hides_no_curve(tmp_path: Path) -> None:
    evaluation = tmp_path / "evaluation"
    evaluation.mkdir()
    names = ("fdcc", "mpcc", "hpcc", "dcqcn", "timely")
    series = {"t_ns": [0, 1000, 2000], "bytes": [0, 5000, 0]}
    port = {"node": 3, "port": 2, "mean_bytes": 10.0, "tx_bytes": 1, "series": series}
    for name in names:
        (evaluation / f"{name}.queues.json").write_text(json.dumps([{"queues": [port]}]))
        rows = [(1000, fct_ns, 1000.0, fct_ns) for fct_ns in (2000.0, 3000.0)]
        columns = ("size_bytes", "fct_ns", "standalone_ns", "end_ns")
        (evaluation / f"{name}.flows.csv").write_text(csv_text(columns, rows))
    assert main(["plot", "comparison", str(tmp_path), "--format", "pdf"]) == 0
    assert (evaluation / "comparison.png").exists()
    assert {file.name for file in (evaluation / "figures").iterdir()} == {"queue.pdf", "slowdown.pdf"}


def test_a_trace_s_panels_are_files(tmp_path: Path) -> None:
    short = {**NETWORK, "traffic": {"kind": "incast", "size_bytes": 30_000}}
    out, scenario = tmp_path / "out", dumped(tmp_path / "two.yaml", short)
    command = ["run", str(scenario), "--trace", "--controllers", "hpcc", "--out", str(out), "--format", "svg"]
    for _ in range(2):  # an earlier trace is replaced
        assert main(command) == 0
    panels = {file.stem: file.read_text() for file in (out / "hpcc" / "figures").iterdir()}
    assert {"rates", "windows", "queue", "marks", "pauses"} < set(panels)
    assert not any("<text" in svg for svg in panels.values()), "letters are shapes"


def bands(axes: Any) -> list[PolyCollection]:
    return [collection for collection in axes.collections if isinstance(collection, PolyCollection)]


def test_stretches_keep_the_extremes() -> None:
    times, values = np.arange(10_000.0), np.sin(np.arange(10_000.0))
    values[4321] = 9.0
    _, low, median, high = stretches(times, values, 100)
    assert (low.min(), high.max()) == (values.min(), 9.0)
    assert ((low <= median) & (median <= high)).all()


def many_flows(flows: int) -> Figure:
    """The trace of flows that start in sequence and last 1000 ns each; flow i has the rate i + 1."""
    starts = [10.0 * flow for flow in range(flows)]
    results = {
        "flows": {
            "src": list(range(flows)),
            "end_ns": [start + 1000 for start in starts],
            "fct_ns": [1000.0 + flow for flow in range(flows)],
            "standalone_ns": [1000.0] * flows,
            "pause_ns": [0] * flows,
        },
        "queues": [],
        "windows": [[start, flow, None, 1e9 * (flow + 1)] for flow, start in enumerate(starts)],
        "marks": [[start + 5, flow] for flow, start in enumerate(starts)],
        "pauses": [],
        "totals": {"end_ns": starts[-1] + 1000, "pfc_frames": 0},
    }
    return draw(results, "title")


def test_many_flows_are_bands_and_a_few_named_lines() -> None:
    rates, _, _, marks, _ = many_flows(300).axes
    labels = rates.get_legend_handles_labels()[1]
    assert labels[:3] == ["5 to 95 % of active flows", "25 to 75 %", "median"]
    assert labels[3:] == ["flow 299 (slowest)", "flow 149 (median)", "flow 0 (fastest)"]
    assert len(rates.lines) == 4
    assert any(isinstance(collection, QuadMesh) for collection in marks.collections)
    assert "ECN marks: 300; darkest" in marks.get_title()


def test_few_flows_are_a_line_each() -> None:
    rates, *_ = many_flows(MANY_FLOWS).axes
    assert len(rates.lines) == MANY_FLOWS
    assert not bands(rates)


def test_percentiles_are_of_the_flows_that_are_active() -> None:
    flows = {0: np.array([[0.0, 0, 10.0]]), 1: np.array([[50.0, 1, 20.0], [60.0, 1, 30.0]])}
    ends = {0: 100.0, 1: 70.0}
    instants = np.array([0.0, 55.0, 65.0, 80.0, 101.0])
    median = percentiles(flows, 2, ends, instants, np.array([50.0]))[0]
    assert median[:4].tolist() == [10.0, 15.0, 20.0, 10.0]
    assert np.isnan(median[4])
