# SPDX-License-Identifier: GPL-2.0-or-later
"""Ablations: each variant trained with each seed, judged alike, and continued after a stop."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.training.ablation_run import Planned
from tests.paths import ROOT
from tests.samples.ablations import ablation


def test_every_variant_is_judged_and_nothing_is_done_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compare", "variants", str(ablation(tmp_path)), "--out", str(tmp_path / "out")]
    assert main(command) == 0
    with (tmp_path / "out" / "table.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["variant"], row["seed"]) for row in rows] == [
        ("usual", "1"), ("usual", "2"), ("short", "1"), ("short", "2")
    ]  # fmt: skip
    assert all(0 < float(row["2-to-1/goodput"]) < 1 for row in rows)
    assert "| another | 2 |" in capsys.readouterr().out
    (tmp_path / "out" / "short-2.json").unlink()
    runs = len(list((tmp_path / "out" / "runs").iterdir()))
    assert main(command) == 0
    assert len(list((tmp_path / "out" / "runs").iterdir())) == runs + 1


def test_a_variant_that_is_wrong_is_named_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="variant 'short': agent: unknown key 'hiden'"):
        Planned(ablation(tmp_path, override="agent.hiden=3"))
    with pytest.raises(ConfigError, match="two variants have the same name"):
        Planned(ablation(tmp_path, name="usual"))
    assert not (tmp_path / "out").exists()


def test_the_one_that_comes_with_the_project_can_run() -> None:
    planned = Planned(ROOT / "configs" / "ablations" / "fdcc.yaml")
    assert len(planned.of.seeds) == 3
