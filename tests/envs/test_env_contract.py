# SPDX-License-Identifier: GPL-2.0-or-later
"""The environments' contracts with Gymnasium, SB3 and PettingZoo, on the real simulator."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test  # type: ignore[import-untyped]
from stable_baselines3 import TD3
from stable_baselines3.common.env_checker import check_env as sb3_check_env

import ns3_env  # noqa: F401 (registers the environments)
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.sb3_buffers import masked
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ScenarioError, SimulatorDied
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator, list_controllers
from ns3_env.task.actions import AbsoluteWindow
from tests.processes import alive, shared_memory


def scenario(
    clock: str = "per_flow_rtt", size_bytes: int = 100_000, senders: int = 3, **keys: Any
) -> Scenario:
    return Scenario.from_mapping(
        {
            "topology": {"kind": "dumbbell", "senders": senders},
            "traffic": {"kind": "incast", "size_bytes": size_bytes, "spread_ns": 20_000},
            "clock": {"name": clock},
            **keys,
        },
        "test.yaml",
    )


def policy(observations: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    return np.asarray(np.tanh(1.5 - observations[:, :1]))


def episodes(env: FlowVecEnv, count: int) -> dict[int, Any]:
    """Everything seen in the first ``count`` episodes."""
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


@pytest.mark.parametrize("clock", ["per_flow_rtt", "synchronous"])
def test_gymnasium_and_sb3_checkers_pass(clock: str) -> None:
    env = gym.make("ns3_env/RdmaIncast-v0", scenario=scenario(clock))
    check_env(env.unwrapped)
    sb3_check_env(env.unwrapped)
    env.close()


def test_pettingzoo_checker_passes() -> None:
    env = FlowParallelEnv(scenario("synchronous"))
    parallel_api_test(env, num_cycles=200)
    env.close()


def test_time_limit_truncates_and_completion_terminates() -> None:
    for limit, ended in ((10_000_000, (True, False)), (30_000, (False, True))):
        env = gym.make("ns3_env/RdmaIncast-v0", scenario=scenario(time_limit_ns=limit))
        env.reset(seed=1)
        over = (False, False)
        while not any(over):
            _, _, *over, _ = env.step(np.array([0.5], dtype=np.float32))  # type: ignore[assignment]
        assert tuple(over) == ended
        env.close()


@pytest.mark.parametrize("clock", ["per_flow_rtt", "synchronous"])
def test_same_seed_same_bits_with_1_2_and_4_simulators(clock: str) -> None:
    runs = []
    for n in (1, 2, 4):
        with FlowVecEnv(scenario(clock), num_simulators=n, slots=3, seed=5) as env:
            runs.append(episodes(env, 4))
    assert runs[0] == runs[1] == runs[2]


def test_reset_with_a_seed_repeats_in_the_same_process() -> None:
    env = gym.make("ns3_env/RdmaIncast-v0", scenario=scenario())

    def play(seed: int) -> list[Any]:
        seen = [env.reset(seed=seed)[0].tobytes()]
        over = False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(np.array([0.2], dtype=np.float32))
            seen.append((observation.tobytes(), reward))
            over = terminated or truncated
        return seen

    pid = None
    first = play(3)
    pid = env.unwrapped._simulator.pid  # type: ignore[attr-defined]
    other = play(4)
    assert play(3) == first != other
    assert env.unwrapped._simulator.pid == pid  # type: ignore[attr-defined]
    env.close()


def test_500_resets_in_one_process_keep_memory_flat() -> None:
    def resident_kib(pid: int) -> int:
        line = next(x for x in Path(f"/proc/{pid}/status").read_text().splitlines() if x.startswith("VmRSS"))
        return int(line.split()[1])

    with FlowVecEnv(scenario(size_bytes=20_000), slots=3) as env:
        env.mask.acknowledge()
        sizes = []
        for i in range(500):
            env.reset()
            env.step(np.zeros((3, 1)))
            pid = env.pids[0]
            assert pid is not None
            if i in (100, 499):
                sizes.append(resident_kib(pid))
    assert sizes[1] - sizes[0] < 512


def test_killed_simulator_raises_within_a_second_and_reset_works() -> None:
    with FlowVecEnv(scenario(size_bytes=2_000_000), num_simulators=2, slots=3) as env:
        env.mask.acknowledge()
        env.reset()
        pid = env.pids[0]
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        begin = time.monotonic()
        with pytest.raises(SimulatorDied, match="signal 9"):
            env.step(np.zeros((6, 1)))
        assert time.monotonic() - begin < 1
        env.reset()
        env.step(np.zeros((6, 1)))


def test_a_window_of_nothing_does_not_stop_a_flow_for_good() -> None:
    """A flow that decides on ACKs, and sends nothing, would never be asked again."""
    own = Scenario(time_limit_ns=20_000_000, traffic=Incast(flows=2, size_bytes=3_000), min_rate_bps=1e9)
    with FlowVecEnv(own, slots=2, action=AbsoluteWindow()) as env:
        env.start()
        while not (batch := env.recv()).results:
            if batch.due.any():
                env.send(np.zeros((np.count_nonzero(batch.due), 1)), batch.slots[batch.due])
        assert batch.results[0][1]["totals"]["unfinished"] == 0


@pytest.mark.alone
def test_simulators_die_with_their_parent_and_leave_nothing() -> None:
    before = shared_memory()
    program = textwrap.dedent(
        """
        import time
        from ns3_env.scenario import Scenario
        from ns3_env.envs.sb3_vec_env import FlowVecEnv
        env = FlowVecEnv(Scenario(), num_simulators=2, slots=4)
        env.reset()
        print(*env.pids, flush=True)
        time.sleep(60)
        """
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = parent.stdout.readline().split()
        assert len(pids) == 2
        parent.kill()
        end = time.monotonic() + 1
        while time.monotonic() < end and any(alive(int(pid)) for pid in pids):
            time.sleep(0.01)
        assert not any(alive(int(pid)) for pid in pids)
    assert shared_memory() == before


def test_unknown_controller_and_attribute_name_file_and_key() -> None:
    assert "hpcc" in list_controllers()
    with Simulator() as simulator:
        for controller, text in (
            ({"name": "hpc"}, "hpc"),
            ({"name": "hpcc", "attributes": {"Etaa": 1}}, "Etaa"),
        ):
            simulator.send_reset(scenario(controllers=[{"name": "agent"}, controller], controlled_flows=[0]))
            with pytest.raises(ScenarioError, match=rf"^test\.yaml: .*{text}"):
                simulator.receive()


def test_a_stable_baselines_algorithm_trains() -> None:
    with FlowVecEnv(scenario("synchronous", size_bytes=200_000), num_simulators=2, slots=3) as env:
        model = masked(
            TD3("MlpPolicy", env, learning_starts=20, train_freq=4, seed=1, policy_kwargs={"net_arch": [16]})
        )
        model.learn(120)
        assert model.num_timesteps >= 120
        assert len(model.ep_info_buffer or ()) > 0
