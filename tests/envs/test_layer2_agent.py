# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies that learn only from feedback frames, and episodes in which no frame comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import train
from ns3_env.config.folders import DATA
from ns3_env.decision.actions import MultiplicativeRate
from ns3_env.decision.observations import FIELDS, INDEX
from ns3_env.decision.rewards import make_reward
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.rollouts import Rollout, Rollouts
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ScenarioError
from ns3_env.policies.file import read_policy
from ns3_env.scenario import PerNotification, Scenario, Synchronous
from tests.samples.files import Refused, dumped
from tests.samples.runs import checkpoints, the_run, written

HEARD = ["notified_offset", "notified_delta", "notified_feedback", "pacing_rate", "last_action"]
POINTS = {"feedback": "both", "sample_bytes": 30_000, "adaptive_sampling": False}


def incast(*sizes: int, points: Any = POINTS) -> dict[str, Any]:
    """A flow of each size, each from its own sender, at 100 Gb/s."""
    n = len(sizes)
    flows = [{"src": i, "dst": n, "size_bytes": size} for i, size in enumerate(sizes)]
    return {
        "time_limit_ns": 400_000,
        "topology": {"kind": "dumbbell", "senders": n},
        "traffic": {"kind": "list", "flows": flows},
        "switch": {"congestion_points": points},
        "controllers": [{"name": "agent", "attributes": {"InitialWindow": False}}],
        "clock": {"name": "per_notification"},
    }


def scenario(*sizes: int, points: Any = POINTS) -> Scenario:
    return Scenario.from_mapping(incast(*sizes, points=points), "x")


def vec_env(scenario: Scenario, slots: int = 2) -> FlowVecEnv:
    return FlowVecEnv(
        scenario, slots=slots, fields=HEARD, reward="queue_target", action=MultiplicativeRate(window="none")
    )


def small(tmp_path: Path) -> list[str]:
    """The project's own configuration with less of everything, and the command line that trains with it."""
    config = yaml.safe_load((DATA / "configs/layer2.yaml").read_text())
    del config["evaluation"]
    config["agent"] |= {"learning_starts": 1000, "train_freq": 16, "gradient_steps": 1, "batch_size": 128}
    config["train"] = {"decisions": 4_000, "checkpoint_every": 1_000_000}
    stages = [{"name": "two", "scenario": incast(20_000_000, 20_000_000)}]
    return written(tmp_path, config, {"stages": stages})


def inside(policy: Path, content: dict[str, Any], episodes: int = 1) -> list[Rollout]:
    """Episodes of a policy's file inside the simulator, of seeds that no training of seed 1 has."""
    with Rollouts(
        Scenario.from_mapping(content, "x"), fields=HEARD, reward="queue_target", seed=99
    ) as rollouts:
        for _ in range(episodes):
            rollouts.begin(policy)
        return [rollouts.next() for _ in range(episodes)]


def earned(policy: Path) -> float:
    """Reward per decision of two long flows."""
    rollouts = inside(policy, incast(20_000_000, 20_000_000), episodes=4)
    for rollout in rollouts:
        assert rollout.records[:, INDEX["flow_count"]].max() == 2  # known to the reward, not to the policy
    return float(np.mean([r.rewards.sum() / r.decisions for r in rollouts]))


def test_two_flows_learn_their_rates_from_feedback_frames_alone(tmp_path: Path) -> None:
    assert train.main(small(tmp_path)) == 0
    untrained, *_, trained = checkpoints(the_run(tmp_path))
    before, after = (earned(at / "policy.safetensors") for at in (untrained, trained))
    assert after > before + 0.5
    spec = read_policy(trained / "policy.safetensors").spec
    assert spec.clock == PerNotification()
    assert spec.telemetry_bytes == 0
    assert list(spec.fields) == HEARD
    # No frame, and no decision; an end amid the episode; a cut.
    (rollout,) = inside(trained / "policy.safetensors", incast(5_000, 200_000, 20_000_000))
    decisions = np.bincount(rollout.flows[rollout.decided], minlength=3)
    assert decisions[0] == 0 < decisions[1] < decisions[2]
    assert rollout.flows[rollout.terminated].tolist() == [0, 1]
    assert rollout.flows[rollout.truncated].tolist() == [2]
    assert np.isinf(rollout.windows[rollout.decided, 0]).all()


def test_the_reward_is_largest_at_a_fair_share_of_what_brings_the_queue_to_its_target() -> None:
    reward = make_reward("queue_target", within=10)
    records = np.zeros((3, len(FIELDS)))
    records[:, INDEX["flow_count"]] = 4
    records[:, INDEX["notified_offset"]] = [0, 5, -5]  # BDPs
    for fair, row in zip((0.25, 0.125, 0.375), range(3), strict=True):
        for rate, expected in ((fair, 0.0), (2 * fair, -np.log(2)), (fair / 3, -np.log(3))):
            records[row, INDEX["pacing_rate"]] = rate
            assert reward(records)[row] == pytest.approx(expected)
    with pytest.raises(ValueError, match="within"):
        make_reward("queue_target", within=0)


@pytest.mark.parametrize(
    ("sizes", "points", "message"),
    [((1000,), None, "per_notification"), ((5_000, 5_000), POINTS, "without a dec")],
)
def test_a_clock_of_frames_where_none_ever_comes_is_refused(
    sizes: tuple[int, ...], points: Any, message: str
) -> None:
    with vec_env(scenario(*sizes, points=points)) as env:
        with pytest.raises(ScenarioError, match=message):
            env.reset()
        assert points is None or all(simulator.pid is None for simulator in env._simulators)


def test_a_training_tells_where_no_frame_ever_comes(tmp_path: Path, refused: Refused) -> None:
    command = small(tmp_path)
    dumped(tmp_path / "curriculum.yaml", {"stages": [{"name": "none", "scenario": incast(5_000)}]})
    assert "episodes in a row ended without a decision" in refused(train.main, *command)


def test_a_gymnasium_env_tells_where_no_frame_comes() -> None:
    env = FlowEnv(scenario(5_000, 20_000_000, 20_000_000), others="qcn", fields=HEARD, reward="queue_target")
    with pytest.raises(ScenarioError, match="never decides"):
        env.reset(seed=1)
    env.close()


def test_flows_that_no_frame_reaches_and_flows_that_end_early_are_ends_without_decisions() -> None:
    three_flows = scenario(5_000, 200_000, 20_000_000)  # no frame; ends during the episode; is truncated
    with vec_env(three_flows, slots=3) as env:
        env.mask.acknowledge()  # slots that are not due are checked here
        env.reset()
        ended: dict[int, int] = {}
        while not env.results:
            _, _, dones, infos = env.step(np.zeros((3, 1)))
            for slot in np.flatnonzero(dones):
                if "episode" in infos[slot]:
                    ended[int(slot)] = infos[slot]["episode"]["l"]
        (_, results) = env.results[0]
    assert results["totals"]["unfinished"] == 1
    assert ended[1] > 0
    assert ended[2] > ended[1]


def test_parallel_agents_go_on_without_frames() -> None:
    three_flows = scenario(5_000, 20_000_000, 20_000_000).model_copy(
        update={"clock": Synchronous(interval_ns=10_000)}
    )
    env = FlowParallelEnv(three_flows, fields=[*HEARD, "notification_recency"], reward="queue_target")
    observations, _ = env.reset(seed=1)
    recency = np.zeros(3)
    while env.agents:
        observations, *_ = env.step({agent: np.zeros(1, np.float32) for agent in env.agents})
        for agent, observation in observations.items():
            recency[int(agent[5:])] = max(recency[int(agent[5:])], observation[-1])
    env.close()
    assert recency[0] == 0
    assert (recency[1:] > 0).all()
