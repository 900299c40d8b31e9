# SPDX-License-Identifier: GPL-2.0-or-later
"""A new agent, declared and registered by a line: trained, compared, and loaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import train
from examples.ddpg import DdpgTrainer
from ns3_env.agents.configuration.registry import AGENTS, find_agent
from ns3_env.agents.runs.checkpoint import TrainedPolicy, load_checkpoint
from ns3_env.agents.trainer.trainer import Trainer
from ns3_env.errors import ConfigError
from ns3_env.policies.native_policy import NetworkPolicy

CONFIG = """
agent: {name: ddpg, learning_starts: 20}
env:
  fields: [rtt, qlen]
  clock: {name: synchronous, interval_ns: 5000}
train: {decisions: 60}
evaluation:
  controllers: [hpcc]
  scenario:
    topology: {kind: dumbbell, senders: 2}
    traffic: {kind: incast, size_bytes: 20000}
    time_limit_ns: 100000
"""
CURRICULUM = """
stages:
  - name: two
    scenario:
      time_limit_ns: 100000
      topology: {kind: dumbbell, senders: 2}
      traffic: {kind: incast, size_bytes: 50000}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setitem(AGENTS, "ddpg", "examples.ddpg")
    (tmp_path / "config.yaml").write_text(CONFIG)
    (tmp_path / "curriculum.yaml").write_text(CURRICULUM)
    return [
        "--config", str(tmp_path / "config.yaml"),
        "--curriculum", str(tmp_path / "curriculum.yaml"),
        "--runs", str(tmp_path / "runs"),
    ]  # fmt: skip


def test_an_agent_that_is_declared_trains_is_compared_and_loaded(files: list[str], tmp_path: Path) -> None:
    assert train.main([*files, "--json", str(tmp_path / "t.json")]) == 0
    assert set(json.loads((tmp_path / "t.json").read_text())) == {"ddpg", "hpcc", "constant window"}
    (run,) = (tmp_path / "runs").iterdir()
    loaded = load_checkpoint(run)
    assert isinstance(loaded, TrainedPolicy)
    assert loaded.policy.fields == ("rtt", "qlen")
    assert loaded.clock is not None
    assert loaded.clock.name == "synchronous"
    assert isinstance(loaded.policy, NetworkPolicy)


def test_an_agent_that_does_not_say_what_its_network_is_plays_by_its_own_code(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DdpgTrainer, "network", Trainer.network)
    assert train.main(files) == 0
    (run,) = (tmp_path / "runs").iterdir()
    assert not list(run.rglob("policy.safetensors"))
    loaded = load_checkpoint(run)
    assert isinstance(loaded, TrainedPolicy)
    assert loaded.policy.fields == ("rtt", "qlen")


def test_its_mistakes_are_named_as_any_others(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for override, words in (
        ("agent.learning_start=1", "unknown key 'learning_start'; the nearest known one is 'learning_s"),
        ("env.clock={name: per_flow_rtt}", "ddpg needs 'synchronous'"),
    ):  # fmt: skip
        assert train.main([*files, override]) == 2
        assert words in capsys.readouterr().err


def test_an_agent_that_nobody_declared_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="there is no agent 'ddpg'; known: 'fdcc', 'ppo', 'rlcc', 'sac', 'td3'"
    ):
        find_agent("ddpg")
    (tmp_path / "layout.json").write_text('{"agent": "ddpg"}')
    with pytest.raises(ConfigError, match=r"layout\.json: there is no agent 'ddpg'"):
        load_checkpoint(tmp_path)
