# SPDX-License-Identifier: GPL-2.0-or-later
"""The environments' contracts with Gymnasium, SB3 and PettingZoo, and their usual calls."""

import os
import pickle
import signal
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv

import ns3_env  # noqa: F401 (registers the environments)
from ns3_env.decision.actions import AbsoluteWindow
from ns3_env.envs.bottleneck_envs import TCP_FIELDS, TcpBottleneckEnv
from ns3_env.envs.flow_stream import episode_seed
from ns3_env.envs.gym_env import FlowEnv, incast_scenario
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.rendering import HEIGHT, WIDTH
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ScenarioError, SimulatorDied
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic import Incast
from tests.samples.scenarios import incast


def scenario(clock: str = "per_flow_rtt", size_bytes: int = 100_000, **keys: Any) -> Scenario:
    return incast(3, size_bytes, spread_ns=20_000, **{"clock": {"name": clock}, **keys})


def policy(observations: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    return np.asarray(np.tanh(1.5 - observations[:, :1]))


def episodes(env: FlowVecEnv, count: int) -> dict[int, Any]:
    """All observations of the first ``count`` episodes."""
    rows: dict[int, list[Any]] = {}
    results: dict[int, Any] = {}
    env.start()
    while not set(range(count)) <= set(results):
        playing = list(env._episodes)
        batch = env.recv()
        for i, result in batch.results:
            results[result["episode"]] = result
            playing[i] = env._episodes[i]
        for k in range(len(batch.slots)):
            rows.setdefault(playing[batch.simulators[k]], []).append(
                (int(batch.slots[k]) % env.slots, batch.records[k].tobytes(), float(batch.rewards[k]))
            )
        env.send(policy(batch.observations[batch.due]), batch.slots[batch.due])
    return {episode: (rows[episode], results[episode]) for episode in range(count)}


@pytest.mark.parametrize(
    ("limit", "reward", "ended", "cut"),
    [
        (10_000_000, "staged", (True, False), False),
        (30_000, "staged", (False, True), True),
        (30_000, "slowdown", (True, False), True),  # the rest is already charged: nothing to bootstrap
    ],
)
def test_time_limit_truncates_unless_it_is_paid_and_completion_terminates(
    limit: int, reward: str, ended: tuple[bool, bool], cut: bool
) -> None:
    env = gym.make("ns3_env/RdmaIncast-v1", scenario=scenario(time_limit_ns=limit), reward=reward)
    env.reset(seed=1)
    over = (False, False)
    while not any(over):
        _, _, *over, info = env.step(np.array([0.5], dtype=np.float32))  # type: ignore[assignment]
    assert (tuple(over), info["cut"]) == (ended, cut)
    env.close()


@pytest.mark.parametrize(("clock", "ordered"), [("per_flow_rtt", True), ("synchronous", False)])
def test_same_seed_same_bits_with_1_2_and_4_simulators(clock: str, ordered: bool) -> None:
    runs = []
    for n in (1, 2, 4):
        with FlowVecEnv(scenario(clock), num_simulators=n, slots=3, seed=5, ordered=ordered) as env:
            runs.append(episodes(env, 4))
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize("name", ["ns3_env/RdmaIncast-v1", "ns3_env/TcpBottleneck-v0"])
def test_a_seed_repeats_its_episode_in_the_same_process_whatever_was_before(name: str) -> None:
    """Episodes of other seeds, some of which were left, and the death of the simulator."""
    env = gym.make(name, flows=3)
    still = np.zeros(1, dtype=np.float32)

    def play(seed: int) -> list[Any]:
        trace: list[Any] = [env.reset(seed=seed)[0].tobytes()]
        over = False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(still)
            trace.append((observation.tobytes(), reward))
            over = terminated or truncated
        return trace

    first = play(3)
    pid = env.unwrapped._simulator.pid  # type: ignore[attr-defined]
    other = play(4)
    env.reset(seed=8)
    env.step(still)
    assert play(3) == first != other
    assert env.unwrapped._simulator.pid == pid  # type: ignore[attr-defined]
    env.reset(seed=3)
    env.step(still)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(SimulatorDied, match="signal 9"):
        env.step(still)
    assert play(3) == first
    env.close()


def test_what_switches_alone_can_tell_is_absent_from_tcp_by_name() -> None:
    env = gym.make("ns3_env/TcpBottleneck-v0")
    _, info = env.reset(seed=1)
    assert set(TCP_FIELDS) <= set(info["telemetry"])
    assert not {"qlen", "switch_rate", "flow_count", "notified_offset"} & set(info["telemetry"])
    env.close()
    with pytest.raises(ScenarioError, match="'qlen'"):
        gym.make("ns3_env/TcpBottleneck-v0", fields=("rtt", "qlen"))


def test_a_window_of_nothing_does_not_stop_a_flow_for_good() -> None:
    """A flow that decides on ACKs, and sends nothing, would never be asked again."""
    scenario = Scenario(time_limit_ns=20_000_000, traffic=Incast(flows=2, size_bytes=3_000), min_rate_bps=1e9)
    with FlowVecEnv(scenario, slots=2, action=AbsoluteWindow()) as env:
        env.start()
        while not (batch := env.recv()).results:
            if batch.due.any():
                env.send(np.zeros((np.count_nonzero(batch.due), 1)), batch.slots[batch.due])
        assert batch.results[0][1]["totals"]["unfinished"] == 0


ID = "ns3_env/RdmaIncast-v1"
ACTION = np.array([0.3], dtype=np.float32)


def test_make_vec_env_and_subprocesses_by_id() -> None:
    env = make_vec_env(f"ns3_env:{ID}", n_envs=1, vec_env_cls=SubprocVecEnv, env_kwargs={"flows": 2}, seed=3)
    first = env.reset()
    env.step(np.zeros((1, 1), dtype=np.float32))
    image = env.render(mode="rgb_array")
    assert isinstance(image, np.ndarray)
    assert image.std() > 1
    env.close()
    assert isinstance(first, np.ndarray)
    assert first.shape[0] == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: FlowEnv(flows=2, render_mode="rgb_array"),
        lambda: FlowParallelEnv(flows=2, render_mode="rgb_array"),
        lambda: TcpBottleneckEnv(flows=2, render_mode="rgb_array"),
    ],
    ids=["flow", "parallel", "tcp"],
)
def test_an_environment_that_was_pickled_is_the_same_one_from_its_beginning(make: Any) -> None:
    env = make()
    env.reset(seed=2)
    again = pickle.loads(pickle.dumps(env))
    one, other = env.reset(seed=2)[0], again.reset(seed=2)[0]
    assert np.array_equal(one, other) if isinstance(one, np.ndarray) else sorted(one) == sorted(other)
    assert again.render().shape == (HEIGHT, WIDTH, 3)
    env.close()
    again.close()


def test_a_vec_env_that_was_pickled_begins_anew() -> None:
    with FlowVecEnv(incast_scenario(2), slots=2, seed=4, render_mode="rgb_array") as env:
        first = env.reset()
        with pickle.loads(pickle.dumps(env)) as again:
            assert np.array_equal(again.reset(), first)
            assert again.render().shape == (HEIGHT, WIDTH, 3)


def test_a_picture_shows_what_has_happened_since_the_reset() -> None:
    env = gym.make(ID, render_mode="rgb_array")
    env.reset(seed=1)
    empty: Any = env.render()
    for _ in range(15):
        env.step(ACTION)
    full: Any = env.render()
    env.reset(seed=1)
    assert (full != empty).any()
    assert np.array_equal(env.render(), empty)
    env.close()


def test_another_render_mode_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"one of \['rgb_array'\], not 'human'"):
        FlowEnv(render_mode="human")


def test_reset_plays_the_scenario_that_it_is_given(tmp_path: Path) -> None:
    env = FlowEnv(flows=2)
    env.reset(seed=1)
    _, info = env.reset(seed=1, options={"scenario": incast_scenario(5, size_bytes=50_000)})
    assert env.scenario.flow_count == 5
    assert info["telemetry"]["time_ns"] == info["time_ns"]
    env.reset(seed=1)
    assert env.scenario.flow_count == 5  # from now on
    with pytest.raises(ScenarioError, match="traffic"):
        env.reset(options={"scenario": {"traffic": {"kind": "none"}}})
    with pytest.raises(ValueError, match="there is no 'flows'; reset\\(\\) knows 'scenario'"):
        env.reset(options={"flows": 3})
    env.close()


#: Arguments that an environment refuses when it is made, and its message.
_REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (ID, {"flows": 0}, "incast of 0 flows: topology.senders: Input should be greater than or equal to 1"),
    (ID, {"flows": 3, "scenario": {}}, "flows=3: belongs to the default scenario"),
    (
        ID,
        {"reward": {"name": "slowdown", "shapin": 1}},
        "reward: slowdown: .*unexpected keyword argument 'shapin'",
    ),
    (ID, {"action": 3}, r"action: is 3: write a name, or make_action_map\(name, \*\*settings\) of"),
    (ID, {"action": AbsoluteWindow}, r"action: is .*: write a name, or AbsoluteWindow\(\) of ns3_env"),
    (ID, {"action": "absolut"}, "unknown action map 'absolut'; known: "),
    (ID, {"fields": "rtt"}, r"fields: is 'rtt': write a list of names, \['rtt'\]"),
    (ID, {"task": "Incast"}, r"task: is 'Incast': write ns3_env.Task\("),
    ("ns3_env/Incast-v4", {"flows": 60}, "ns3_env/Incast-v4: flows: the task draws its own scenarios"),
    ("ns3_env/Incast-v4", {"scenario": {}}, "ns3_env/Incast-v4: scenario: the task draws its own scenarios"),
    ("ns3_env/TcpBottleneck-v0", {"flows": -1}, "bottleneck of -1 flows: topology.senders: "),
]


@pytest.mark.parametrize(("name", "arguments", "text"), _REFUSED)
def test_what_cannot_be_is_a_sentence_when_the_environment_is_made(
    name: str, arguments: dict[str, Any], text: str
) -> None:
    with pytest.raises((KeyError, TypeError, ValueError), match=text) as error:
        gym.make(name, **arguments)
    assert "pydantic" not in str(error.value)
    assert "\n" not in str(error.value)


def test_an_episode_ends_before_the_step_limit_of_its_id() -> None:
    """No flow decides more often than once in a round trip of two of its shortest links."""
    for name, spec in gym.registry.items():
        if name.startswith("ns3_env/") and name not in ("ns3_env/Ns3Ai-v0", "ns3_env/Script-v0"):
            env: Any = gym.make(name)
            first = env.unwrapped.scenario
            least_rtt_ns = 2 * min(link.delay_ns for link in first.topology.build().links)
            assert spec.max_episode_steps is not None
            assert first.time_limit_ns / least_rtt_ns < spec.max_episode_steps / 10
            env.close()


def test_an_episode_has_the_agents_that_its_seed_draws_and_needs_a_slot_for_each() -> None:
    traffic = {"kind": "poisson", "load": 0.3, "duration_ns": 100_000, "sizes": [[1000, 0], [9000, 100]]}
    random = scenario("synchronous", traffic=traffic)
    counts = {seed: random.with_seed(episode_seed(seed, 0)).agent_flow_count for seed in range(5)}
    assert len(set(counts.values())) > 1
    env = FlowParallelEnv(random, slots=max(counts.values()))
    for seed, count in counts.items():
        env.reset(seed=seed)
        assert env.agents == env.possible_agents[:count]
    env.close()
    env = FlowParallelEnv(random, slots=min(counts.values()))
    most = max(counts, key=lambda seed: counts[seed])
    with pytest.raises(ScenarioError, match=f"possible agents: give slots={counts[most]} or more"):
        env.reset(seed=most)
    env.close()


def test_a_parallel_environments_state_has_every_agents_observation_at_its_place() -> None:
    env = FlowParallelEnv(scenario("synchronous", size_bytes=50_000), slots=5)
    observations, _ = env.reset(seed=1)
    width, left = len(env.fields), 0
    while env.agents:
        state = env.state()
        assert state in env.state_space
        rows = state.reshape(5, width)
        for slot, agent in enumerate(env.possible_agents):
            expected = observations[agent] if agent in env.agents else np.zeros(width, np.float32)
            assert rows[slot].tobytes() == expected.tobytes()
        left = max(left, 3 - len(env.agents))
        observations, *_ = env.step({agent: np.zeros(1, np.float32) for agent in env.agents})
    assert left > 0, "no flow has gone before the others"
    assert not env.state().any()
    env.close()
