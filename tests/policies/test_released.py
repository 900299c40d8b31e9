# SPDX-License-Identifier: GPL-2.0-or-later
"""The released policies, found by name wherever a controller is."""

import re
from pathlib import Path

import pytest

from ns3_env.agents.configuration.config import EnvConfig, EvaluationConfig
from ns3_env.agents.configuration.inputs import check_evaluation
from ns3_env.agents.training.checkpoint import TrainedPolicy, resolve
from ns3_env.config.folders import find_file
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.suite import Suite, check, join
from ns3_env.eval.commands.evaluation import main as eval_main
from ns3_env.eval.commands.export import main as export_main
from ns3_env.eval.episodes.arguments import check_names
from ns3_env.eval.episodes.entry import policy_of
from ns3_env.policies import released as module
from ns3_env.policies.file import read_policy, write_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.released import is_released, named_controller, policy_path, released, released_names
from tests.samples.policy_files import tiny


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one released policy, named "small"."""
    (tmp_path / "small").mkdir()
    (tmp_path / "unfinished").mkdir()
    write_policy(tmp_path / "small" / "policy.safetensors", tiny())
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    return tmp_path / "small" / "policy.safetensors"


def test_a_folder_with_a_policys_file_is_a_name(one: Path) -> None:
    assert released_names() == ["small"]
    assert released("small") == one
    assert named_controller("small").attributes == {"File": str(one)}
    assert named_controller("hpcc").name == "hpcc"
    with pytest.raises(ConfigError, match="'smal' is no released policy; the nearest known one is 'small'"):
        released("smal")


def test_a_bare_name_is_the_released_policys_and_a_path_is_a_path(one: Path) -> None:
    assert is_released(Path("small"))
    assert not is_released(Path("other"))
    assert not is_released(Path("runs/small"))
    assert not is_released(one.parent)
    policy = resolve(Path("small")).load()
    assert isinstance(policy, TrainedPolicy)
    assert isinstance(policy.policy, NetworkPolicy)
    assert policy.policy.path == one
    assert resolve(Path("small")).files == [one]


@pytest.mark.parametrize("name", ["small", "folder", "folder/policy.safetensors"])
def test_what_stands_for_a_policy_does_so_in_every_command(
    one: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    one.parent.with_name("folder").symlink_to(one.parent)
    assert policy_path(Path(name)).resolve() == one
    assert policy_of(Path(name)).resolve() == one
    assert export_main([name, "--format", "native", "--out", "copy"]) == 0
    assert read_policy("copy").sha256 == read_policy(one).sha256
    assert eval_main(["plot", "policy", name, "--x", "rtt=1..2", "--y", "qlen=0..1", "--out", "map.png"]) == 0
    at_once = ["evaluation.scenario.time_limit_ns=100000", "evaluation.controllers=[]"]
    assert eval_main(["compare", "policy", name, *at_once]) == 0
    suite = Suite.from_mapping(
        {"controllers": ["hpcc"], "scenarios": [{"name": "a", "scenario": {"time_limit_ns": 1000}}]}, "suite"
    )
    assert check(join(suite, [], [f"mine={name}"])).entry("mine").content is not None
    capsys.readouterr()


def test_a_name_that_is_none_says_which_there_are(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export_main(["smal", "--format", "native", "--out", "copy"]) == 2
    assert "a policy's or a controller's file, or a released policy (small)" in capsys.readouterr().err


def test_a_policy_that_went_says_what_to_use_instead(capsys: pytest.CaptureFixture[str]) -> None:
    words = r"the policy 'fdcc-2' went in 0\.3: use 'fdcc'"
    scenario = {"name": "a", "scenario": {"time_limit_ns": 1000}}
    suite = Suite.from_mapping({"controllers": ["fdcc-2"], "scenarios": [scenario]}, "suite")
    evaluation = EvaluationConfig(controllers=["fdcc-2"])
    for refusal in (
        lambda: released("fdcc-2"),
        lambda: resolve(Path("fdcc-2")),
        lambda: check_names(["fdcc-2"]),
        suite.check_controllers,
        lambda: check_evaluation(EnvConfig(fields=["rtt"]), evaluation, "run"),
        lambda: find_file(Path("configs/fdcc-2.yaml"), "configs"),
    ):
        with pytest.raises(
            (ConfigError, ScenarioError), match=words.replace("policy", "(policy|configuration)")
        ):
            refusal()
    assert eval_main(["leaderboard", "Incast", "--entries", "fdcc-2", "--out", "runs/none"]) == 2
    assert re.search(words, capsys.readouterr().err)


@pytest.mark.parametrize("name", released_names())
def test_what_comes_with_the_project_is_small_and_loads(name: str) -> None:
    path = released(name)
    assert path.stat().st_size < 1 << 20
    resolve(path).load()
    assert (path.parent / "learning.png").stat().st_size < 1 << 20
