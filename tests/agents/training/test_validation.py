# SPDX-License-Identifier: GPL-2.0-or-later
"""Validation by held-back episodes: ends of stages, separate seeds, and draws of a stage."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig
from ns3_env.agents.training.callback import HELD_BACK, Validations
from ns3_env.agents.training.rollout_env import RolloutEnv
from ns3_env.config.model import validate
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import episode_seed
from ns3_env.envs.rollouts import Exploration, Rollouts
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator.pool import LocalPool, Play
from ns3_env.simulator.results import charged_slowdowns
from tests.samples.policy_files import FIELDS, mlp_file

CURRICULUM = """
earlier_share: 0.0
validation: {every_episodes: 2, episodes: 2, patience: 1}
scenario:
  time_limit_ns: 100000
  topology: {kind: dumbbell, rate_bps: 100.0e+9, delay_ns: 1000}
  traffic: {kind: incast, size_bytes: 50000, spread_ns: 2000}
stages:
  - {name: two, scenario: {topology: {senders: 2}}, advance: {after_episodes: 50}}
  - {name: three, scenario: {topology: {senders: 3}}, advance: {after_episodes: 50}}
  - {name: four, scenario: {topology: {senders: 4}}}
"""


def curriculum(randomise: dict[str, Any] | None = None, seed: int = 1, **config: Any) -> Curriculum:
    data = {**yaml.safe_load(CURRICULUM), **config}
    if randomise is not None:
        data["stages"][0]["randomise"] = randomise
    return Curriculum(validate(data, CurriculumConfig, "c"), EnvConfig(fields=["rtt"]), seed, "c")


def flows(curriculum: Curriculum, episode: int) -> int:
    return curriculum(episode).agent_flow_count


def test_two_validations_without_an_episode_between_leave_one_stage() -> None:
    stages = curriculum()
    flows(stages, 0)
    for scores in ([1.0], [1.0], [1.0, 1.0], [1.0, 1.0]):
        stages.judge(scores)
    assert stages.stage == 1
    stages.record(0.0)
    stages.record(0.0)  # two episodes learned from: a validation is due, also after a restart
    again = curriculum()
    again.restore(stages.state())
    assert [each.plateau is not None and each.plateau.due for each in (stages, again)] == [True, True]


def test_the_last_stage_is_never_left() -> None:
    stages = curriculum(stages=yaml.safe_load(CURRICULUM)["stages"][2:])
    for n in range(5):
        assert flows(stages, n) == 4
        stages.judge([1.0])


def test_an_earlier_stage_that_got_worse_is_played_until_it_has_recovered() -> None:
    stages = curriculum()
    flows(stages, 0)
    stages.judge([1.0])
    stages.judge([1.0])
    assert flows(stages, 1) == 3
    stages.judge([0.2, 1.0])
    assert [flows(stages, n) for n in (2, 3)] == [2, 2]
    again = curriculum()
    again.restore(stages.state())
    assert flows(again, 4) == 2
    stages.judge([1.0, 1.0])
    assert flows(stages, 4) == 3


GAP = {"every_episodes": 2, "episodes": 2, "score": "slowdown", "gap_to": "hpcc"}


def test_a_stage_is_drawn_the_more_the_more_a_controller_leads_there() -> None:
    stages = curriculum(validation=GAP)

    def drawn() -> list[float]:
        counts = np.bincount([flows(stages, n) for n in range(1000)], minlength=5)[2:]
        return (counts / 1000).tolist()

    assert drawn() == pytest.approx([1 / 3] * 3, abs=0.05)
    stages.weigh([0.3, -0.5, 0.1])  # the policy leads on the second
    shares = drawn()
    assert shares == pytest.approx([0.1 + 0.7 * 3 / 4, 0.1, 0.1 + 0.7 / 4], abs=0.05)
    again = curriculum(validation=GAP)
    again.restore(stages.state())
    assert [flows(again, n) for n in range(50)] == [flows(stages, n) for n in range(50)]
    assert {stage for stage, _ in stages.held_back()} == {0, 1, 2}


def test_gaps_are_of_slowdowns_which_controllers_have_too() -> None:
    with pytest.raises(ConfigError, match="gap_to: controllers have no reward: write score: slowdown"):
        curriculum(validation={**GAP, "score": "reward"})


def test_the_controller_has_the_same_flows_as_the_policy(policy: bytes) -> None:
    scenarios = [scenario for _, scenario in curriculum(validation=GAP).held_back()]
    pool = Validations(Task(FIELDS), 1, simulators=1, score="slowdown")
    pool.validate(policy, scenarios)
    slowdowns = pool.baseline("hpcc", scenarios)
    assert len(slowdowns) == len(scenarios)
    assert [results["seed"] for results in pool.results] == [
        episode_seed(1, HELD_BACK + number) for number in range(len(scenarios))
    ]
    with LocalPool() as again:
        for number, scenario in enumerate(scenarios):
            play = scenario.under("hpcc", {}).with_seed(episode_seed(1, HELD_BACK + number))
            results = again.submit(Play(play, dict)).result()
            assert -np.log(np.nanmean(charged_slowdowns(results))) == slowdowns[number]
    pool.close()


def test_every_stage_so_far_is_validated_by_the_same_episodes_always() -> None:
    ranges = {"topology.rate_bps": [25e9, 400e9]}
    stages = curriculum(ranges)
    first = stages.held_back()
    assert [stage for stage, _ in first] == [0, 0]
    assert first[0][1] != first[1][1]  # each has its own rate
    stages(60)
    later = stages.held_back()
    assert [stage for stage, _ in later] == [0, 0, 1, 1]
    assert later[:2] == first
    learned_from = [stages(n) for n in range(50)]
    assert not any(scenario in learned_from for _, scenario in first)


def test_what_is_drawn_comes_from_seed_and_episode_alone() -> None:
    ranges = {"topology.rate_bps": [25e9, 400e9], "topology.delay_ns": [500, 5000]}
    one, two, other = curriculum(ranges), curriculum(ranges), curriculum(ranges, seed=2)
    first = [one(n) for n in range(20)]
    assert [two(n) for n in reversed(range(20))][::-1] == first
    assert not any(a == b for a, b in zip(first, (other(n) for n in range(20)), strict=True))
    for scenario in first:
        topology: Any = scenario.topology
        assert 25e9 <= topology.rate_bps <= 400e9
        assert 500 <= topology.delay_ns <= 5000
        assert topology.delay_ns == int(topology.delay_ns)  # whole numbers between whole numbers
        assert topology.senders == 2


def test_slots_are_enough_for_the_most_flows_that_can_be_drawn() -> None:
    assert curriculum().most_flows == 4
    assert curriculum({"topology.senders": [2, 16]}).most_flows == 16


@pytest.mark.parametrize(
    ("randomise", "words"),
    [
        ({"topology.rate_bps": [400e9, 25e9]}, r"stages\.0\.randomise.*\[least, largest\], above 0"),
        ({"topology.rate_bps": [0, 25e9]}, r"stages\.0\.randomise.*\[least, largest\], above 0"),
        ({"topology.rate_bps": [25e9]}, r"stages\.0\.randomise"),
        ({"topology.rates": [1, 2]}, r"stage 'two'.*topology.*rates"),
        ({"topology.delay_ns": [1000, 10**12]}, r"stage 'two'.*topology.*delay_ns"),
        ({"topology.delay_ns": [1e-9, 1000.0]}, r"stage 'two'.*topology.*delay_ns"),
    ],
)
def test_a_range_is_checked_at_both_ends_before_anything_begins(
    randomise: dict[str, Any], words: str
) -> None:
    with pytest.raises((ConfigError, ScenarioError), match=words):
        curriculum(randomise)


@pytest.fixture
def policy(tmp_path: Path) -> bytes:
    return mlp_file(tmp_path / "policy.safetensors").read_bytes()


@pytest.fixture
def validations() -> Iterator[Validations]:
    pool = Validations(Task(FIELDS), 1, simulators=2)
    yield pool
    pool.close()


def played(env: RolloutEnv, policy: bytes) -> tuple[float, ...]:
    rollout = env.next(lambda: policy, Exploration(noise=0.1))
    return rollout.episode, rollout.seed, float(rollout.rewards.sum())


def test_a_score_is_the_mean_reward_without_exploration_and_the_same_each_time(
    validations: Validations, policy: bytes
) -> None:
    scenarios = [scenario for _, scenario in curriculum().held_back()]
    scores = validations.validate(policy, scenarios)
    assert validations.validate(policy, scenarios) == scores
    with Rollouts(lambda episode: scenarios[0], fields=FIELDS, seed=1) as rollouts:
        rollouts.go_on_with(2**32)
        rollouts.begin(policy)
        alone = rollouts.next()
    assert scores[0] == pytest.approx(alone.rewards.sum() / alone.decisions)


def test_a_validation_changes_nothing_of_what_is_learned_from(
    validations: Validations, policy: bytes
) -> None:
    env = RolloutEnv(EnvConfig(fields=list(FIELDS)), curriculum(), Task(FIELDS), 1, simulators=2)
    scenarios: list[Scenario] = [scenario for _, scenario in curriculum().held_back()]
    returns = []
    for episode in range(6):
        returns.append(played(env, policy))
        if episode in (1, 3):
            validations.validate(policy, scenarios)
    env.go_on_with([0])
    assert [played(env, policy) for _ in range(6)] == returns
    env.close()
