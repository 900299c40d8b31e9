# SPDX-License-Identifier: GPL-2.0-or-later
"""Run configurations and their overrides, and errors that name file and key."""

from pathlib import Path
from typing import Any

import pytest

from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.configuration.inputs import apply_overrides, read_inputs
from ns3_env.agents.fdcc import FdccConfig
from ns3_env.agents.training.run import plan
from ns3_env.config.model import validate
from ns3_env.errors import ConfigError
from ns3_env.tasks import task
from tests.paths import ROOT

GOOD: dict[str, Any] = {
    "agent": {"name": "fdcc", "hidden": 8},
    "env": {"fields": ["rtt", "qlen"], "clock": {"name": "per_flow_rtt", "rtt_fraction": 0.5}},
}


def test_overrides_reach_into_sections_and_are_typed() -> None:
    data = apply_overrides(GOOD, ["train.decisions=7", "agent.net_arch=[4, 4]", "name=a-b"])
    config = validate(data, RunConfig, "x.yaml")
    assert config.train.decisions == 7
    assert isinstance(config.agent, FdccConfig)
    assert config.agent.net_arch == [4, 4]
    assert config.name == "a-b"
    assert "train" not in GOOD
    assert GOOD["agent"] == {"name": "fdcc", "hidden": 8}


def test_what_env_leaves_out_is_the_problem_of_the_curriculums_tasks(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("agent: {name: ppo}\nenv: {placement: simulator, reward: {name: slowdown}}")
    inputs = read_inputs(file, ROOT / "curricula/tasks.yaml")
    env, spec = plan(inputs, ["env.action.alpha=2"]).config.env, task("Incast")
    assert (tuple(env.fields), env.clock, env.reward.name) == (spec.fields, spec.clock, "slowdown")
    assert {"name": env.action.name, **env.action.settings} == {
        "name": spec.flow_action.name,
        **vars(spec.flow_action),
        "alpha": 2,
    }
    assert {key: value for key, value in env.spared.items() if value} == spec.spared
    of_fields = plan(inputs, ["env.fields=[rtt, fair_share]"]).config.env
    assert of_fields.fields == ["rtt", "fair_share"]


def test_what_tasks_of_a_curriculum_have_in_different_ways_has_to_be_written(tmp_path: Path) -> None:
    file, curriculum = tmp_path / "run.yaml", tmp_path / "curriculum.yaml"
    file.write_text("agent: {name: ppo}\nenv: {placement: simulator}")
    curriculum.write_text("tasks: [Incast, AllReduce]")
    with pytest.raises(
        ConfigError, match=r"run\.yaml: env\.reward: missing.*Incast and AllReduce.*write one"
    ):
        plan(read_inputs(file, curriculum))


def test_entries_of_lists_are_overridden_by_their_numbers() -> None:
    data = {"parts": [{"load": 0.1}, {"load": 0.2}]}
    assert apply_overrides(data, ["parts.1.load=0.3"]) == {"parts": [{"load": 0.1}, {"load": 0.3}]}
    assert data["parts"][1] == {"load": 0.2}


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("a: 1")
    bad.write_text("kind: tran")
    with pytest.raises(ConfigError, match=r"bad\.yaml: kind: there are 'train' and 'search', not 'tran'"):
        _ = read_inputs(bad, good).kind


def test_a_run_is_given_by_files_or_by_its_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--config and --curriculum are needed"):
        read_inputs(tmp_path / "config.yaml", None)
    with pytest.raises(ConfigError, match="--resume brings its own configuration"):
        read_inputs(tmp_path / "config.yaml", None, tmp_path)
    with pytest.raises(ConfigError, match=r"not the folder of a run: .*No such file"):
        read_inputs(None, None, tmp_path)
