# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a benchmark: self-contained, complete, with a winner only beyond doubt."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.standings import UNDECIDED, standings
from ns3_env.eval.benchmark.summary import show as show_summary
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.output.plots import envelope
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.report import pictures, write
from ns3_env.eval.report.figures import pareto_front
from tests.samples import report_folder
from tests.samples.files import Refused

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
