# SPDX-License-Identifier: GPL-2.0-or-later
"""Training, search and ablation on Ray against local runs, also when an actor is killed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
import ray
import yaml

import train
from ns3_env.cluster.actors import SimulatorActors
from ns3_env.cluster.rollouts import RayRollouts
from ns3_env.cluster.session import joined
from ns3_env.envs.rollouts import Exploration
from ns3_env.errors import ScenarioError
from ns3_env.eval.commands.evaluation import main
from tests.cluster.nodes import Head
from tests.samples.ablations import CONFIG, CURRICULUM, ablation
from tests.samples.episodes import ENDS, played, same
from tests.samples.policy_files import FIELDS, lstm_file
from tests.samples.searches import CONFIG as SEARCH
from tests.samples.searches import CURRICULUM as STAGES
from tests.samples.searches import WHAT


def test_episodes_of_actors_are_those_of_processes_even_if_an_actor_is_killed(
    head: Head, tmp_path: Path
) -> None:
    policy = lstm_file(tmp_path / "policy.safetensors")
    noisy = Exploration(noise=0.1, random_share=0.2)
    wanted = played(policy, ENDS, 4, exploration=noisy, seed=5)
    with joined(head.address):
        actors = SimulatorActors(1)
        rollouts = RayRollouts(actors, ENDS, fields=FIELDS, seed=5)
        for _ in range(2):
            rollouts.begin(policy, noisy)
        found = [rollouts.next()]
        pid = ray.get(actors._actors[0].pid.remote())
        os.kill(pid, signal.SIGKILL)
        for _ in range(2):
            rollouts.begin(policy, noisy)
        found += [rollouts.next() for _ in range(3)]
        assert all(same(a, b) for a, b in zip(found, wanted, strict=True))
        assert [rollout.episode for rollout in found] == [0, 1, 2, 3]
        assert ray.get(actors._actors[0].pid.remote()) != pid
        bad = ENDS.model_copy(update={"packet_payload_bytes": 1000, "time_limit_ns": 1})
        refused = RayRollouts(actors, bad, fields=FIELDS)
        refused.begin(b"no policy")
        with pytest.raises(ScenarioError, match="policy"):
            refused.next()
        actors.close()


def weights(run: Path) -> bytes:
    (latest,) = [
        x for x in (run / "checkpoints").iterdir() if x.name == max(p.name for p in run.glob("checkpoints/*"))
    ]
    return (latest / "policy.npz").read_bytes()


def test_a_training_run_learns_the_same(head: Head, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG)
    (tmp_path / "curriculum.yaml").write_text(CURRICULUM)
    given = ["--config", str(tmp_path / "config.yaml"), "--curriculum", str(tmp_path / "curriculum.yaml")]
    found = {}
    for where in ("here", "there"):
        more = [f"env.ray={head.address}"] if where == "there" else []
        assert train.main([*given, "--runs", str(tmp_path / where), *more]) == 0
        (run,) = (tmp_path / where).iterdir()
        found[where] = weights(run)
    assert found["here"] == found["there"]


def test_a_search_tries_the_same_with_the_same_scores(head: Head, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(SEARCH.replace("WHAT", WHAT["weights"]))
    (tmp_path / "curriculum.yaml").write_text(STAGES)
    given = ["--config", str(tmp_path / "config.yaml"), "--curriculum", str(tmp_path / "curriculum.yaml")]
    found = {}
    for where in ("here", "there"):
        more = [f"env.ray={head.address}"] if where == "there" else []
        assert train.main([*given, "--no-evaluation", "--runs", str(tmp_path / where), *more]) == 0
        (run,) = (tmp_path / where).iterdir()
        found[where] = [(run / name).read_text() for name in ("trials.csv", "validation.csv")]
    assert found["here"] == found["there"]


def test_an_ablation_s_runs_are_judged_alike(head: Head, tmp_path: Path) -> None:
    file = ablation(tmp_path)
    found = {}
    for where in ("here", "there"):
        more = ["--ray", head.address] if where == "there" else []
        assert main(["compare", "variants", str(file), "--out", str(tmp_path / where), *more]) == 0
        kept = {path.name: json.loads(path.read_text()) for path in (tmp_path / where).glob("*.json")}
        found[where] = {name: {k: v for k, v in run.items() if k != "learning"} for name, run in kept.items()}
        runs = sorted((tmp_path / where / "runs").iterdir())
        assert len(runs) == 4
        assert all(list(run.glob("checkpoints/*/layout.json")) for run in runs)
    assert found["here"] == found["there"]
    assert len(found["here"]) == 4


def test_decisions_across_the_channel_stay_on_one_machine(
    head: Head, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = yaml.safe_load(CONFIG)
    config["env"]["placement"] = "python"
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    (tmp_path / "curriculum.yaml").write_text(CURRICULUM)
    given = ["--config", str(tmp_path / "config.yaml"), "--curriculum", str(tmp_path / "curriculum.yaml")]
    assert train.main([*given, "--runs", str(tmp_path / "runs"), "env.ray=local"]) == 2
    assert "env.ray: each decision in Python would cross the network" in capsys.readouterr().err
    config["env"]["placement"] = "simulator"
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    assert train.main([*given, "--runs", str(tmp_path / "runs"), "env.ray=nowhere"]) == 2
    assert "env.ray: expected local, auto or HOST:PORT" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
