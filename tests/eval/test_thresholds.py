# SPDX-License-Identifier: GPL-2.0-or-later
"""Learned thresholds: trained, saved, and compared with constant ones on held-back scenarios."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ns3_env.agents.thresholds.config import read_config
from ns3_env.agents.thresholds.learner import PortActor, load, train
from ns3_env.errors import ConfigError
from ns3_env.eval.thresholds.compare import BASE, PUBLISHED, evaluate, slowdown_of, table
from ns3_env.eval.thresholds.episodes import constant, run_episode
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import charged_slowdowns
from ns3_env.tasks import task
from tests.paths import ROOT

SHORT = {"decisions": 1280, "options": {"n_steps": 32, "batch_size": 64, "n_epochs": 1}}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy after some decisions."""
    folder = tmp_path_factory.mktemp("runs") / "learned"
    train(read_config(ROOT / "configs" / "thresholds.yaml").model_copy(update=SHORT), folder)
    return folder


def test_the_same_seed_trains_the_same_policy(run: Path, tmp_path: Path) -> None:
    train(load(run)[0], tmp_path / "again")
    assert (run / "policy.npz").read_bytes() == (tmp_path / "again" / "policy.npz").read_bytes()


def test_a_folder_gives_the_policys_actions_and_another_file_is_refused(run: Path, tmp_path: Path) -> None:
    observations = np.random.default_rng(1).random((20, 7), dtype=np.float32)
    (config, model), (_, again) = load(run), load(run)
    first, second = (PortActor(x, config.history) for x in (model, again))
    for _ in range(4):
        assert np.array_equal(first(observations), second(observations))
    (tmp_path / "config.yaml").write_text("kind: thresholds\nhistorie: 2\n")
    with pytest.raises(ConfigError, match="nearest known one is 'history'"):
        load(tmp_path)


def test_constant_thresholds_are_those_of_a_scenario_without_agents() -> None:
    spec = task("Thresholds")
    scenario = spec.test(1)
    rule = constant(*PUBLISHED["DCQCN's paper"])
    ecn = {"kmin_bytes": 5e3, "kmax_bytes": 200e3, "pmax": 0.01, "at_rate_bps": 40e9}
    data = scenario.model_dump()
    data["switch"] |= {"ecn": ecn, "ecn_agents": None}
    with Simulator() as simulator:
        episode = run_episode(simulator, scenario, spec.problem(), rule)
        results = simulator.play(type(scenario).from_mapping(data, "x"))
    assert np.array_equal(episode.slowdowns, charged_slowdowns(results))


def test_the_table_scores_the_base_0_and_orders_as_slowdowns_do(run: Path) -> None:
    entries, reference = evaluate(replace(task("Thresholds"), tests=2), [run], tuning=1)
    rows = table(entries, reference)
    assert rows[BASE]["score"] == 0
    assert reference < min(row["slowdown"] for row in rows.values())
    by_score = sorted(rows, key=lambda name: -rows[name]["score"])
    assert by_score == sorted(rows, key=lambda name: rows[name]["slowdown"])
    learned = entries["learned"]
    assert rows["learned"]["slowdown"] == pytest.approx(
        np.exp(np.mean([np.log(slowdown_of(x)) for x in learned]))
    )
    assert {"learned, untrained", "random"} < set(rows)
    assert next(row["ratio"] for name, row in rows.items() if name.startswith("constant, by slowdown")) == 1
