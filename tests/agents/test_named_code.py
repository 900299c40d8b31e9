# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own code that joins a training by its name, and a new agent, registered by a line."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import train
from examples.ddpg import DdpgTrainer
from ns3_env.agents.configuration.registry import AGENTS, find_agent
from ns3_env.agents.training.checkpoint import TrainedPolicy, resolve
from ns3_env.agents.training.trainer import Trainer
from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main as evaluate
from ns3_env.eval.commands.export import main as export
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import Synchronous
from tests.agents.own_code import CONFIG, STAGES, TWO
from tests.samples.files import Refused
from tests.samples.runs import checkpoints, the_run, written

OWN = "tests.agents.own_code"
RECURRENT = "sb3_contrib:RecurrentPPO"


def command(folder: Path, config: Any = CONFIG, curriculum: Any = STAGES) -> list[str]:
    return written(folder, config, curriculum)


@pytest.fixture(autouse=True)
def nothing_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NS3_ENV_NAMED_CODE", raising=False)


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
    run = the_run(tmp_path)
    config = yaml.safe_load((run / "config.yaml").read_text())
    assert config["env"]["fields"] == ["rtt", "qlen", "ecn_fraction"]
    assert "td3" in json.loads((run / "evaluation" / "table.json").read_text())
    assert lines.read_text().count("\n") > 3
    assert (run / "learning.png").stat().st_size > 1000
    policy: Any = resolve(run).load()
    assert policy.env.action.settings == {"most": 1.5}
    assert train.main(["--resume", str(run), "train.decisions=160", "--no-evaluation"]) == 0


def test_a_samplers_scenarios_are_trained_on_and_its_state_is_kept(tmp_path: Path) -> None:
    arguments = [*command(tmp_path), "--curriculum", f"{OWN}:Senders"]
    assert train.main([*arguments, "train.decisions=80", "--no-evaluation"]) == 0
    run = the_run(tmp_path)
    state = json.loads((checkpoints(run)[-1] / "state.json").read_text())
    assert len(state["curriculum"]["sampler"]["returns"]) > 3
    assert train.main(["--resume", str(run), "train.decisions=120", "--no-evaluation"]) == 0


@pytest.mark.parametrize("algorithm", ["sb3_contrib:TQC", "examples.ddpg:AGENT"])
def test_an_algorithm_of_ones_own_trains_and_its_file_plays_inside(tmp_path: Path, algorithm: str) -> None:
    short = ["train.decisions=60", "--no-evaluation"]
    assert train.main([*command(tmp_path), "--algo", algorithm, *short]) == 0
    run = the_run(tmp_path)
    small = ["evaluation.controllers=[]", "evaluation.scenario.traffic.size_bytes=20000"]
    assert evaluate(["compare", "policy", str(checkpoints(run)[-1] / "policy.safetensors"), *small]) == 0
    out = ["--format", "native", "--out", str(tmp_path / "out.safetensors")]
    assert export([str(run), *out, "--allow-imports"]) == 0


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
def test_a_file_alone_runs_no_code(tmp_path: Path, refused: Refused, key: str, value: Any) -> None:
    message = refused(train.main, *command(tmp_path, {**CONFIG, key: value}))
    assert "would run the code of" in message
    assert "--allow-imports" in message


def test_a_curriculums_file_alone_runs_no_code_unless_that_is_allowed(tmp_path: Path) -> None:
    arguments = command(tmp_path, curriculum={"sampler": {"name": f"{OWN}:Senders", "most_flows": 2}})
    short = [*arguments, "train.decisions=30", "--no-evaluation"]
    assert train.main(short) == 2
    assert train.main([*short, "--allow-imports"]) == 0


def test_a_policy_whose_memory_no_file_holds_trains_is_compared_and_plays_across_the_channel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    validated = {**STAGES, "validation": {"every_episodes": 2, "episodes": 1}}
    networks = "policy_kwargs: {lstm_hidden_size: 8, n_lstm_layers: 2}"
    options = f"agent.options={{n_steps: 16, batch_size: 32, {networks}}}"
    arguments = [*command(tmp_path, curriculum=validated), "--algo", RECURRENT, options]
    assert train.main([*arguments, "train.decisions=100", "--json", str(tmp_path / "t.json")]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert f"{RECURRENT} has no policy's file: it decides in Python" in output
    assert f"{RECURRENT} decides across the channel" in output
    assert set(json.loads((tmp_path / "t.json").read_text())) == {RECURRENT, "hpcc", "constant window"}
    run, out = the_run(tmp_path), str(tmp_path / "out")
    assert not [*run.rglob("policy.safetensors"), *run.rglob("best.safetensors")]
    assert yaml.safe_load((run / "config.yaml").read_text())["agent"]["policy"] == "MlpLstmPolicy"
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)
    two = str(tmp_path / "two.yaml")
    Path(two).write_text(TWO)
    mine = ["--checkpoint", f"mine={run}"]
    suite = ["benchmark", two, "--controllers", "hpcc", "--seeds", "1", "--out", out, *mine]
    assert evaluate([*suite, "--allow-imports"]) == 0
    assert "mine: decides in Python, across the channel" in capsys.readouterr().out
    policy = resolve(run).load()
    assert isinstance(policy, TrainedPolicy)
    assert policy.clock == Synchronous(interval_ns=5000)
    assert evaluate(["run", two, *mine, "--out", out + "2"]) == 2
    assert "`eval compare policy` ask it in Python" in capsys.readouterr().err


@pytest.fixture
def ddpg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An agent that is registered by a line, and the command that trains it."""
    monkeypatch.setitem(AGENTS, "ddpg", "examples.ddpg")
    config = {**CONFIG, "agent": {"name": "ddpg", "learning_starts": 20}, "train": {"decisions": 60}}
    config["env"] = {**CONFIG["env"], "fields": ["rtt", "qlen"]}
    return command(tmp_path, config)


def test_an_agent_that_is_declared_trains_is_compared_and_loaded(ddpg: list[str], tmp_path: Path) -> None:
    assert train.main([*ddpg, "--json", str(tmp_path / "t.json")]) == 0
    assert set(json.loads((tmp_path / "t.json").read_text())) == {"ddpg", "hpcc", "constant window"}
    run = the_run(tmp_path)
    loaded = resolve(run).load()
    assert isinstance(loaded, TrainedPolicy)
    assert loaded.policy.fields == ("rtt", "qlen")
    assert loaded.clock is not None
    assert loaded.clock.name == "synchronous"
    assert isinstance(loaded.policy, NetworkPolicy)


def test_an_agent_that_does_not_say_what_its_network_is_plays_by_its_own_code(
    ddpg: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DdpgTrainer, "network", Trainer.network)
    assert train.main([*ddpg, "--no-evaluation"]) == 0
    run = the_run(tmp_path)
    assert not list(run.rglob("policy.safetensors"))
    loaded = resolve(run).load()
    assert isinstance(loaded, TrainedPolicy)
    assert loaded.policy.fields == ("rtt", "qlen")


def test_its_mistakes_are_named_as_any_others(ddpg: list[str], refused: Refused) -> None:
    for override, words in (
        ("agent.learning_start=1", "unknown key 'learning_start'; the nearest known one is 'learning_s"),
        ("env.clock={name: per_flow_rtt}", "ddpg needs 'synchronous'"),
    ):  # fmt: skip
        assert words in refused(train.main, *ddpg, override)


def test_an_agent_that_nobody_declared_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="there is no agent 'ddpg'; known: 'fdcc', 'ppo', 'rlcc', 'sac', 'td3'"
    ):
        find_agent("ddpg")
    (tmp_path / "layout.json").write_text('{"agent": "ddpg"}')
    with pytest.raises(ConfigError, match=r"layout\.json: there is no agent 'ddpg'"):
        resolve(tmp_path).load()
