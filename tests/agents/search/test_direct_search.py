# SPDX-License-Identifier: GPL-2.0-or-later
"""Direct search: its episodes, its objective by metrics, and its first networks."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig
from ns3_env.agents.search.config import MetricsConfig, NetworkConfig, SearchConfig
from ns3_env.agents.search.metrics_objective import MetricsObjective, ended_at_the_limit, log_ratio
from ns3_env.agents.search.network import NetworkSubject
from ns3_env.agents.search.objectives import Episode, Episodes, ReturnObjective
from ns3_env.eval.comparisons.objective import METRICS_OF_EPISODES
from ns3_env.eval.metrics import METRICS
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.released import load_policy
from ns3_env.scenario import Controller, Scenario
from ns3_env.simulator.pool import LocalPool, Play


def episodes(**validation: int) -> Episodes:
    stages = CurriculumConfig.model_validate(
        {"stages": [{"name": "a", "advance": {"after_episodes": 1}}, {"name": "b"}]}
    )
    search = SearchConfig.model_validate(
        {"episodes": 3, **({"validation": validation} if validation else {})}
    )
    return Episodes(Curriculum(stages, EnvConfig(fields=["rtt"]), 1, "test"), search, seed=7)


def seeds(episodes: Sequence[Episode]) -> set[int]:
    return {episode.scenario.seed for episode in episodes}


def test_validation_seeds_are_never_trained_on_and_training_seeds_rotate() -> None:
    sampler = episodes(every=1, episodes=4)
    trained = [seeds(sampler.of_generation(number)) for number in range(50)]
    assert all(len(x) == 6 for x in trained)
    assert len(set.union(*trained)) == 300
    assert all(seed % 2 == 0 for seed in set.union(*trained))
    validation = sampler.of_validation()
    assert [episode.stage for episode in validation] == ["a"] * 4 + ["b"] * 4
    assert len(seeds(validation)) == 8
    assert all(seed % 2 == 1 for seed in seeds(validation))


def test_stages_in_order_come_one_after_the_other_and_stay() -> None:
    """Stages as in an agent's training: half of the generations only on the first, half on both."""
    stages = CurriculumConfig.model_validate(
        {"stages": [{"name": "a", "advance": {"after_episodes": 1}}, {"name": "b"}]}
    )
    search = SearchConfig.model_validate(
        {"trials": 41, "population": 8, "episodes": 1, "stages": "in_order", "validation": {"every": 1}}
    )
    sampler = Episodes(Curriculum(stages, EnvConfig(fields=["rtt"]), 1, "test"), search, seed=7)
    by_generation = ["".join(x.stage for x in sampler.of_generation(number)) for number in range(6)]
    assert by_generation == ["a", "a", "a", "a", "ab", "ab"]
    assert "".join(x.stage for x in sampler.of_validation()) == "aabb"


def test_a_curriculum_of_tasks_is_drawn_from_and_not_the_default_scenario() -> None:
    tasks = CurriculumConfig.model_validate({"tasks": ["Incast", "Rates"]})
    curriculum = Curriculum(tasks, EnvConfig(fields=["rtt"]), 1, "test")
    assert list(curriculum.examples()) == ["Incast", "Rates"]
    search = SearchConfig.model_validate({"episodes": 3, "validation": {"every": 1, "episodes": 3}})
    sampler, again = (Episodes(curriculum, search, seed=7) for _ in range(2))
    training = [x.scenario for number in range(8) for x in sampler.of_generation(number)]
    validation = [x.scenario for x in sampler.of_validation()]
    assert {scenario.source for scenario in training} == {"ns3_env/Incast-v4", "ns3_env/Rates-v4"}
    assert len({scenario.seed for scenario in (*training, *validation)}) == 27
    assert {scenario.traffic for scenario in validation}.isdisjoint(scenario.traffic for scenario in training)
    assert sampler.of_generation(3) == again.of_generation(3)


def test_the_return_of_a_flow_is_minus_its_slowdown_whatever_the_network() -> None:
    scenario = Scenario.from_mapping({"traffic": {"kind": "incast", "size_bytes": 30000}}, "test")
    with LocalPool(1) as players:
        judged = ReturnObjective().begin(players, Episode("x", scenario), Controller(name="hpcc")).result()
        results = players.submit(Play(scenario.under("hpcc"), dict)).result()
    flows = results["flows"]
    slowdowns = np.array(flows["fct_ns"]) / np.array(flows["standalone_ns"])
    assert judged.score == pytest.approx(-slowdowns.mean())


def test_without_validation_all_trials_play_the_same() -> None:
    sampler = episodes()
    assert sampler.of_generation(0) == sampler.of_generation(9)
    assert sampler.of_validation() == []


def objective(**terms: float) -> MetricsObjective:
    config = MetricsConfig(baselines=["hpcc", "dctcp"], terms=terms)
    return MetricsObjective(config, METRICS_OF_EPISODES, "test")


def test_the_score_is_the_weighted_log_ratio_to_the_best_baseline_of_each_metric() -> None:
    judge = objective(fct_slowdown_avg=1.0, goodput=0.5, pfc_pause_fraction=2.0).judge
    hpcc = {"fct_slowdown_avg": 2.0, "goodput": 0.8, "pfc_pause_fraction": 0.0}
    dctcp = {"fct_slowdown_avg": 3.0, "goodput": 0.9, "pfc_pause_fraction": 0.04}
    best = {"fct_slowdown_avg": 2.0, "goodput": 0.9, "pfc_pause_fraction": 0.0}
    assert judge(best, [hpcc, dctcp]).score == 0
    assert judge({**best, "fct_slowdown_avg": 1.0}, [hpcc, dctcp]).score == pytest.approx(math.log(2))
    # ε of a share of time is 0.01: from never to 4 % is a factor of 5.
    expected = -math.log(1.5) - 2 * math.log(5)
    assert judge(dctcp, [hpcc, dctcp]).score == pytest.approx(expected)
    less = judge({**best, "goodput": 0.45}, [hpcc, dctcp])
    assert less.score == pytest.approx(-0.5 * math.log(0.901 / 0.451))
    assert less.terms["goodput"] == pytest.approx(-math.log(0.901 / 0.451))


def test_a_metric_that_only_the_candidate_leaves_undefined_is_no_way_out() -> None:
    metric = METRICS["unfair_ratio"]
    assert log_ratio(math.nan, [math.nan], metric) == log_ratio(1.0, [math.nan], metric) == 0
    assert log_ratio(math.nan, [0.5, math.nan], metric) > 1


def test_a_flow_that_is_starved_counts_as_ended_with_the_episode() -> None:
    flows = {"fct_ns": [500, -1, -1], "start_ns": [0, 100, 990], "standalone_ns": [100, 50, 100]}
    results = {"flows": flows, "totals": {"end_ns": 1000}}
    assert ended_at_the_limit(results)["flows"]["fct_ns"] == [500, 900, 100]
    assert results["flows"]["fct_ns"] == [500, -1, -1]
    assert objective(fct_slowdown_avg=1.0)._row(results)["fct_slowdown_avg"] == pytest.approx(
        (5 + 18 + 1) / 3
    )


def test_the_first_policy_grows_and_its_hidden_units_know_no_queue() -> None:
    subject = NetworkSubject(NetworkConfig(fields=["rtt", "qlen"]), "x", 1, "test")
    tensors = subject.policy(subject.space.start).tensors
    assert not tensors["layers.2.weight"].any()
    assert np.tanh(tensors["layers.2.bias"]) == pytest.approx(0.3)
    assert tensors["layers.0.weight"].std() == pytest.approx(1 / math.sqrt(2), rel=0.5)
    # A flow without competition sees an RTT of 1 and no queue.
    hidden = tensors["layers.0.weight"] @ [math.log(2), 0.0] + tensors["layers.0.bias"]
    assert hidden == pytest.approx(0, abs=1e-6)
    other = NetworkSubject(NetworkConfig(fields=["rtt", "qlen"]), "x", 2, "test")
    assert (other.space.start != subject.space.start).any()


DISPATCHER = [*load_policy("dispatcher").fields]


def subject(
    fields: list[str], policy: str = "dispatcher", hidden: tuple[int, ...] = (18, 17)
) -> NetworkSubject:
    config = {"fields": fields, "hidden": [*hidden], "start": {"policy": policy}}
    return NetworkSubject(NetworkConfig.model_validate(config), "run", 1, "search.yaml")


def test_the_first_point_answers_as_the_policy_whatever_else_it_reads(tmp_path: Path) -> None:
    fields = ["goodput", *DISPATCHER[::-1], "rtt_slope"]
    network = subject(fields)
    network.save(network.space.start, tmp_path)
    first, dispatcher = NetworkPolicy.load(tmp_path / "policy.safetensors"), load_policy("dispatcher")
    observations = np.random.default_rng(1).uniform(0, 3, (50, len(fields))).astype(np.float32)
    its_observations = observations[:, [fields.index(name) for name in DISPATCHER]]
    assert np.allclose(first.predict(observations)[0], dispatcher.predict(its_observations)[0], atol=1e-6)


def test_an_lstm_whose_shortcut_is_wider_begins_as_one_that_reads_less(tmp_path: Path) -> None:
    fdcc = load_policy("fdcc")
    widths = {"kind": "lstm", "memory": 16, "shortcut": 32, "hidden": [32], "hidden_activation": "relu"}
    fields = {"fields": ["attained", *fdcc.fields], "history_length": 4, "start": {"policy": "fdcc"}}
    network = NetworkSubject(NetworkConfig.model_validate({**widths, **fields}), "run", 1, "search.yaml")
    network.save(network.space.start, tmp_path)
    start = NetworkPolicy.load(tmp_path / "policy.safetensors")
    observations = np.random.default_rng(1).uniform(0, 3, (50, 9)).astype(np.float32)
    assert np.allclose(start.predict(observations)[0], fdcc.predict(observations[:, 1:])[0], atol=1e-6)
    with pytest.raises(ValueError, match="shortcut: nothing but an lstm has one"):
        NetworkConfig.model_validate({"fields": ["rtt"], "shortcut": 32})
