# SPDX-License-Identifier: GPL-2.0-or-later
"""Training and search on Ray against local runs, also when an actor is killed."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import ray
import yaml

import train
from ns3_env.cluster.rollouts import RayRollouts, start_actors
from ns3_env.cluster.session import joined
from ns3_env.envs.rollouts import Exploration
from ns3_env.errors import ScenarioError
from tests.cluster.nodes import Head
from tests.samples.episodes import ENDS, played, same
from tests.samples.files import Refused
from tests.samples.policy_files import FIELDS, lstm_file
from tests.samples.runs import checkpoints, the_run, written
from tests.samples.searches import CONFIG as SEARCH
from tests.samples.searches import CURRICULUM as STAGES
from tests.samples.searches import WHAT

CONFIG = """
kind: train
agent: {name: fdcc, hidden: 4, shortcut: 4, net_arch: [4], learning_starts: 20, batch_size: 8}
env: {placement: simulator, fields: [rtt, pacing_rate, last_action]}
train: {decisions: 60, checkpoint_every: 1000}
"""

CURRICULUM = """
scenario:
  time_limit_ns: 60000
  topology: {kind: dumbbell, senders: 2}
  traffic: {kind: incast, size_bytes: 200000}
stages: [{name: only}]
"""


def process_of(actor: Any) -> int:
    pid: int = ray.get(actor.__ray_call__.remote(lambda simulator: os.getpid()))
    return pid


def test_episodes_of_actors_are_those_of_processes_even_if_an_actor_is_killed(
    head: Head, tmp_path: Path
) -> None:
    policy = lstm_file(tmp_path / "policy.safetensors")
    noisy = Exploration(noise=0.1, random_share=0.2)
    expected = played(policy, ENDS, 4, exploration=noisy, seed=5)
    with joined(head.address):
        actors = start_actors(1)
        rollouts = RayRollouts(actors, ENDS, fields=FIELDS, seed=5)
        for _ in range(2):
            rollouts.begin(policy, noisy)
        episodes = [rollouts.next()]
        pid = process_of(actors[0])
        os.kill(pid, signal.SIGKILL)
        for _ in range(2):
            rollouts.begin(policy, noisy)
        episodes += [rollouts.next() for _ in range(3)]
        assert all(same(a, b) for a, b in zip(episodes, expected, strict=True))
        assert [rollout.episode for rollout in episodes] == [0, 1, 2, 3]
        assert process_of(actors[0]) != pid
        bad = ENDS.model_copy(update={"packet_payload_bytes": 1000, "time_limit_ns": 1})
        refused = RayRollouts(actors, bad, fields=FIELDS)
        refused.begin(b"no policy")
        with pytest.raises(ScenarioError, match="policy"):
            refused.next()


def weights(run: Path) -> list[bytes]:
    return [(checkpoints(run)[-1] / "policy.npz").read_bytes()]


def tried(run: Path) -> list[bytes]:
    return [(run / name).read_bytes() for name in ("trials.csv", "validation.csv")]


@pytest.mark.parametrize(
    ("config", "curriculum", "artefacts"),
    [(CONFIG, CURRICULUM, weights), (SEARCH.replace("WHAT", WHAT["weights"]), STAGES, tried)],
    ids=["training", "search"],
)
def test_a_run_finds_the_same(
    head: Head, tmp_path: Path, config: str, curriculum: str, artefacts: Callable[[Path], list[bytes]]
) -> None:
    there = []
    for name, more in (("here", []), ("there", [f"env.ray={head.address}"])):
        (tmp_path / name).mkdir()
        assert train.main([*written(tmp_path / name, config, curriculum), "--no-evaluation", *more]) == 0
        there.append(artefacts(the_run(tmp_path / name)))
    assert there[0] == there[1]


def test_decisions_across_the_channel_stay_on_one_machine(
    head: Head, tmp_path: Path, refused: Refused
) -> None:
    config = yaml.safe_load(CONFIG)
    config["env"]["placement"] = "python"
    message = refused(train.main, *written(tmp_path, config, CURRICULUM), "env.ray=local")
    assert "env.ray: each decision in Python would cross the network" in message
    message = refused(train.main, *written(tmp_path, CONFIG, CURRICULUM), "env.ray=nowhere")
    assert "env.ray: no Ray cluster answers at 'nowhere'" in message
    assert not (tmp_path / "runs").exists()
