# SPDX-License-Identifier: GPL-2.0-or-later
"""The share of the way from what is deployed to the oracle."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import yaml

from ns3_env.eval.benchmark.yardsticks import HEADING, ways
from ns3_env.eval.commands.evaluation import main
from tests.samples.suites import SUITE


def test_the_way_is_logarithmic_and_of_the_seeds_that_all_have() -> None:
    values = {
        "dcqcn": {1: 8.0, 2: 2.0},
        "oracle": {1: 2.0, 2: 0.5},
        "half": {1: 4.0, 2: 1.0},
        "beyond": {1: 1.0},
        "elsewhere": {7: 1.0},
    }
    found = ways(values, "rdma")
    assert [found[name] for name in ("dcqcn", "oracle", "half", "beyond")] == pytest.approx([0, 100, 50, 150])
    assert math.isnan(found["elsewhere"])


def test_without_either_end_there_is_none() -> None:
    assert ways({"dcqcn": {1: 2.0}, "hpcc": {1: 1.0}}, "rdma") == {}
    assert ways({"oracle": {1: 2.0}, "hpcc": {1: 1.0}}, "rdma") == {}
    assert ways({"dcqcn": {1: 2.0}, "oracle": {1: 2.0}}, "rdma") == {}
    assert ways({"dcqcn": {1: 2.0}, "oracle": {1: 1.0}}, "tcp") == {}


@pytest.mark.parametrize("with_oracle", [False, True])
def test_reports_have_it_where_both_have_played(
    with_oracle: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = ["oracle"] if with_oracle else []
    suite = {**SUITE, "scenarios": SUITE["scenarios"][:1], "controllers": ["hpcc", "dcqcn", *others]}
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(suite))
    assert main(["benchmark", str(tmp_path / "tiny.yaml"), "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    text, page = ((tmp_path / "out" / f"report.{kind}").read_text() for kind in ("md", "html"))
    assert (HEADING in text) == with_oracle
    assert ("100 % of the way to the oracle" in page) == with_oracle
    assert ("way" in shown) == with_oracle


def test_a_comparison_has_it_in_its_table_and_its_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "numbers.json"
    given = ["compare", "policy", "fdcc", "evaluation.controllers=[dcqcn,oracle]", "--json", str(file)]
    assert main(given) == 0
    assert "way" in capsys.readouterr().out
    found = json.loads(file.read_text())
    assert (found["dcqcn"]["way"], found["oracle"]["way"]) == (0, 100)
    assert 0 < found["policy"]["way"] < 100
