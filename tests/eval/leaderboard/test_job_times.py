# SPDX-License-Identifier: GPL-2.0-or-later
"""Job times of a task beside its scores: what jobs.csv says, over the base's."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from pathlib import Path

import pytest

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.leaderboard.measured import job_times


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("jobs") / "out"
    assert (
        main(["benchmark", "--tasks", "AllReduce", "Joining", "--entries", "timely", "--out", str(out)]) == 0
    )
    return out


def completions(file: Path) -> list[float]:
    """Of each job, from its first iteration's start to its last one's end."""
    begins, ends = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    with file.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            begins[row["job"]].append(float(row["start_ns"]))
            ends[row["job"]].append(float(row["end_ns"]))
    return [max(ends[job]) - min(begins[job]) for job in begins]


def test_job_times_are_geometric_means_over_the_base(done: Path) -> None:
    (times,) = job_times(BenchFolder.read(done))  # Joining has no jobs
    assert (times.task, times.base) == ("AllReduce", "dcqcn")
    assert times.ratios["dcqcn"] == (1.0, 1.0)
    ratios = []
    for cell in sorted((done / "cells").glob("AllReduce-*")):
        own, base = (completions(next((cell / name).glob("*/jobs.csv"))) for name in ("timely", "dcqcn"))
        assert len(own) == len(base) == 2
        ratios.append((sum(own) / sum(base), max(own) / max(base)))
    assert len(ratios) == 10
    expected = [math.exp(sum(map(math.log, column)) / 10) for column in zip(*ratios, strict=True)]
    assert times.ratios["timely"] == pytest.approx(expected)
    assert list(times.ratios.values()) == sorted(times.ratios.values())


def test_the_leaderboard_has_them_below_the_scores(done: Path) -> None:
    text = (done / "leaderboard.md").read_text()
    assert text.index("## RDMA") < text.index("## Job times in AllReduce")
    assert "| dcqcn | 1.000 | 1.000 |" in text
    assert "Job times in Joining" not in text
