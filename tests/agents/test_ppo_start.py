# SPDX-License-Identifier: GPL-2.0-or-later
"""PPO's start as a policy's network, its critic before its actor, and refusals."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import train
from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.sb3.ppo import PpoTrainer
from ns3_env.agents.training.layout import read_arrays
from ns3_env.agents.training.learned import POLICY
from ns3_env.agents.training.rollout_env import SpacesOnly
from ns3_env.config.model import validate
from ns3_env.config.yaml import put
from ns3_env.errors import ConfigError
from ns3_env.policies.file import POLICY_FILE, read_policy
from ns3_env.policies.released import released
from ns3_env.policies.tensors import Tensors
from tests.paths import ROOT
from tests.samples.runs import checkpoints, the_run, written

START = read_policy(released("dispatcher"))
INCAST: dict[str, Any] = {
    "time_limit_ns": "1ms",
    "topology": {"kind": "dumbbell", "senders": 3},
    "traffic": {"kind": "incast", "size_bytes": 300_000, "spread_ns": 20_000},
}


def configured(**overrides: Any) -> dict[str, Any]:
    """The content of configs/ppo-drawn.yaml, with dotted keys (``__`` for a dot) changed."""
    config: dict[str, Any] = yaml.safe_load((ROOT / "configs/ppo-drawn.yaml").read_text())
    for key, value in overrides.items():
        config = put(config, key.replace("__", "."), value)
    return config


def trainer(**overrides: Any) -> PpoTrainer:
    """A trainer that has not learned."""
    config = validate(configured(**overrides), RunConfig, "ppo-drawn.yaml")
    env = config.env
    return PpoTrainer(config, SpacesOnly(env.fields, env.action.name, 1, env.action.settings))


def same(some: Tensors, others: Tensors) -> bool:
    return all(np.array_equal(some[name], others[name]) for name in others)


def run(folder: Path, **overrides: Any) -> Path:
    """The folder of a short run on incasts, a checkpoint after each update."""
    config = configured(
        agent__options__n_steps=100,
        agent__options__batch_size=64,
        agent__options__n_epochs=2,
        train={"decisions": 1000, "checkpoint_every": 1, "keep_checkpoints": 100},
        **overrides,
    )
    validation = {"every_episodes": 3, "episodes": 1, "score": "slowdown"}
    curriculum = {"validation": validation, "stages": [{"name": "incast", "scenario": INCAST}]}
    assert train.main([*written(folder, config, curriculum), "--no-evaluation"]) == 0
    return the_run(folder)


def critics(folders: Sequence[Path]) -> list[Any]:
    return [read_arrays(folder / POLICY)["value_net.weight"] for folder in folders]


def test_it_begins_as_the_file_to_the_bit_with_what_that_spares() -> None:
    policy = trainer().export()
    assert same(policy.tensors, START.tensors)
    unlike = {"training": True, "action": {"least_packets"}}
    assert policy.spec.model_dump(exclude=unlike) == START.spec.model_dump(exclude=unlike)


def test_the_actor_stays_until_its_critic_has_learned(tmp_path: Path) -> None:
    folders = checkpoints(run(tmp_path, agent__actor_starts=4))
    actors = [same(read_policy(folder / POLICY_FILE).tensors, START.tensors) for folder in folders]
    assert actors[:4] == [True, True, True, False]  # the start, two updates of two passes, the next
    first, second = critics(folders[:2])
    assert not np.array_equal(first, second)


def test_validations_may_be_scored_by_slowdown(tmp_path: Path) -> None:
    with (run(tmp_path) / "progress.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["validation/score"]]
    for row in rows:
        slowdown = float(row["validation_episode/fct_slowdown"])
        assert float(row["validation/score"]) == pytest.approx(-np.log(slowdown), rel=1e-5)
    assert rows


def test_a_field_that_the_start_does_not_read_changes_nothing_at_first() -> None:
    more = trainer(env__fields=[*START.spec.fields, "rtt"]).network().tensors
    first = "layers.0.weight"
    assert np.array_equal(more[first][:, :-1], START.tensors[first])
    assert not more[first][:, -1].any()
    assert same({**more, first: START.tensors[first]}, START.tensors)


def test_another_network_or_observation_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"agent\.start: dispatcher has other layers"):
        trainer(agent__options__policy_kwargs__net_arch=[18, 16])
    with pytest.raises(ConfigError, match=r"agent\.start: dispatcher reads 1 observations of qlen"):
        trainer(env__fields=["qlen", "rtt"])
    with pytest.raises(ConfigError, match=r"agent\.start: dispatcher is .*output_activation='tanh'"):
        trainer(agent__options__policy_kwargs__bounded=False)


def test_what_only_simulators_do_is_refused_across_the_channel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    across: dict[str, Any] = {"env__placement": "python", "env__clock": {"name": "synchronous"}}
    config = configured(**across, agent__options={"n_steps": 8, "batch_size": 8})
    arguments = written(tmp_path, config, {"stages": [{"name": "incast", "scenario": INCAST}]})
    assert train.main([*arguments, "--no-evaluation"]) != 0
    assert "agent.start: needs env.placement=simulator" in capsys.readouterr().err
