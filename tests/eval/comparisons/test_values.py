# SPDX-License-Identifier: GPL-2.0-or-later
"""A critic beside returns in branches: returns are what comes, a right critic lies on the line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ns3_env.agents.fdcc.td3 import compress
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.errors import ConfigError
from ns3_env.eval.comparisons.values import Judged, _noise, _Play, draw_values, judge
from ns3_env.policies.released import load_policy
from ns3_env.scenario import Scenario

SCENARIO = Scenario.from_mapping(
    {
        "topology": {"kind": "dumbbell", "senders": 2},
        "traffic": {"kind": "incast", "size_bytes": 200_000},
        "controllers": [{"name": "agent"}],
    },
    "judged",
)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_return_in_a_branch_is_that_of_the_episode_that_follows(compressed: bool) -> None:
    policy, gamma = load_policy("fdcc"), 0.9
    with FlowStream(SCENARIO, slots=2, task=Task(policy.fields), seed=3) as stream:
        play = _Play(stream, policy, gamma, compressed)
        stream.start()
        for _ in range(6):
            batch = play.receive()
            slot = int(batch.slots[batch.due][0])
            judged = play.return_of(slot, _noise(np.random.default_rng(0), 0.0))
            play.act()
        total, discount = 0.0, 1.0
        while discount >= 0.02:
            batch = play.receive()
            for row in np.flatnonzero(batch.slots == slot):
                reward = np.array(batch.rewards[row], np.float32)
                total += discount * float(compress(reward) if compressed else reward)
                discount *= gamma ** float(batch.elapsed[row])
                discount *= bool(batch.due[row])
            play.act()
    assert judged == pytest.approx(total)
    assert total < -0.1


def test_the_critic_of_a_run_is_judged_and_drawn(trained: Path, tmp_path: Path) -> None:
    counts: list[int] = []
    judged = judge(trained, decisions=4, futures=3, progress=counts.append)
    assert counts == [1, 2, 3, 4]
    assert judged.returns.shape == (4, 3)
    assert np.isfinite(judged.predicted).all()
    picture = draw_values(trained, tmp_path / "values.png", judged).read_bytes()
    assert picture.startswith(b"\x89PNG")


def test_a_critic_that_is_right_has_no_bias_and_lies_on_the_line() -> None:
    returns = np.random.default_rng(2).normal(size=(20, 5))
    right, high = (Judged(returns.mean(axis=1) + offset, returns) for offset in (0.0, 0.5))
    assert (right.bias, right.correlation) == pytest.approx((0.0, 1.0))
    assert (high.bias, high.correlation) == pytest.approx((0.5, 1.0))


@pytest.mark.parametrize("path", ["fdcc", "nowhere"])
def test_what_has_no_critic_is_refused(path: str) -> None:
    with pytest.raises(
        ConfigError, match=r"holds no critic of FDCC: name the folder of a run.*the actor alone"
    ):
        judge(Path(path))
