# SPDX-License-Identifier: GPL-2.0-or-later
"""``benchmark --watch``: films of the cells that record series, and the report's links to them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ns3_env.eval.benchmark.films import _sampled
from ns3_env.eval.benchmark.folder import BenchFolder, fingerprint
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.film.page import MARK
from ns3_env.eval.film.recording import FILE
from tests.samples.files import dumped

NETWORK = {
    "topology": {"kind": "dumbbell", "senders": 3},
    "traffic": {"kind": "incast", "size_bytes": 60_000},
    "time_limit_ns": 10_000_000,
}
SUITE = {
    "seeds": [4, 5],
    "controllers": ["hpcc", "mpcc", "oracle"],
    "scenarios": [
        {"name": "kept", "title": "Kept", "scenario": NETWORK},
        {"name": "bare", "title": "Bare", "series": False, "scenario": NETWORK},
    ],
}


def play(folder: Path, *more: str) -> int:
    return main(["benchmark", str(folder / "two.yaml"), "--out", str(folder / "out"), "--jobs", "1", *more])


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark that was complete without films, and then watched."""
    folder = tmp_path_factory.mktemp("watched")
    dumped(folder / "two.yaml", SUITE)
    with pytest.MonkeyPatch.context() as patch:  # its figures need most of the time
        patch.setattr("ns3_env.eval.report.write", lambda out, *more: out)
        assert play(folder) == 0
    results = folder / "out" / "cells"
    assert not list(results.rglob("film*"))
    before = {path: path.read_bytes() for path in results.rglob("flows.csv")}
    assert play(folder, "--watch") == 0
    assert {path: path.read_bytes() for path in results.rglob("flows.csv")} == before
    return folder / "out"


def test_what_keeps_series_has_a_film_of_its_first_seed_under_all_who_send_packets(out: Path) -> None:
    cells = out / "cells"
    sampled = sorted(str(path.parent.relative_to(cells)) for path in cells.rglob("film.npz"))
    assert sampled == ["kept/hpcc/seed-4", "kept/mpcc/seed-4"]
    (page,) = cells.rglob("*.html")
    assert page == cells / "kept" / "film.html"
    text = page.read_text()
    assert text.startswith(MARK)
    content = re.search(r'<script id="content"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert content is not None
    assert [run["name"] for run in json.loads(content[1])["runs"]] == ["hpcc", "mpcc"]


def test_the_report_links_each_cell_to_its_film(out: Path) -> None:
    page = (out / "report.html").read_text()
    links = re.findall(r'href="(cells/[^"]*)"', page)
    assert links == ["cells/kept/film.html"] * 2
    assert all((out / link).is_file() for link in links)
    rows = re.findall(r'<tr data-controller="([^"]*)">(?:(?!</tr>).)*cells/kept/film.html', page, re.DOTALL)
    assert rows == ["hpcc", "mpcc"]


def test_a_film_makes_no_cell_stale(out: Path) -> None:
    folder = BenchFolder.read(out)
    assert folder.complete
    assert not folder.stale
    case, entry, seed = next(folder.suite.cells())
    sampled = case.scenario.model_copy(
        update={"record": case.scenario.record.model_copy(update={"film_ns": 500})}
    )
    assert fingerprint(sampled, entry, seed, {}) == fingerprint(case.scenario, entry, seed, {})


def test_samples_of_a_later_seed_are_in_no_film(out: Path) -> None:
    (out / "cells" / "kept" / "hpcc" / "seed-5" / FILE).touch()
    assert _sampled(BenchFolder.read(out))["kept"]["hpcc"].name == "seed-4"
