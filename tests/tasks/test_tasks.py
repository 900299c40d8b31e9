# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks: what is drawn, fixed tests, and every front end; jobs on clusters."""

import pickle
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
import pytest

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig
from ns3_env.config.model import validate
from ns3_env.decision.observations import FIELDS, INDEX
from ns3_env.decision.rewards import make_reward
from ns3_env.envs.bottleneck_envs import RDMA_ACTION, RDMA_CLOCK
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.errors import ConfigError
from ns3_env.ids import VERSIONS
from ns3_env.scenario import Scenario
from ns3_env.tasks import FIRST_TEST_SEED, TASKS, TESTS, make, score, task
from ns3_env.tasks.registry import declare

#: Tasks whose flows can decide at every step.
STEPPED = [name for name, spec in TASKS.items() if spec.clock.name != "per_notification"]


@pytest.mark.parametrize("name", TASKS)
def test_tests_are_fixed_and_no_training_draws_them(name: str) -> None:
    spec = task(name)
    tests = [spec.test(number) for number in range(TESTS)]
    assert [one.seed for one in tests] == list(range(FIRST_TEST_SEED, FIRST_TEST_SEED + TESTS))
    lists = [one.to_simulator_json()["flows"] for one in (*tests, *map(spec.training, range(3)))]
    assert spec.test(0).to_simulator_json()["flows"] == lists[0]
    assert spec.training(0).to_simulator_json()["flows"] == lists[TESTS]
    assert all(lists[i] != other for i in range(TESTS) for other in lists[i + 1 :])
    for seed in (-1, 2**31, FIRST_TEST_SEED):
        with pytest.raises(ValueError, match=r"is not one to train on: those are 0 to 2\^31 - 1"):
            spec.training(seed)
    with pytest.raises(ValueError, match="test scenarios are 0 to"):
        spec.test(TESTS)


@pytest.mark.parametrize("name", TASKS)
def test_every_flow_of_a_scenario_has_a_slot(name: str) -> None:
    spec = task(name)
    assert all(0 < spec.training(seed).agent_flow_count <= spec.slots for seed in range(10))


def test_a_draw_that_no_network_can_be_is_drawn_again() -> None:
    # The first draw of this seed leaves nothing of the buffers: 31 links of 400 Gb/s, 10 µs long.
    assert task("Rates").training(614).agent_flow_count > 0


@pytest.mark.parametrize("name", TASKS)
def test_gymnasium_makes_it_by_its_id(name: str) -> None:
    env = gymnasium.make(task(name).id)
    assert isinstance(env.unwrapped, FlowEnv)
    copy: Any = pickle.loads(pickle.dumps(env.unwrapped))
    lives = [_life(env, seed=3), _life(copy, seed=3), _life(env, seed=4)]
    env.close()
    copy.close()
    assert lives[0] == lives[1] != lives[2]


def _life(env: Any, seed: int) -> list[float]:
    """Rewards of a flow's life, and its slowdown."""
    env.reset(seed=seed)
    rewards, over = [], False
    while not over:
        _, reward, terminated, truncated, info = env.step(np.zeros(1, dtype=np.float32))
        rewards.append(reward)
        over = terminated or truncated
    return [*rewards, info["slowdown"]]


@pytest.mark.parametrize("name", [name for name, spec in TASKS.items() if spec.clock == RDMA_CLOCK])
def test_a_flow_decides_its_first_window_before_its_first_packet(name: str) -> None:
    env = gymnasium.make(task(name).id)
    _, info = env.reset(seed=2)
    first = info["telemetry"]
    assert (first["rtt"], first["attained"], first["inflight_bytes"]) == (0, 0, 0)
    assert first["window_bytes"] == pytest.approx(0.5 * first["bdp_bytes"])
    env.close()


def test_an_action_lets_one_flow_of_a_hundred_take_a_link_and_none_wait_for_four_rtts() -> None:
    record = np.zeros((1, len(FIELDS)))
    for field, value in {
        "fair_share": 0.01,
        "bdp_bytes": 1e5,
        "packet_bytes": 1e3,
        "host_rate_bps": 1e11,
    }.items():
        record[0, INDEX[field]] = value
    least, share, most = (RDMA_ACTION(np.array([[a]]), record)[0, 0] for a in (-1.0, 0.0, 1.0))
    assert most == pytest.approx(1e5, rel=0.01)
    assert share == pytest.approx(1e3)
    assert least == pytest.approx(320)  # a packet each 3.1 base RTTs, even if the share is less


def test_flows_of_an_environment_spare_telemetry_and_those_of_tests_leave_that_to_the_entry() -> None:
    spec = task("Incast")
    spared = {"TelemetryEveryRtts": 0.2}
    assert spec.episode(1).controllers[0].attributes == spared
    for front_end in ("gymnasium", "stream", "sb3", "pettingzoo"):
        env = make("Incast", front_end)
        scenario = env.sampler(0) if hasattr(env, "sampler") else env.scenario
        assert {*spared.items()} <= {*scenario.controllers[0].attributes.items()}, front_end
        env.close()
    assert not spec.training(1).controllers[0].attributes
    assert not spec.test(1).controllers[0].attributes


def test_a_former_id_names_the_one_of_today() -> None:
    with pytest.raises(
        ValueError, match="'Incast-v3' is another version of this task than 'ns3_env/Incast-v4'"
    ):
        task("Incast-v3")
    with (
        pytest.warns(DeprecationWarning, match="v4"),
        pytest.raises(gymnasium.error.DeprecatedEnv, match="Please use `ns3_env/Incast-v4` instead"),
    ):
        gymnasium.make("ns3_env/Incast-v3")


@pytest.mark.parametrize("name", STEPPED)
def test_stepped_front_ends_step_it(name: str) -> None:
    vector = make(name, "sb3")
    vector.mask.acknowledge()
    vector.reset()
    for _ in range(5):
        observations, rewards, _, _ = vector.step(np.zeros((vector.num_envs, 1)))
    vector.close()
    assert observations.shape == (task(name).slots, len(task(name).fields))
    assert np.isfinite(rewards).all()
    parallel = make(name, "pettingzoo")
    parallel.reset(seed=1)
    for _ in range(5):
        _, paid, _, _, _ = parallel.step({agent: np.zeros(1) for agent in parallel.agents})
    parallel.close()
    assert np.isfinite(list(paid.values())).all()


@pytest.mark.parametrize("name", TASKS)
def test_streams_play_it_under_its_own_clock(name: str) -> None:
    with make(name, "stream") as stream:
        stream.start()
        batch = stream.recv()
        assert batch.observations.shape[1] == len(task(name).fields)
        assert stream.task.reward == task(name).problem().reward


@pytest.mark.parametrize("front_end", ["gymnasium", "sb3", "pettingzoo", "stream", "rollouts"])
def test_every_front_end_takes_other_fields_rewards_and_actions_than_the_tasks(front_end: str) -> None:
    env = make("Incast", front_end, reward="slowdown", fields=["rtt", "fair_share"])
    assert env.fields == ("rtt", "fair_share")
    assert env.reward == make_reward("slowdown")
    assert env.task.action == task("Incast").action
    env.close()


def test_what_there_is_not_is_named() -> None:
    with pytest.raises(ValueError, match="there is no task 'Incst'; there are Incast, Joining"):
        make("Incst")
    with pytest.raises(ValueError, match="there is no front end 'gym'; there are gymnasium, sb3"):
        make("Incast", "gym")


def test_only_policies_are_told_that_a_task_is_scored_by_fairness() -> None:
    for spec in TASKS.values():
        expected = {"FairnessWeight": 1.0} if spec.measure == "max_min" else {}
        scenario = spec.test(0)
        wishes = {
            key: value
            for controller in scenario.controllers
            for key, value in controller.attributes.items()
            if key == "FairnessWeight"
        }
        assert wishes == expected
        if scenario.transport == "rdma":
            assert "FairnessWeight" not in scenario.under("hpcc").controllers[0].attributes


def test_a_curriculum_of_tasks_draws_each_as_often() -> None:
    config = validate({"tasks": ["Incast", "ns3_env/Rates-v4"]}, CurriculumConfig, "c.yaml")
    curriculum = Curriculum(config, EnvConfig(fields=["rtt"]), 1, "c.yaml")
    sources = [curriculum(episode).source for episode in range(200)]
    assert {*sources} == {"ns3_env/Incast-v4", "ns3_env/Rates-v4"}
    assert 70 < sources.count("ns3_env/Incast-v4") < 130
    assert curriculum.most_flows == 64
    with pytest.raises(ConfigError, match="tasks: there is no task 'Incest'"):
        validate({"tasks": ["Incest"]}, CurriculumConfig, "c.yaml")


def test_a_task_of_another_package_is_made_by_name_and_by_id() -> None:
    def draw(random: np.random.Generator) -> dict[str, Any]:
        """Two flows."""
        return {
            "topology": {"kind": "dumbbell", "senders": 2},
            "traffic": {"kind": "incast", "size_bytes": 100_000},
        }

    try:
        declare("Mine")(draw)
        assert task("Mine").id == "ns3_env/Mine-v0"
        assert task("Incast").id == "ns3_env/Incast-v4"
        with closing(gymnasium.make("ns3_env/Mine-v0")) as env:
            env.reset(seed=1)
        for front_end in ("gymnasium", "sb3", "pettingzoo", "stream", "rollouts"):
            with closing(make("Mine", front_end)) as env:
                assert env.task.fields == task("Mine").fields
        assert score("dcqcn", "Mine")["score"].abs().max() == pytest.approx(0, abs=1e-9)
        assert score("oracle", "ns3_env/Mine-v0")["score"].mean() == pytest.approx(100)
    finally:
        for place, key in ((TASKS, "Mine"), (VERSIONS, "Mine"), (gymnasium.registry, "ns3_env/Mine-v0")):
            place.pop(key, None)


def drawn(name: str) -> Iterator[Scenario]:
    yield from map(task(name).training, range(2))


def hosts_of(scenario: Scenario) -> dict[str, set[int]]:
    """Hosts that send or receive, by job; "" of flows of none."""
    flows = scenario.flows()
    network = scenario.topology.build()
    host_of = {card: host for host, cards in network.cards.items() for card in cards}
    hosts: dict[str, set[int]] = {}
    for flow, ends in enumerate(zip(flows.src, flows.dst, strict=True)):
        label = flows.tasks.labels.get(flow)
        hosts.setdefault(label.job if label else "", set()).update(host_of[card] for card in ends)
    return hosts


def test_a_job_of_training_has_all_gpus() -> None:
    for scenario in drawn("Training"):
        assert hosts_of(scenario) == {"training": {*scenario.topology.build().hosts}}


def test_jobs_that_share_a_cluster_have_nodes_of_their_own_and_storage_has_others() -> None:
    for scenario in drawn("SharedCluster"):
        hosts = hosts_of(scenario)
        nodes = {name: {host // 4 for host in hosts[name]} for name in ("first", "second")}
        assert [len(group) for group in nodes.values()] == [3, 3]
        assert not nodes["first"] & nodes["second"]
        storage = {*range(8)} - nodes["first"] - nodes["second"]
        flows = scenario.traffic.model_dump()["parts"][2]["flows"]
        assert all((flow["src"] // 4 in storage) != (flow["dst"] // 4 in storage) for flow in flows)


def test_what_cannot_be_scored_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match=r"dctcp cannot run ns3_env/Mixed-v4: its fields, or the marks"):
        score("dctcp", "Mixed")
    with pytest.raises(ConfigError, match="the nearest known one is 'Bursts'"):
        score("hpcc", "Burst")
