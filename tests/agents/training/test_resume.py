# SPDX-License-Identifier: GPL-2.0-or-later
"""Resumed runs against runs that never stopped: the same bits, from any checkpoint."""

import errno
import functools
import json
import shutil
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import train
from ns3_env.agents.training.callback import EpisodeMeter
from ns3_env.config.folders import alone_in
from ns3_env.config.yaml import put
from tests.samples.runs import checkpoints, the_run, written

CONFIG = """
name: tiny
agent: {}
env:
  simulators: 2
  fields: [rtt, qlen, switch_rate, last_action]
train: {decisions: 500, checkpoint_every: 90, keep_checkpoints: 100}
"""
CURRICULUM = """
scenario:
  time_limit_ns: 200000
  traffic: {kind: incast, size_bytes: 50000, spread_ns: 90000}
stages:
  - name: two
    scenario: {topology: {kind: dumbbell, senders: 2}}
    advance: {after_episodes: 6}
  - name: three
    scenario: {topology: {kind: dumbbell, senders: 3}}
    advance: {after_episodes: 12}
  - {name: four, scenario: {topology: {kind: dumbbell, senders: 4}}}
"""
FDCC: dict[str, Any] = {"hidden": 8, "shortcut": 8, "net_arch": [8], "learning_starts": 120}
FDCC |= {"train_freq": 24, "gradient_steps": 2, "buffer_size": 300}
AGENTS: dict[str, dict[str, Any]] = {
    "fdcc": FDCC,
    "fdcc-inside": FDCC,
    "rlcc": {"base_ns": None},
    "fdcc-validated": FDCC,
    "td3": {"options": {"learning_starts": 120, "buffer_size": 200}},
    "sac": {"options": {"learning_starts": 120, "use_sde": True}},
    "ppo": {"options": {"n_steps": 4, "batch_size": 16, "use_sde": True}},
    "ppo-inside": {
        "actor_starts": 25,
        "advantages": "episode",
        "options": {"n_steps": 20, "batch_size": 16, "policy_kwargs": {"initial_action": 0.5}},
    },
    "sb3_contrib:RecurrentPPO": {"options": {"n_steps": 4, "policy_kwargs": {"lstm_hidden_size": 8}}},
}


def files(folder: Path, agent: str) -> list[str]:
    config = yaml.safe_load(CONFIG)
    name, _, how = agent.partition("-")
    config["agent"] = {"name": name, **AGENTS[agent]}
    config["env"]["clock"] = {"name": "per_flow_rtt" if name in ("fdcc", "rlcc") else "synchronous"}
    if "fdcc" not in name:
        config["train"] |= {"decisions": 300, "checkpoint_every": 50}
    if name == "rlcc":
        config["env"]["fields"] = ["last_action", "rtt", "pacing_rate"]
    if how or name == "rlcc":
        config["env"]["placement"] = "simulator"
    curriculum = yaml.safe_load(CURRICULUM)
    if agent == "fdcc-validated":
        curriculum["validation"] = {"every_episodes": 3, "episodes": 1, "patience": 1}
        for stage in curriculum["stages"]:
            stage["randomise"] = {"topology.delay_ns": [500, 5000]}
    return [*written(folder, config, curriculum), "--allow-imports", "--no-evaluation"]


@pytest.fixture(autouse=True)
def nothing_is_trusted_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NS3_ENV_NAMED_CODE", raising=False)
    monkeypatch.setattr("ns3_env.agents.curriculum.plateau.DECLINE", 0.01)  # stages are returned to


@pytest.fixture(scope="module")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    @functools.cache
    def trained(agent: str) -> Path:
        folder = tmp_path_factory.mktemp("whole")
        assert train.main(files(folder, agent)) == 0
        return the_run(folder)

    return trained


@pytest.fixture
def whole(request: pytest.FixtureRequest, run_of: Callable[[str], Path]) -> Path:
    """A run of the agent that nothing broke off."""
    return run_of(request.param)


def broken_off(whole: Path, run: Path, after: int) -> None:
    """A copy of the run as a crash leaves it that comes after the checkpoint of this number, at any time."""
    shutil.copytree(whole, run)
    for later in checkpoints(run)[after + 1 :]:
        shutil.rmtree(later)


# From the second checkpoint on; for one agent also from the first and near the end.
@pytest.mark.parametrize(
    ("whole", "after"), [*((agent, 1) for agent in AGENTS), ("fdcc", 0), ("fdcc", 4)], indirect=["whole"]
)
def test_it_ends_with_the_same_bits(whole: Path, tmp_path: Path, after: int) -> None:
    broken_off(whole, tmp_path / "run", after)
    np.random.seed(5)  # noqa: NPY002 earlier draws change nothing
    assert train.main(["--resume", str(tmp_path / "run"), "--allow-imports", "--no-evaluation"]) == 0
    expected, folders = checkpoints(whole), checkpoints(tmp_path / "run")
    assert [path.name for path in folders] == [path.name for path in expected]
    assert len(folders) >= 6
    for one, other in zip(folders[after + 1 :], expected[after + 1 :], strict=True):
        for file in sorted(path.name for path in other.iterdir()):
            assert (one / file).read_bytes() == (other / file).read_bytes(), f"{one.name}/{file}"


@pytest.mark.parametrize("whole", ["fdcc"], indirect=True)
def test_a_run_that_was_asked_to_stop_has_both_checkpoints(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resuming from the last checkpoint or the previous one gives the bits of the uninterrupted run."""
    steps = iter(range(10**9))
    update = EpisodeMeter.update

    def interrupted(self: EpisodeMeter, step: Any) -> Any:
        if next(steps) == 100:
            signal.raise_signal(signal.SIGINT)
        return update(self, step)

    with monkeypatch.context() as patched:
        patched.setattr(EpisodeMeter, "update", interrupted)
        assert train.main(files(tmp_path, "fdcc")) == 130
    run = the_run(tmp_path)
    *before, newest = checkpoints(run)
    assert newest.name not in [path.name for path in checkpoints(whole)]
    assert len(before) >= 2
    shutil.rmtree(newest)
    assert train.main(["--resume", str(run), "--no-evaluation"]) == 0
    for one, other in zip(checkpoints(run), checkpoints(whole), strict=True):
        for name in ("policy.npz", "optimisers.npz", "replay_buffer.npz", "state.json"):
            assert (one / name).read_bytes() == (other / name).read_bytes(), f"{one.name}/{name}"


@pytest.mark.parametrize("whole", ["fdcc-validated"], indirect=True)
def test_validations_change_the_course_of_the_run_that_is_resumed(whole: Path) -> None:
    """Otherwise the same bits would not cover validations."""
    states = [json.loads((path / "state.json").read_text())["curriculum"] for path in checkpoints(whole)]
    assert [state["stage"] for state in states][-1] == 2
    assert max(state["entered"][-1] for state in states) < 24  # two stages' episodes by count
    assert [len(state["plateau"]["best"]) for state in states][-1] == 3  # each stage has a mark
    assert (whole / "best.safetensors").stat().st_size > 1000


@pytest.mark.parametrize("whole", ["fdcc"], indirect=True)
def test_episodes_go_on_with_the_next_numbers(whole: Path, tmp_path: Path) -> None:
    states = [json.loads((path / "state.json").read_text()) for path in checkpoints(whole)]
    assert states[0]["next_episodes"] == [0, 1]
    for before, after in pairwise(states):
        # Each simulator runs every second episode; the next ones had started at each checkpoint.
        for one, other in zip(before["next_episodes"], after["next_episodes"], strict=True):
            assert (other - one) % 2 == 0
            assert other > one
    # With other simulators, no episode comes twice.
    broken_off(whole, tmp_path / "run", 2)
    more = ["env.simulators=3", "train.decisions=260", "--no-evaluation"]
    assert train.main(["--resume", str(tmp_path / "run"), *more]) == 0
    last = json.loads((checkpoints(tmp_path / "run")[-1] / "state.json").read_text())
    assert len(last["next_episodes"]) == 3
    assert min(last["next_episodes"]) > max(states[2]["next_episodes"])


@pytest.mark.parametrize("whole", ["fdcc"], indirect=True)
@pytest.mark.parametrize(
    ("file", "key", "value", "words"),
    [
        ("state", "decisions", "/../../x", "state.json: decisions"),
        ("state", "next_episodes", [], "state.json: next_episodes"),
        ("state", "next_episodes", [-1, 0], "state.json: next_episodes.0"),
        ("state", "curriculum", {}, "state.json: curriculum.entered: Field required"),
        ("learner", "random", {}, "learner.json: random.numpy: Field required"),
        ("learner", "buffer", {"size": 300, "position": 300, "full": False}, "replay_buffer.npz"),
        ("learner", "buffer", {"size": 300, "position": 3, "full": False}, "npz: 'windows'"),
        ("learner", "buffer", None, "learner.json: buffer: missing"),
        ("learner", "counts", {"decisions": -1}, "learner.json: counts.decisions"),
        *(
            ("learner", f"random.{generator}", state, "learner.json: random: no state of a generator")
            for generator, state in (
                ("torch", "00"),
                ("torch", "x"),
                ("numpy", ["x", [1], 0, 0, 0.0]),
                ("python", [3, [1], None]),
                ("actions", {}),
            )
        ),
    ],
)
def test_a_state_that_is_none_is_one_clear_message(
    whole: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    file: str,
    key: str,
    value: object,
    words: str,
) -> None:
    broken_off(whole, tmp_path / "run", 2)
    path = checkpoints(tmp_path / "run")[-1] / f"{file}.json"
    path.write_text(json.dumps(put(json.loads(path.read_text()), key, value)))
    assert train.main(["--resume", str(tmp_path / "run")]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("whole", ["fdcc"], indirect=True)
def test_two_trainings_do_not_share_a_folder(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with alone_in(whole, "training"):
        assert train.main(["--resume", str(whole), "train.decisions=500"]) == 2
    assert f"error: {whole}: another training is running in it" in capsys.readouterr().err


@pytest.mark.parametrize("whole", ["fdcc"], indirect=True)
def test_a_full_disk_is_one_sentence_to_a_run_that_continues(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tensorboard.summary.writer.record_writer.RecordWriter.flush", full)
    monkeypatch.setattr("tensorboard.summary.writer.record_writer.RecordWriter.write", full)
    shutil.copytree(whole, tmp_path / "run")
    assert train.main(["--resume", str(tmp_path / "run"), "train.decisions=500"]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path / 'run'}: No space left on device\n"
