# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own code that joins a training by its name, once the command line names it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import train
from ns3_env.agents.runs.checkpoint import load_checkpoint
from ns3_env.config.imports import named_code, trust
from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main as evaluate

CONFIG: dict[str, Any] = {
    "name": "own",
    "agent": {"name": "td3", "options": {"learning_starts": 20, "policy_kwargs": {"net_arch": [8]}}},
    "env": {"fields": ["rtt"], "clock": {"name": "synchronous", "interval_ns": 5000}},
    "train": {"decisions": 120},
    "evaluation": {
        "controllers": ["hpcc"],
        "scenario": {
            "topology": {"kind": "dumbbell", "senders": 2},
            "traffic": {"kind": "incast", "size_bytes": 20000},
            "time_limit_ns": 100000,
        },
    },
}
STAGES = {
    "stages": [
        {
            "name": "two",
            "scenario": {
                "time_limit_ns": 100000,
                "topology": {"kind": "dumbbell", "senders": 2},
                "traffic": {"kind": "incast", "size_bytes": 50000},
            },
        }
    ]
}
OWN = "tests.agents.own_code"


@pytest.fixture(autouse=True)
def nothing_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NS3_ENV_NAMED_CODE", raising=False)


def command(tmp_path: Path, config: Any = CONFIG, curriculum: Any = STAGES) -> list[str]:
    for name, content in (("config", config), ("curriculum", curriculum)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(content))
    return [
        *("--config", str(tmp_path / "config.yaml"), "--runs", str(tmp_path / "runs")),
        *("--curriculum", str(tmp_path / "curriculum.yaml")),
    ]


def run_of(tmp_path: Path) -> Path:
    (made,) = (tmp_path / "runs").iterdir()
    return made


def test_reward_action_map_fields_and_callback_of_ones_own_train_and_are_compared(tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    code = train.main(
        [
            *command(tmp_path),
            f"env.reward={{name: '{OWN}:Gentle', cost: 2.0}}",
            f"env.action={{name: '{OWN}:Share', most: 1.5}}",
            f"env.fields={OWN}:FIELDS",
            f"train.callbacks=[{{name: '{OWN}:Lines', file: {lines}}}]",
        ]
    )
    assert code == 0
    run = run_of(tmp_path)
    kept = yaml.safe_load((run / "config.yaml").read_text())
    assert kept["env"]["fields"] == ["rtt", "qlen", "ecn_fraction"]
    assert "td3" in json.loads((run / "evaluation" / "table.json").read_text())
    assert lines.read_text().count("\n") > 3
    assert (run / "learning.png").stat().st_size > 1000
    played: Any = load_checkpoint(run)
    assert played.env.action.settings == {"most": 1.5}
    assert train.main(["--resume", str(run), "train.decisions=160"]) == 0


def test_a_samplers_scenarios_are_trained_on_and_its_state_is_kept(tmp_path: Path) -> None:
    given = command(tmp_path)
    given[-1] = f"{OWN}:Senders"
    assert train.main([*given, "train.decisions=80", "--no-evaluation"]) == 0
    run = run_of(tmp_path)
    newest = sorted((run / "checkpoints").iterdir())[-1]
    state = json.loads((newest / "state.json").read_text())
    assert len(state["curriculum"]["sampler"]["returns"]) > 3
    assert train.main(["--resume", str(run), "train.decisions=120", "--no-evaluation"]) == 0


@pytest.mark.parametrize("algorithm", ["sb3_contrib:TQC", "stable_baselines3:DDPG", "examples.ddpg:AGENT"])
def test_an_algorithm_of_ones_own_trains_and_its_file_plays_inside(tmp_path: Path, algorithm: str) -> None:
    assert train.main([*command(tmp_path), "--algo", algorithm, "train.decisions=60"]) == 0
    run = run_of(tmp_path)
    (file,) = sorted((run / "checkpoints").iterdir())[-1].glob("policy.safetensors")
    assert evaluate(["compare", "policy", str(file)]) == 0


def test_an_algorithm_with_a_memory_is_refused_with_what_would_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main([*command(tmp_path), "--algo", "sb3_contrib:RecurrentPPO"]) == 2
    assert "sb3_buffers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("agent", {"name": f"{OWN}:AGENT"}),
        ("env", {**CONFIG["env"], "reward": {"name": f"{OWN}:Gentle"}}),
        ("env", {**CONFIG["env"], "action": {"name": f"{OWN}:Share"}}),
        ("env", {**CONFIG["env"], "fields": f"{OWN}:FIELDS"}),
        ("train", {"decisions": 10, "callbacks": [{"name": f"{OWN}:Lines", "file": "x"}]}),
    ],
)
def test_a_file_alone_runs_no_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, value: Any
) -> None:
    assert train.main(command(tmp_path, {**CONFIG, key: value})) == 2
    said = capsys.readouterr().err
    assert "would run the code of" in said
    assert "--allow-imports" in said


def test_a_curriculums_file_alone_runs_no_code_unless_that_is_allowed(tmp_path: Path) -> None:
    given = command(tmp_path, curriculum={"sampler": {"name": f"{OWN}:Senders", "most_flows": 2}})
    short = [*given, "train.decisions=30", "--no-evaluation"]
    assert train.main(short) == 2
    assert train.main([*short, "--allow-imports"]) == 0


@pytest.mark.parametrize(
    ("override", "said"),
    [
        (f"env.reward.name={OWN}:Gentl", "has no 'Gentl'; it has"),
        (f"env.reward.name={OWN}:NOTHING", "is a int: expected what gives a Reward"),
        ("env.reward.name=no.such:Thing", "cannot import 'no.such': ModuleNotFoundError"),
        (f"env.action.name={OWN}:Gentle", "gave a Gentle: expected an ActionMap"),
        (f"env.fields={OWN}:NOTHING", "expected fields, or pkg.module:name of a sequence"),
        (
            f"train.callbacks=[{{name: '{OWN}:Senders'}}]",
            "gave a Senders: expected Stable-Baselines3's BaseCallback",
        ),
        (
            f"agent={{name: '{OWN}:Senders'}}",
            "neither an ns3_env.agents.configuration.registry.Agent nor a class",
        ),
    ],
)
def test_what_does_not_fit_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], override: str, said: str
) -> None:
    assert train.main([*command(tmp_path), override]) == 2
    assert said in capsys.readouterr().err


def test_trust_is_in_a_name_and_not_in_its_module() -> None:
    trust([f"{OWN}:Gentle"])
    assert named_code(f"{OWN}:Gentle")
    with pytest.raises(ConfigError, match="would run the code of"):
        named_code(f"{OWN}:Share")


def test_a_network_that_no_file_can_hold_trains_all_the_same_and_is_played_across_the_channel(
    tmp_path: Path,
) -> None:
    validated = {**STAGES, "validation": {"every_episodes": 2, "episodes": 1}}
    given = [*command(tmp_path, curriculum=validated), "--algo", "sb3_contrib:CrossQ"]
    assert train.main([*given, "train.decisions=150"]) == 0
    run = run_of(tmp_path)
    assert "sb3_contrib:CrossQ" in json.loads((run / "evaluation" / "table.json").read_text())
    assert not (run / "best.safetensors").exists()
    assert not list(run.rglob("policy.safetensors"))


def test_plain_algorithms_are_validated_too_and_their_best_policy_is_kept(tmp_path: Path) -> None:
    validated = {**STAGES, "validation": {"every_episodes": 4, "episodes": 1}}
    assert (
        train.main([*command(tmp_path, curriculum=validated), "train.decisions=300", "--no-evaluation"]) == 0
    )
    run = run_of(tmp_path)
    assert "validation/score" in (run / "progress.csv").read_text()
    assert (run / "best.safetensors").exists()
