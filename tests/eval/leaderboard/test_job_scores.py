# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores of job times: their measure, the anchors of 0 and 100, and their leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.leaderboard.anchors import JOBS, group_of, outcome_of, value_of
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results
from ns3_env.tasks import TASKS
from ns3_env.tasks.anchors import anchors_of

#: Tasks of jobs, and of each the test with the fewest bytes.
SHORTEST = {"Training": 9, "SharedCluster": 1}
RING = {"kind": "collective", "algorithm": "ring_all_reduce", "ranks": [0, 1, 2], "size_bytes": 600_000}


def value(results: Results) -> float:
    """SharedCluster's measure, ms."""
    slowdowns, time_ns = outcome_of(results)
    return value_of(TASKS["SharedCluster"], slowdowns, slowdowns, time_ns)


def play(*parts: dict[str, Any], **changes: Any) -> Results:
    content = {
        "topology": {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 6},
        "traffic": {"kind": "mix", "parts": list(parts)},
        "controllers": ["dcqcn"],
        **changes,
    }
    with Simulator() as simulator:
        return simulator.play(Scenario.from_mapping(content, "x"))


def burst(size_bytes: int, start_ns: int = 0) -> dict[str, Any]:
    """Storage traffic, on separate hosts."""
    flows = [{"src": src, "dst": 5, "size_bytes": size_bytes, "start_ns": start_ns} for src in (3, 4)]
    return {"kind": "list", "flows": flows}


def test_jobs_count_and_bursts_do_not() -> None:
    alone, short, long = play(RING), play(RING, burst(1_000)), play(RING, burst(9_000_000))
    assert long["totals"]["end_ns"] > 3 * alone["totals"]["end_ns"]
    assert value(alone) == value(short) == value(long) > 0


def test_a_value_is_the_mean_of_the_jobs_in_milliseconds() -> None:
    other = {**RING, "ranks": [3, 4, 5], "size_bytes": 3_000_000, "start_ns": 50_000}
    first, second, both = (value(play(*parts)) for parts in ([RING], [other], [RING, other]))
    assert both == pytest.approx((first + second) / 2)
    assert 0.05 < first < second < 1


def test_a_job_that_is_cut_lasts_until_the_time_limit() -> None:
    whole = value(play(RING))
    results = play(RING, {**RING, "ranks": [3, 4, 5], "size_bytes": 60_000_000}, time_limit_ns=2_000_000)
    assert value(results) == pytest.approx((whole + 2.0) / 2)


@pytest.mark.parametrize(("name", "number"), SHORTEST.items())
def test_the_base_has_0_and_the_reference_100(name: str, number: int) -> None:
    spec = TASKS[name]
    anchors = anchors_of(spec)
    assert (anchors.base, group_of(spec)) == ("dcqcn", JOBS)
    with Simulator() as simulator:
        for controller, expected in (
            ("dcqcn", anchors.base_values),
            (spec.reference, anchors.reference_values),
        ):
            reached = value(simulator.play(spec.test(number).under(controller)))
            assert reached == pytest.approx(expected[number], rel=1e-9)
    assert np.mean([anchors.score(i, x) for i, x in enumerate(anchors.base_values)]) == 0
    assert np.mean([anchors.score(i, x) for i, x in enumerate(anchors.reference_values)]) == pytest.approx(
        100
    )


@pytest.mark.slow
def test_they_have_a_leaderboard_of_their_own(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["leaderboard", "Training", "--entries", "constant-window", "--out", str(out)]) == 0
    text = (out / "leaderboard.md").read_text()
    assert "## Jobs" in text
    assert "## RDMA" not in text
    assert "The score counts the first column." in text
    scores = pandas.read_parquet(out / "scores.parquet")
    means = scores.groupby("entry")["score"].mean()
    assert means["dcqcn"] == pytest.approx(0, abs=1e-6)
    assert means["oracle"] == pytest.approx(100)
    jobs = pandas.read_csv(next((out / "cells" / "Training-v3-3" / "constant-window").glob("*/jobs.csv")))
    (row,) = scores[(scores["entry"] == "constant-window") & (scores["test_seed"] == 3)].to_dict("records")
    assert row["value"] == pytest.approx((jobs["end_ns"].max() - jobs["start_ns"].min()) / 1e6)
