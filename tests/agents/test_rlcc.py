# SPDX-License-Identifier: GPL-2.0-or-later
"""RL-CC: the published loss and network, and flows that keep RTT x sqrt(rate) at its target."""

import numpy as np
import pytest
import torch as th
import yaml

from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.rlcc.algorithm import RLCC, adpg_loss, outlook
from ns3_env.agents.rlcc.policy import inputs
from ns3_env.agents.rlcc.trainer import RlccTrainer
from ns3_env.agents.training.rollout_env import RolloutEnv, make_training_env
from ns3_env.decision.rtt_target import RttTarget
from ns3_env.envs.rollouts import Rollout, Rollouts
from ns3_env.errors import ConfigError
from ns3_env.scenario import Scenario
from tests.paths import ROOT
from tests.samples.agents import trainer
from tests.samples.scenarios import incast


def episode(lengths: list[int], actions: list[float], inputs_of: int = 3) -> Rollout:
    """An episode of flows with these numbers of rows; the last row of a flow has no action."""
    rows = sum(lengths)
    first, last = np.zeros(rows, bool), np.zeros(rows, bool)
    ends = np.cumsum(lengths)
    first[ends - lengths], last[ends - 1] = True, True
    none = np.zeros((rows, 2))
    observations = np.arange(rows * inputs_of, dtype=np.float32).reshape(rows, inputs_of)
    return Rollout(
        episode=0, seed=1, flows=np.repeat(np.arange(len(lengths)), lengths), first=first,
        terminated=np.zeros(rows, bool), truncated=last, observations=observations,
        actions=np.array(actions, np.float32), rewards=np.zeros(rows), elapsed=np.ones(rows),
        final=last, slowdowns=none[:, 0], windows=none, records=none, results={},
    )  # fmt: skip


def test_an_action_is_judged_by_the_discounted_mean_of_what_follows_in_its_flow() -> None:
    two = episode([4, 2], [0, 0, 0, 0, 0, 0])
    distances = np.array([9.0, 1.0, 2.0, 4.0, 9.0, 8.0])  # a flow's first row follows no action
    # gamma 0.5: (1 + 0.5 * 2) / 2, (2 + 0.5 * 4) / 2, 4; the other flow: 8.
    assert outlook(two, distances, 0.5, 2).tolist() == [1.0, 2.0, 4.0, 8.0]
    assert outlook(two, distances, 0.5, 3).tolist() == pytest.approx([1.0, 2.0, 4.0, 8.0])
    assert outlook(two, distances, 1.0, 3).tolist() == pytest.approx([7 / 3, 3.0, 4.0, 8.0])
    assert outlook(two, distances, 0.9, 1).tolist() == [1.0, 2.0, 4.0, 8.0]


def test_the_loss_is_the_published_one_by_hand() -> None:
    actions = th.tensor([0.5, -0.5, 0.25, 1.0])
    following = th.tensor([2.0, -1.0, 4.0, 1.0])
    flows = th.tensor([0, 0, 0, 1])
    judged = (0.5 * 2 + 0.5 * 1 + 0.25 * 4 + 1 * 1) / 4
    # Pairs of one flow: (0.5, -0.5), (-0.5, 0.25), and two apart (0.5, 0.25).
    near, far = [1.0, 0.75**2], [0.25**2]
    of = {1: np.mean(near), 2: np.mean(near + far), 9: np.mean(near + far)}
    for horizon, apart in of.items():
        loss = adpg_loss(actions, following, flows, horizon, 0.5)
        assert loss.item() == pytest.approx(judged + 0.5 * apart)
    assert adpg_loss(actions[:1], following[:1], flows[:1], 4, 0.5).item() == 1.0  # no pair


def test_it_learns_inside_the_simulators_alone_from_the_fields_that_it_reads() -> None:
    with pytest.raises(ValueError, match=r"env\.placement: rlcc learns from rollouts of the simulator alone"):
        RunConfig.model_validate({"agent": {"name": "rlcc"}, "env": {"fields": ["rtt"]}})
    read = r"env.fields: rlcc reads \['last_action', 'rtt_ns', 'pacing_rate'\]"
    with pytest.raises(ConfigError, match=read):
        trainer({"name": "rlcc"})  # RTTs in units of 8192 ns: in nanoseconds


@pytest.mark.parametrize("senders", [4, 64])
def test_the_released_policy_ends_every_flow_and_shares_fairly(senders: int) -> None:
    content = scenario(senders).model_dump(mode="json")
    content |= {"time_limit_ns": 30_000_000, "traffic": {**content["traffic"], "size_bytes": 2_000_000}}
    with Rollouts(Scenario.from_mapping(content, "test"), fields=["rtt", "pacing_rate"]) as rollouts:
        rollouts.begin(ROOT / "checkpoints" / "rlcc" / "policy.safetensors")
        rollout = rollouts.next()
    assert rollout.results["totals"]["unfinished"] == 0
    times = np.array(rollout.results["flows"]["fct_ns"], float)
    assert times.max() < 1.2 * senders * 2_000_000 * 8 / 100  # the link's minimum time plus a fifth
    assert times.max() / times.mean() < 1.1


def scenario(senders: int) -> Scenario:
    clock = {"name": "per_flow_rtt", "rtt_fraction": 1.0}
    return incast(senders, 20_000_000, spread_ns=20_000, clock=clock, time_limit_ns=1_000_000)


def test_after_seconds_of_training_flows_hold_the_target_and_share_fairly() -> None:
    content = """
    seed: 3
    agent: {name: rlcc, base_ns: null, margin: 1}
    env:
      fields: [last_action, rtt, pacing_rate]
      placement: simulator
      telemetry_bytes: 0
      action: {name: multiplicative_rate}
      reward: {name: rtt_target, base_ns: null}
      clock: {name: per_flow_rtt, rtt_fraction: 1}
    """
    config = RunConfig.model_validate(yaml.safe_load(content))
    env = make_training_env(config.env, lambda n: scenario(2 if n % 2 else 4), 4, config.seed)
    assert isinstance(env, RolloutEnv)
    try:
        learner = RlccTrainer(config, env)
        model = learner.model
        assert isinstance(model, RLCC)
        model.learn(60_000)
        for senders in (2, 4):
            env.rollouts.sampler = lambda _, senders=senders: scenario(senders)
            env.rollouts.give_up()
            env.rollouts.begin(model.snapshot())
            held(env.rollouts.next(), senders)
    finally:
        env.close()


def held(rollout: Rollout, senders: int) -> None:
    """The second half of an episode is near the target, and every flow near its share of the link."""
    late = rollout.records[:, 0] >= 0
    ages = np.arange(len(rollout.flows)) - np.maximum.accumulate(
        np.where(rollout.first, np.arange(len(rollout.flows)), 0)
    )
    late &= ages > ages.max() // 2
    features = inputs(rollout.observations[late], RttTarget(margin=1.0))
    # r is -0.8 on an idle link, 5 for four flows that fill their windows.
    assert abs(features[:, 1].mean()) < 0.4
    rates = [rollout.observations[late & (rollout.flows == flow), 2].mean() for flow in range(senders)]
    assert np.array(rates) == pytest.approx(1 / senders, rel=0.2)
