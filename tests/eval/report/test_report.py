# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a benchmark, self-contained and complete; its figures for papers, file by file."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.figure import Figure
from rich.console import Console

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.standings import UNDECIDED, standings
from ns3_env.eval.benchmark.summary import show as show_summary
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.flow_series import MANY_FLOWS, percentiles
from ns3_env.eval.episodes.trace import draw
from ns3_env.eval.output.multiples import stretches
from ns3_env.eval.output.plots import (
    COLUMN_IN,
    envelope,
    for_paper,
    new_axes,
    save,
)
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.report import pictures, write
from ns3_env.eval.report.figures import pareto_front
from tests.samples import report_folder
from tests.samples.files import Refused, dumped

#: Attributes from which a browser loads something.
LOADING = {"src", "href", "srcset", "data", "poster", "action", "background", "xlink:href"}


class Tags(HTMLParser):
    """Every tag with its attributes, and the text in between."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def lacking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a failed, a missing and a stale cell, and its reports."""
    path = report_folder.write(tmp_path_factory.mktemp("bench") / "run")
    report_folder.fail(path, "equal", "hpcc", 2, "SimulatorDied: <script>alert(1)</script>\nlast | words")
    report_folder.remove(path, "equal", "mpcc", 3)
    report_folder.make_stale(path, "sizes", "fast", 1, fct_slowdown_avg=777.25)
    write(path)
    return path


def test_the_page_loads_nothing(lacking: Path) -> None:
    page = (lacking / "report.html").read_text()
    tags = Tags(page).tags
    assert not {"link", "iframe", "object", "embed", "base"} & {tag for tag, _ in tags}
    assert [attributes for tag, attributes in tags if tag == "script"] == [{}], "one of its own, inside"
    for _, attributes in tags:
        for name in LOADING & set(attributes):
            assert (attributes[name] or "").startswith(("data:", "#")), (name, attributes[name])
    assert not re.search(r"@import|url\(", page)
    assert len([tag for tag, _ in tags if tag == "img"]) >= 5


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_what_is_not_there_is_named(lacking: Path, name: str) -> None:
    text = (lacking / name).read_text()
    text = Tags(text).text if name.endswith("html") else text
    assert "39 of 42 cells" in text
    for place in ("equal, hpcc, seed 2", "equal, mpcc, seed 3", "sizes, fast, seed 1"):
        assert text.count(place) == 1, place
    assert "last" in text
    assert "777.25" not in text


def test_what_is_not_there_is_not_averaged(lacking: Path) -> None:
    equal, sizes = standings(BenchFolder.read(lacking))
    rows = {row.controller: row for row in equal.rows}
    assert rows["hpcc"].scores["fct_slowdown_avg"].mean == pytest.approx((7 * 3.2 - 3.4) / 6)
    assert (rows["hpcc"].seeds, rows["hpcc"].expected, rows["hpcc"].note) == (6, 7, "1 failed")
    assert rows["mpcc"].note == "1 missing"
    assert {row.controller: row.note for row in sizes.rows} == {"fast": "1 stale", "hpcc": "", "mpcc": ""}
    assert sizes.rows[0].scores["fct_slowdown_avg"].mean == pytest.approx((7 * 2.05 - 2.0) / 6)


@pytest.mark.parametrize(
    "name",
    [
        "<img src=x onerror=y> | a & b",
        "[[content]] <!--<script> </script></title> {{ 1 }} $\\frac{ \"'",
    ],
)
def test_names_titles_and_errors_stay_text(name: str, tmp_path: Path) -> None:
    suite = report_folder.suite(scenarios=1, title=name)
    wild = suite.scenarios[0].model_copy(update={"title": name, "group": f"<b>`{name}`"})
    path = report_folder.write(tmp_path / "run", suite.model_copy(update={"scenarios": [wild]}))
    report_folder.fail(path, "equal", "hpcc", 2, "</div><script>alert(1)</script>")
    page = write(path).read_text()
    assert re.findall(r"<(/?script|!--|/title|img src=x)", page) == ["/title", "script", "/script"]
    assert "alert(1)" in Tags(page).text
    assert Tags(page).text.count(name) >= 3
    text = (path / "report.md").read_text()
    assert "<script" not in text
    assert "<img" not in text
    assert name.replace("|", "\\|").replace("<", "&lt;") in text


def test_a_winner_is_better_than_each_other_one_for_sure(tmp_path: Path) -> None:
    path = report_folder.write(tmp_path / "run", report_folder.suite(scenarios=1))
    verdicts = standings(BenchFolder.read(path))[0].verdicts
    assert verdicts["fct_slowdown_avg"].winner == "fast"
    assert (verdicts["goodput"].winner, verdicts["goodput"].text) == (None, UNDECIDED)  # all alike
    page = write(path).read_text()
    won = re.findall(r'<td class="won"[^>]*>([\d.,]+) ★', page)
    assert "2.05" in won
    assert "3.20" not in won
    text = (path / "report.md").read_text()
    assert re.search(r"\*\*2.05 \[2.0\d–2.0\d\]\*\*", text)
    assert re.search(r"3.20 \[3.\d+–3.\d+\]; × 1.5\d+ \(1.5\d+–1.5\d+\) of fast", text)
    assert '<span class="edge worse">× 1.56' in page


def test_every_row_is_compared_with_the_best_entry_policies_included(tmp_path: Path) -> None:
    policy = {"name": "fast", "checkpoint": "fdcc"}
    suite = report_folder.suite(scenarios=1, controllers=["hpcc", "mpcc", policy, "dcqcn"])
    folder = BenchFolder.read(report_folder.write(tmp_path / "run", suite))
    (standing,) = standings(folder, ["fct_slowdown_avg"])
    others = {row.controller: row.scores["fct_slowdown_avg"].edge for row in standing.rows}
    assert standing.best["fct_slowdown_avg"] == "fast"
    assert others.pop("fast") is None
    assert {edge and edge.other for edge in others.values()} == {"fast"}
    console = Console(width=80, file=io.StringIO())
    show_summary(folder, console)
    text = console.file.getvalue()
    assert "equal (best: fast)" in text
    for edge in others.values():
        assert edge is not None
        assert f"{edge.difference.low:.3f}–{edge.difference.high:.3f}" in text


def test_sizes_are_compared_flow_by_flow(tmp_path: Path) -> None:
    """Each flow counts as its own ratio: one that stalls under both hides no other difference."""
    suite = report_folder.suite(controllers=["hpcc", "mpcc"])
    path = report_folder.write(tmp_path / "run", suite, fct_slowdown_to_10kB_avg=3.0)
    for seed in suite.seeds:
        for who, factor in (("hpcc", 1.0), ("mpcc", 0.9)):
            slowdowns = [factor * 2, factor * 3, factor * 4, 500.0 * seed]
            rows = [(i, 2, 5_000, 0, 5_000 * x, 5_000, 5_000 * x, 1) for i, x in enumerate(slowdowns)]
            text = csv_text(report_folder.FLOWS, rows)
            (path / f"cells/sizes/{who}/seed-{seed}/flows.csv").write_text(text)
    _, of_sizes = standings(BenchFolder.read(path))
    metric = "fct_slowdown_to_10kB_avg"
    assert of_sizes.verdicts[metric].winner == "mpcc"
    edge = {row.controller: row.scores[metric].edge for row in of_sizes.rows}["hpcc"]
    assert edge is not None
    assert edge.difference.estimate == pytest.approx(0.9 ** (-3 / 4))


@pytest.mark.parametrize(
    ("changes", "metrics", "reason"),
    [
        ({"controllers": ["hpcc", "mpcc"]}, {}, UNDECIDED),  # now better, now worse
        ({"seeds": [1]}, {}, "undecided: 1 seed, 7 needed"),
        ({"seeds": [1, 2, 3, 4, 5, 6]}, {}, "undecided: 6 seeds, 7 needed"),
        ({"controllers": ["hpcc"]}, {}, "undecided: nothing to compare"),
        ({}, {"unfinished_flows": 1}, "undecided: flows unfinished"),
        ({}, {"fct_slowdown_avg": None}, "–"),
    ],
)
def test_what_cannot_be_decided_says_why(
    tmp_path: Path, changes: dict[str, list[object]], metrics: dict[str, float | None], reason: str
) -> None:
    path = report_folder.write(tmp_path / "run", report_folder.suite(**changes), **metrics)
    verdict = standings(BenchFolder.read(path))[0].verdicts["fct_slowdown_avg"]
    assert (verdict.winner, verdict.text) == (None, reason)


def test_a_scenario_with_a_lacking_cell_has_no_winner(lacking: Path) -> None:
    equal, sizes = standings(BenchFolder.read(lacking))
    for scenario in (equal, sizes):
        assert scenario.verdicts["fct_slowdown_avg"].text == "undecided: cells lacking"


def test_a_folder_without_any_cell_has_a_report(tmp_path: Path) -> None:
    suite = report_folder.suite(scenarios=1, seeds=[1])
    path = report_folder.write(tmp_path / "run", suite)
    for entry, who, seed in suite.cells():
        report_folder.remove(path, entry.name, who.name, seed)
    page = Tags(write(path).read_text())
    assert "0 of 3 cells" in page.text
    assert not [tag for tag, _ in page.tags if tag == "img"]


@pytest.mark.parametrize("what", ["absent", "empty", "training"])
def test_another_folder_is_an_error_that_says_what_would_be_right(
    tmp_path: Path, what: str, refused: Refused
) -> None:
    path = tmp_path / "run"
    if what != "absent":
        path.mkdir()
    if what == "training":
        (path / "config.yaml").write_text("seed: 1\n")
    error = refused(main, "report", path)
    assert str(path) in error
    assert "eval benchmark" in error
    assert not (path / "report.html").exists()


def test_a_spoilt_cell_is_an_error_that_names_the_file(tmp_path: Path, refused: Refused) -> None:
    path = report_folder.write(tmp_path / "run", report_folder.suite(scenarios=1, seeds=[1]))
    spoilt = path / "cells" / "equal" / "hpcc" / "seed-1" / "flows.csv"
    spoilt.write_text("src,dst\n1,2\n")
    error = refused(main, "report", path)
    assert str(spoilt) in error
    assert "size_bytes" in error


def test_a_thinned_curve_keeps_its_extremes() -> None:
    times = np.arange(10_000.0)
    values = np.sin(times)
    values[[137, 9_001]] = 50.0, -50.0
    sample_times, heights = envelope(times, values, 100)
    assert len(sample_times) <= 200
    assert (heights.max(), heights.min()) == (50.0, -50.0)
    assert (np.diff(sample_times) > 0).all()


def test_the_front_holds_who_is_beaten_by_nobody() -> None:
    points = {
        "low": (1.0, 0.5),
        "high": (9.0, 0.9),
        "beaten": (9.5, 0.8),
        "also": (1.0, 0.4),
        "mid": (4.0, 0.7),
    }
    assert pareto_front(points) == ["low", "mid", "high"]


def test_a_bound_is_shown_and_not_ranked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("benchmark.standings", "report.pictures"):
        monkeypatch.setattr(f"ns3_env.eval.{module}.references", lambda transport: frozenset({"dctcp"}))
    folder = BenchFolder.read(report_folder.write(tmp_path / "run"))
    standing = standings(folder, ["fct_slowdown_avg"])[0]
    rows = {row.controller: row for row in standing.rows}
    assert rows["fast"].reference
    assert rows["fast"].note == "a bound, not ranked"
    assert rows["fast"].scores["fct_slowdown_avg"].text == "2.05"
    assert rows["fast"].scores["fct_slowdown_avg"].edge is None
    edge = rows["mpcc"].scores["fct_slowdown_avg"].edge
    assert edge is not None
    assert edge.other == standing.best["fct_slowdown_avg"] == "hpcc"
    assert standing.verdicts["fct_slowdown_avg"].winner is None, "'fast' is significantly better than both"
    looks = pictures.looks_of(folder.suite)
    assert looks["fast"].colour == "#888888"
    assert looks["fast"].line == "--"
    assert "#888888" not in {looks["hpcc"].colour, looks["mpcc"].colour}


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
