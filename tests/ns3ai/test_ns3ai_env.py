# SPDX-License-Identifier: GPL-2.0-or-later
"""``Ns3AiEnv`` on a stand-in for ns3-ai's simulations: episodes, spaces, deaths, clean-up."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as sb3_check_env

import ns3_env  # noqa: F401 (registers the environments)
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.errors import SimulatorDied, SimulatorHung, SimulatorNotFound
from ns3_env.ns3ai import MessageTooLargeError, Ns3AiEnv, SegmentError, WireError, path
from ns3_env.ns3ai.processes import signal_of
from ns3_env.ns3ai.spaces import contain, describe, space_of, value_of
from ns3_env.simulator.process import killed_by, process_state
from tests.ns3ai.foreign_ns3ai import ForeignNs3Env, foreign_tree, tree_of
from tests.paths import ROOT
from tests.processes import alive, open_descriptors, shared_memory, wait_until

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An imitation of an ns-3 source tree, with the foreign simulation."""
    return foreign_tree(tmp_path_factory.mktemp("ns-3"))


def running(program: str = "ns3ai-foreign-s") -> set[int]:
    """Processes of that name (its first 15 letters)."""
    pids = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
    return {pid for pid in pids if name_of(pid) == program and alive(pid)}


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before, processes = shared_memory(), running()
    yield
    assert shared_memory() <= before
    assert running() <= processes


def rewards(env: gym.Env[Any, Any], actions: list[int]) -> list[tuple[Any, ...]]:
    steps: list[tuple[Any, ...]] = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        steps.append((*observation.tolist(), reward, terminated, truncated, info["info"]))
    return steps


def test_episodes_rewards_ends_and_seeds_are_the_simulations(tree: Path) -> None:
    env = Ns3AiEnv("any", tree, {"steps": 3})
    assert env.observation_space == spaces.Box(-4e9, 4e9, (2,), np.float32)
    assert env.action_space == spaces.Discrete(5)
    assert env.reset(seed=7)[0].tolist() == [0.0, 7.0]
    assert rewards(env, [4, 1, 2]) == [
        (1.0, 7.0, 4.0, False, False, "step 1"),
        (2.0, 7.0, 1.0, False, False, "step 2"),
        (3.0, 7.0, 2.0, True, False, "step 3"),
    ]
    with pytest.raises(RuntimeError, match=r"reset\(\) comes first"):
        env.step(0)
    unseeded = env.reset()[0][1], env.reset()[0][1]
    assert unseeded[0] != unseeded[1]
    env.reset(seed=7)
    assert (env.reset()[0][1], env.reset()[0][1]) == unseeded
    env.reset(options={"settings": {"steps": 1, "cut": True, "RngRun": 9}})
    assert rewards(env, [3]) == [(1.0, 9.0, 3.0, False, True, "step 1")]
    with pytest.raises(ValueError, match="'setings'; reset"):
        env.reset(options={"setings": {}})
    env.close()


def test_a_simulation_built_with_a_newer_boost_is_stepped_alike(tmp_path: Path) -> None:
    """1.87 and later lay a segment out otherwise: it crashes on the first, and is started on the other."""
    env = Ns3AiEnv("any", foreign_tree(tmp_path, layout=2), {"steps": 3})
    assert env.reset(seed=7)[0].tolist() == [0.0, 7.0]
    assert rewards(env, [4]) == [(1.0, 7.0, 4.0, False, False, "step 1")]
    env.close()


def test_shapes_and_dtypes_are_those_announced(tree: Path) -> None:
    env = Ns3AiEnv("any", tree, {"rich": 1})
    most = np.iinfo(np.int32)
    assert env.observation_space == spaces.Dict(
        {
            "pair": spaces.Box(0, 10, (2,), np.uint32),
            "column": spaces.Box(most.min, most.max, (2, 1), np.int32),
            "grid": spaces.Box(0, 1, (2, 3), np.float64),
            "level": spaces.Discrete(7),
        }
    )
    assert env.action_space == spaces.Tuple([spaces.Discrete(3), spaces.Box(-8, 8, (2, 2), np.float32)])
    env.reset()
    action = (np.int64(2), np.array([[1.5, 2.0], [-0.5, 4.0]], dtype=np.float32))
    observation, reward, *_ = env.step(action)
    assert reward == 9.0
    assert observation["pair"].tolist() == [1, 7]
    assert observation["column"].tolist() == [[-5], [1]]
    assert np.array_equal(observation["grid"], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    assert observation in env.observation_space, "with their dtypes"
    with pytest.raises(ValueError, match=r"shape \(4,\) where the space has \(2, 2\)"):
        env.step((0, np.zeros(4)))
    env.step(action)  # nothing was sent
    env.close()


def test_actions_of_doubles_arrive_as_the_floats_that_simulations_read(tree: Path) -> None:
    """ns3-ai's Python sends floats whatever the box's dtype, and its simulations are written for that."""
    env = Ns3AiEnv("any", tree, {"wide": 1}, segment="ns3_env-wide", segment_key="segment", timeout_s=10)
    assert env.action_space == spaces.Box(-1, 1, (2,), np.float64)
    env.reset()
    assert env.step(np.array([0.5, 0.125]))[1] == 0.625
    env.close()


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(4),
        spaces.Box(-1, 1, (), np.float32),
        spaces.Box(0, 255, (3, 2), np.uint32),
        spaces.Dict({"b": spaces.Box(-5, 5, (2,), np.float64), "a": spaces.Tuple([spaces.Discrete(2)])}),
    ],
    ids=str,
)
def test_any_space_and_its_values_cross_the_wire_and_back(space: spaces.Space[Any]) -> None:
    assert space_of(describe(space)) == space
    space.seed(1)
    for _ in range(5):
        value = space.sample()
        back = value_of(space, contain(space, value))
        assert space.contains(back)
        assert str(back) == str(value)


def test_what_the_wire_does_not_have_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no MultiBinary: it has Discrete, Box, Tuple and Dict"):
        describe(spaces.MultiBinary(3))
    with pytest.raises(ValueError, match="begin at 0"):
        describe(spaces.Discrete(3, start=1))
    with pytest.raises(ValueError, match="'a' is missing"):
        contain(spaces.Dict({"a": spaces.Discrete(2)}), {})


def test_gymnasiums_and_sb3s_checkers_pass_and_it_can_be_pickled(tree: Path) -> None:
    env = gym.make("ns3_env/Ns3Ai-v0", target="any", ns3_path=tree)
    check_env(env.unwrapped, skip_render_check=True)
    sb3_check_env(env.unwrapped)
    again = pickle.loads(pickle.dumps(env.unwrapped))
    assert again.reset(seed=3)[0].tolist() == env.reset(seed=3)[0].tolist()
    again.close()
    env.close()


@pytest.mark.parametrize("names", [{}, {"segment_key": "segment"}, {"segment": "ns3_env-mine"}])
def test_several_live_at_once_under_one_name_or_under_many(tree: Path, names: dict[str, str]) -> None:
    before = shared_memory()
    settings = {"segment": "ns3_env-mine"} if "segment" in names else {}
    envs = [Ns3AiEnv("any", tree, settings, timeout_s=5, **names) for _ in range(2)]  # type: ignore[arg-type]
    assert shared_memory() == before, "a segment has its name while the simulation starts only"
    for i, env in enumerate(envs):
        assert env.reset(seed=i + 1)[0].tolist() == [0, i + 1]
    for step in (1, 2):
        for i, env in enumerate(envs):
            assert rewards(env, [i]) == [(step, i + 1, i, False, False, f"step {step}")]
    for env in envs:
        env.close()


def test_resets_leave_nothing_open(tree: Path) -> None:
    def held() -> tuple[int, int]:
        maps = Path("/proc/self/maps").read_text().count("/dev/shm/")
        return open_descriptors(), maps

    env = Ns3AiEnv("any", tree, segment="ns3_env-" + "long" * 40, segment_key="segment")
    env.reset()
    gc.collect()  # objects left by earlier tests are not counted
    before = held()
    for _ in range(4):
        env.reset()
    assert held() == before
    env.close()


@pytest.mark.parametrize(
    ("fault", "error", "message", "within_s"),
    [
        ("die", SimulatorDied, r"was killed by signal 9 \(Killed\); its last words:\nforeign: die", 1),
        ("exit", SimulatorDied, r"ended with exit code 3; its last words:\nforeign: exit", 1),
        ("hang", SimulatorHung, r"said nothing for 1\.\d s and was killed", 2),
        ("garbage", WireError, "sent 3 B that are no EnvStateMsg", 2),
        ("overflow", MessageTooLargeError, "past its buffer's end: EnvStateMsg takes 1500 B", 2),
    ],
)
def test_what_goes_wrong_in_a_simulation_is_an_exception_soon_and_costs_no_core(
    tree: Path, fault: str, error: type[Exception], message: str, within_s: float
) -> None:
    env = Ns3AiEnv("any", tree, {"at": 2, "fault": fault}, timeout_s=1.0)
    env.reset()
    env.step(0)
    start_s, used = time.monotonic(), process_state(os.getpid())[1]
    with pytest.raises(error, match=message):
        env.step(0)
    assert time.monotonic() - start_s < within_s
    assert process_state(os.getpid())[1] - used < 0.15
    env.reset()
    env.step(0)
    env.close()


def test_an_action_over_1_kib_is_refused_by_name(tree: Path) -> None:
    env = Ns3AiEnv("any", tree)
    env.reset()
    env.action_space = spaces.Box(0, 1, (300,), np.float32)
    with pytest.raises(
        MessageTooLargeError, match=r"not sent: EnvActMsg takes 12\d\d B, and .* holds 1024 B"
    ):
        env.step(np.zeros(300))
    env.action_space = spaces.Discrete(5)
    env.step(1)  # nothing was sent
    env.close()


@pytest.mark.parametrize(
    ("code", "number"),
    [
        *((-n, n) for n in (1, 6, 9, 11, 15)),  # Python's word for its child's death by signal n
        *((128 + n, n) for n in (1, 6, 9, 11, 15)),  # a shell's
        *((256 - n, n) for n in (2, 6, 9, 11, 15)),  # that of ns-3's script: exit(-n)
        *((code, None) for code in (0, 1, 3, 127, 128, 255, -99)),
    ],
)
def test_a_signal_is_known_by_any_way_in_which_its_code_arrives(code: int, number: int | None) -> None:
    assert signal_of(code) == number
    assert number is None or "signal" in killed_by(number)


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("kill -SEGV $$", r"was killed by signal 11 \(Segmentation fault\); its last words:\nCommand '"),
        ("kill -ABRT $$", r"was killed by signal 6 \(Aborted\)"),
        ("exit 134", r"was killed by signal 6 \(Aborted\)"),
        ("exit 77", "ended with exit code 77"),
        ("exit 255", "ended with exit code 255"),
    ],
)
def test_a_simulation_that_dies_under_ns3s_script_is_told_as_such(
    end: str, message: str, tmp_path: Path
) -> None:
    """The script's own code is 256 - n if a signal n killed its child."""
    folder = tree_of(tmp_path, "/bin/sh", "-c", end)
    with pytest.raises(SimulatorDied, match=message):
        Ns3AiEnv("any", folder, segment="ns3_env-dies", timeout_s=10)


def test_one_that_dies_between_two_steps_or_at_its_start_is_told_too(tree: Path, tmp_path: Path) -> None:
    before = running()
    env = Ns3AiEnv("any", tree)
    env.reset()
    (pid,) = running() - before
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(SimulatorDied, match="signal 9"):
        env.step(0)
    env.close()
    with pytest.raises(
        SimulatorDied, match=r"exit code 1; its last words:\nforeign: unknown argument --no=1"
    ):
        Ns3AiEnv("any", tree, {"no": 1})
    with pytest.raises(SimulatorNotFound, match="ns3_path is the folder"):
        Ns3AiEnv("any", tmp_path)


PYTHON = """
import sys, time
from ns3_env.ns3ai import Ns3AiEnv
env = Ns3AiEnv("any", sys.argv[1], segment="ns3_env-killed", segment_key=sys.argv[2])
env.reset()
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("when", ["in an episode", "while it starts"])
def test_nothing_outlives_a_python_that_is_killed(when: str, tree: Path, tmp_path: Path) -> None:
    silent = tmp_path / "ns3"
    silent.write_text("#!/bin/sh\nsetsid sleep 61 &\nwait\n")
    silent.chmod(0o755)
    folder = tree if when == "in an episode" else tmp_path
    before, sleeping = running(), running("sleep")
    command = [sys.executable, "-c", PYTHON, str(folder), "segment"]
    python = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert python.stdout is not None
    if when == "in an episode":
        assert python.stdout.readline() == "ready\n"
        assert running() - before
    else:
        assert wait_until(lambda: running("sleep") - sleeping, 30), "it starts"
        assert "ns3_env-killed" in shared_memory()
    started = (running() - before) | (running("sleep") - sleeping)
    python.kill()
    python.wait()
    assert wait_until(lambda: not any(map(alive, started)), 3), "they outlive their Python"
    assert wait_until(lambda: "ns3_env-killed" not in shared_memory(), 3), "it outlives its Python"


def test_a_segment_that_a_python_of_ns3_ais_uses_is_not_taken_from_it(tree: Path) -> None:
    """It would spin for ever on memory that no process can find, and its next reset would find nothing."""
    foreign = ForeignNs3Env("any", tree, {"wide": 1})
    try:
        foreign.state()
        with pytest.raises(SegmentError, match=r"'My Seg' is in use by this process.*segment_key="):
            Ns3AiEnv("any", tree, timeout_s=10)
        beside = Ns3AiEnv("any", tree, segment_key="segment", timeout_s=10)
        beside.reset()
        beside.close()
        foreign.stop()
        assert foreign.wait() == 0
        foreign.begin()
        foreign.state()
    finally:
        foreign.kill()
    env = Ns3AiEnv("any", tree, timeout_s=10)
    env.close()


def test_the_process_that_uses_a_segment_is_named_and_one_left_over_is_taken(tree: Path) -> None:
    name = f"ns3_env-{os.getpid()}-held"
    holds = f"""
import mmap
file = open("/dev/shm/{name}", "w+b")
file.truncate(4096)
memory = mmap.mmap(file.fileno(), 4096)
print("ready", flush=True)
input()
"""
    command = [sys.executable, "-c", holds]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "ready\n"
    with pytest.raises(SegmentError, match=rf"in use by process {holder.pid} \(python"):
        Ns3AiEnv("any", tree, segment=name, segment_key="segment", timeout_s=10)
    holder.kill()
    holder.communicate()
    assert name in shared_memory()
    env = Ns3AiEnv("any", tree, segment=name, segment_key="segment", timeout_s=10)
    env.close()


def test_both_ends_of_ours_play_the_flow_that_gymnasium_plays() -> None:
    env, plain = Ns3AiEnv("rdma-incast", path(), {"flows": 3, "RngRun": 6}), FlowEnv(flows=3)
    observation, expected = env.reset()[0], plain.reset(seed=6)[0]
    over = False
    while not over:
        assert observation.tobytes() == expected.tobytes()
        action = np.array([0.5 - observation[0]], dtype=np.float32).clip(-1, 1)
        observation, reward, terminated, truncated, _ = env.step(action)
        expected, paid, *ends, _ = plain.step(action)
        assert (reward, [terminated, truncated]) == (float(np.float32(paid)), ends)
        over = terminated or truncated
    env.close()
    plain.close()


def test_the_folder_is_kept_in_the_cache_and_elsewhere_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert path() == path()
    assert path().is_relative_to(tmp_path)
    script = path() / "ns3"
    assert os.access(script, os.X_OK)
    script.write_text("old")
    assert sys.executable in (path() / "ns3").read_text()
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert sys.executable in (path() / "ns3").read_text()
