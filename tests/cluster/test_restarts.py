# SPDX-License-Identifier: GPL-2.0-or-later
"""Actors that are killed after every episode: the episodes are those of a run without kills."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest
import ray

from ns3_env.cluster.actors import SimulatorActors
from ns3_env.cluster.rollouts import RayRollouts
from ns3_env.cluster.session import joined
from tests.cluster.nodes import Head
from tests.samples.episodes import ENDS, played, same
from tests.samples.policy_files import FIELDS, mlp_file


@pytest.mark.parametrize("kills", [3, pytest.param(200, marks=pytest.mark.slow)])
def test_a_killed_actor_plays_the_next_episode_as_if_nothing_had_been(
    head: Head, tmp_path: Path, kills: int
) -> None:
    policy = mlp_file(tmp_path / "policy.safetensors")
    with joined(head.address):
        # Only the rollouts know the actors: what this test held on to would hide what they let go.
        rollouts = RayRollouts(SimulatorActors(1), ENDS, fields=FIELDS, seed=5)
        found = []
        for _ in range(kills + 1):
            rollouts.begin(policy)
            found.append(rollouts.next())
            gc.collect()
            os.kill(ray.get(rollouts._actors._actors[0].pid.remote()), signal.SIGKILL)
        rollouts._actors.close()
    assert [rollout.episode for rollout in found] == list(range(kills + 1))
    wanted = played(policy, ENDS, min(kills + 1, 4), seed=5)
    assert all(same(a, b) for a, b in zip(found, wanted, strict=False))
