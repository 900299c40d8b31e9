# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m eval paper``: every experiment at a tiny scale, its folder, its block of a page."""

from __future__ import annotations

import csv
import functools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import ns3_env
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.papers.experiments import EXPERIMENTS, paper
from ns3_env.eval.papers.fdcc.claims import UNLEARNED
from ns3_env.eval.papers.mpcc import link
from ns3_env.eval.papers.outcome import Grid, Outcome, Row, combine
from ns3_env.eval.papers.panels import Drawing
from ns3_env.eval.papers.rttmpc import buffers, sharing
from ns3_env.eval.papers.show import markdown, number, refresh

#: Scales at which an experiment needs a second or two, if not a hundredth of its default.
TINY = {
    "mpcc-leaving": 0.001,
    "mpcc-fat-tree": 0.01,
    "fdcc-pay": 0.1,
    "fdcc-long-short": 0.05,
    "fdcc-joining": 0.01,
    "lynn-sharing": 1e-4,
    "lynn-one-flow": 0.001,
    "lynn-buffers": 1e-4,
    "lynn-10g": 0.004,
    "irn-workload": 0.01,
    "irn-incast": 0.001,
    "hpcc-fct": 0.0001,
    "roce-training": 0.01,
}
#: Experiments that another one plays with other settings: mpcc-queue-1us, fdcc-websearch.
TWINS = ("mpcc-queue-1ms", "fdcc-hadoop")
PICTURES = Path(__file__).parents[3] / "docs" / "images" / "paper"


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of an experiment by its name, run once; result.json is copied to copy.json next to it."""

    @functools.cache
    def play(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        scale = str(TINY.get(name, EXPERIMENTS[name].declared.scale / 100))
        options = ["--scale", scale, "--out", str(folder / "new" / "out")]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(link, "BENCHMARKS", 1)
            patch.setattr(sharing, "SECONDS", 3.0)
            patch.setattr(buffers, "SECONDS", 1.0)
            assert main(["paper", name, *options, "--json", str(folder / "copy.json")]) == 0
        return folder

    return play


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in TWINS else []) for name in EXPERIMENTS],
)
def test_every_experiment_leaves_figures_series_and_numbers(
    name: str, folder_of: Callable[[str], Path]
) -> None:
    out = folder_of(name) / "new" / "out"
    result = json.loads((out / "result.json").read_text())
    assert result == json.loads((folder_of(name) / "copy.json").read_text())
    assert result["experiment"] == name
    for picture in result["pictures"]:
        image = (out / picture).read_bytes()
        assert image.startswith(b"\x89PNG")
        assert len(image) < 120_000
        assert (PICTURES / picture).exists()
    table = ns3_env.load_results(out).table
    assert not table.duplicated(["entry", "scenario", "seed", "metric"]).any()
    assert len(table) > 0 or not (result["rows"] or result["grids"])
    for file in {*out.glob("*.csv")} - {out / "results.csv"}:
        assert f"{file.stem}.png" in result["pictures"]
        with file.open(newline="", encoding="utf-8") as lines:
            assert {row["panel"] for row in csv.DictReader(lines)}
    assert result["claims"]
    assert all(claim["evidence"] for claim in result["claims"])


def test_an_experiments_folder_is_replaced(tmp_path: Path) -> None:
    runs = [paper("mpcc-queue-1ms", tmp_path / "out", scale=0.1)["rows"] for _ in range(2)]
    assert runs[0] == runs[1]


CLAIMS = """| claim | verdict | evidence |
|---|---|---|
| d | does not hold | x |
"""
NUMBERS = """Published and ours
quantity,source,published,ours,deviation
queue zero (ns),5.2.1,140334,147900,+5.4 %
one decision (ns),5.2.2,255952,1420,-99.4 %
only here (B),,–,10000,–

more
case,x
one,0.5
"""


def test_a_page_gets_claims_between_its_marks_and_counts_all_verdicts(tmp_path: Path) -> None:
    """Verdicts of an experiment that was not run again also count: they are read from the page."""
    outcome = Outcome(
        rows=(
            Row("queue zero", "ns", 140_334, 147_900, "5.2.1"),
            Row("one decision", "ns", 255_952, 1420, "5.2.2"),
            Row("only here", "B", None, 1e4),
        ),
        claims={
            "it works": (False, "a | b"),
            "it works; again": (True, "x"),
            "a | b": (True, "x"),
            "c": (None, "x"),
        },
        grids=(Grid("more", ("case", "x"), (("one", 0.5),)),),
        pictures={"fig": Drawing(())},
    )
    run, page = tmp_path / "runs" / "one", tmp_path / "docs" / "papers" / "page.md"
    for folder in (run, page.parent):
        folder.mkdir(parents=True)
    (run / "result.json").write_text(json.dumps({"size": "scale 1", **outcome.as_dict()}))
    (run / "fig.png").write_bytes(b"PNG")
    blocks = {"claims": "stale\n", "one": "stale\n", "two": CLAIMS}
    page.write_text("".join(f"<!-- begin {x} -->\n{text}<!-- end {x} -->\na\n" for x, text in blocks.items()))
    pictures = tmp_path / "docs" / "images" / "paper"
    assert refresh(page, tmp_path / "runs", pictures) == ["one"]
    text = page.read_text()
    for line in (
        "*Scale 1.* [All numbers](tables/one.csv).",
        "Within 10 % of the paper's numbers: 1 of 2. The others:",
        "| one decision (ns) | 255,952 | 1,420 |",
        "| it works | does not hold | a \\| b |",
        "| The same, again | holds | x |",
        "![fig](../images/paper/fig.png)",
        "| [one](#one) | 2 | 1 | 1 |",
        "| [two](#two) | 0 | 1 | 0 |",
    ):
        assert f"\n{line}\n" in text
    assert "stale" not in text
    assert "queue zero" not in text
    assert (page.parent / "tables" / "one.csv").read_text() == NUMBERS
    assert CLAIMS in text
    assert (pictures / "fig.png").read_bytes() == b"PNG"
    assert refresh(page, tmp_path / "runs", pictures) == ["one"]
    assert page.read_text() == text


def test_numbers_are_short() -> None:
    values = (None, "mpcc", 3.0, 0.24981, 140_334.4, float("1e-5"))
    assert [number(x) for x in values] == ["–", "mpcc", "3", "0.2498", "140,334", "1e-05"]
    empty = {"size": "all of it", "pictures": [], "rows": [], "grids": [], "claims": [], "notes": ["x"]}
    assert markdown(empty) == "*All of it.*\n\n- x\n"


def test_seeds_give_intervals_and_count_how_often_a_claim_holds(
    tmp_path: Path, folder_of: Callable[[str], Path]
) -> None:
    options = ["--scale", "0.0002", "--seeds", "1-2", "--out", str(tmp_path / "two")]
    assert main(["paper", "fdcc-incast", *options]) == 0
    result = json.loads((tmp_path / "two" / "result.json").read_text())
    alone = json.loads((folder_of("fdcc-incast") / "copy.json").read_text())
    assert result["seeds"] == [1, 2]
    cell = result["grids"][0]["rows"][0][2]
    assert cell["low"] <= cell["mean"] <= cell["high"]
    assert cell["low"] < cell["high"]
    assert not isinstance(alone["grids"][0]["rows"][0][2], dict)
    judged = [claim["evidence"] for claim in result["claims"] if claim["holds"] is not None]
    assert judged
    assert {x["evidence"] for x in result["claims"] if x["holds"] is None} == {UNLEARNED[1]}
    assert all(" of 2; the first: " in evidence for evidence in judged)


@pytest.mark.parametrize(
    ("holds", "verdict", "words"),
    [
        ([True, True], True, "holds in 2 of 2"),
        ([True, False], False, "holds in 1 of 2"),
        ([True, None], None, "holds in 1 of 2"),
    ],
)
def test_a_claim_holds_where_it_does_with_every_seed(
    holds: list[bool | None], verdict: bool | None, words: str
) -> None:
    outcomes = [
        Outcome(rows=[Row("x", "", 2.0, 1.0 + i)], claims={"one": (x, "because")}).as_dict()
        for i, x in enumerate(holds)
    ]
    both = combine(outcomes)
    assert both["claims"] == [{"text": "one", "holds": verdict, "evidence": f"{words}; the first: because"}]
    assert both["rows"][0]["ours"] == {"mean": 1.5, "low": 1.0, "high": 2.0}
    assert both["rows"][0]["deviation"] == -0.25
