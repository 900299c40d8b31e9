# SPDX-License-Identifier: GPL-2.0-or-later
"""A stand-in for ns3-ai's Python on this package's flows: observations, rewards, ends, stops."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.decision.observations import FDCC_FIELDS, telemetry_names
from ns3_env.envs.bottleneck_envs import TcpBottleneckEnv
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.errors import ConfigError, SimulatorDied
from ns3_env.ns3ai import Ns3AiEnv, path
from ns3_env.ns3ai.__main__ import main
from ns3_env.ns3ai.flows_player import element_dtypes
from ns3_env.ns3ai.gym_wire import parsed
from ns3_env.scenario import Scenario
from ns3_env.simulator.process import process_state
from tests.ns3ai.foreign_ns3ai import ForeignNs3Env, Interface, start
from tests.paths import ROOT
from tests.processes import alive, descendants, shared_memory

pytestmark = pytest.mark.alone

ACTIONS = [(-1.0) ** k * (k % 5) / 4 for k in range(200)]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = shared_memory()
    yield
    assert shared_memory() == before


def played(foreign: ForeignNs3Env, steps: int) -> list[tuple[Any, ...]]:
    """Observations, rewards and messages of the agent, from a reset on."""
    states = [foreign.state()]
    for action in ACTIONS[:steps]:
        if states[-1][2]:
            break
        states.append(foreign.step([action]))
    return states


def played_here(env: FlowEnv, seed: int, steps: int) -> list[tuple[Any, ...]]:
    observation, info = env.reset(seed=seed)
    states: list[tuple[Any, ...]] = [(observation, 0.0, False, 0, f"time_ns={info['time_ns']:.3f}")]
    for action in ACTIONS[:steps]:
        if states[-1][2]:
            break
        observation, reward, terminated, truncated, info = env.step(np.array([action], dtype=np.float32))
        over = terminated or truncated
        details = f"time_ns={info['time_ns']:.3f}"
        states.append((observation, float(np.float32(reward)), over, int(terminated), details))
    env.close()
    return states


def assert_same(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> None:
    assert len(one) == len(other)
    for one_step, other_step in zip(one, other, strict=True):
        assert one_step[0].tobytes() == other_step[0].tobytes()
        assert one_step[1:] == other_step[1:]


def test_its_environment_steps_an_rdma_flow_to_its_end_is_reset_by_the_paths_settings_and_stops_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its Python passes settings only at the first start, where they win, key by key, over the path's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    settings = {"flows": 3, "fields": "rtt,qlen", "seed": 5}
    tree = path(settings)
    assert tree == path(settings) != path()
    foreign = ForeignNs3Env("rdma-incast", tree, {"RngRun": 6})

    def here(seed: int, steps: int) -> list[tuple[Any, ...]]:
        return played_here(FlowEnv(flows=3, fields=("rtt", "qlen")), seed, steps)

    try:
        assert foreign.observation_box[2:] == (3, (2,))
        assert foreign.action_box == (-1.0, 1.0, 3, (1,))
        whole = played(foreign, 200)
        assert whole[-1][2:4] == (True, 1), "the flow is done: GameOver"
        assert_same(whole, here(6, 200))
        assert foreign.wait() == 0
        foreign.command = f"{tree}/ns3 run rdma-incast --"
        foreign.begin()
        assert_same(played(foreign, 3), here(5, 3))
        foreign.stop()
        assert foreign.wait() == 0
    finally:
        foreign.kill()


def test_its_environment_of_a_newer_boost_steps_a_tcp_flow_until_the_time_limit(tmp_path: Path) -> None:
    """1.87 and later lay a segment out otherwise."""
    scenario = tmp_path / "tcp.yaml"
    scenario.write_text(
        "transport: tcp\ntime_limit_ns: 1ms\n"
        "topology: {kind: dumbbell, senders: 2, rate_bps: 10Gbps, delay_ns: 5us}\n"
        "traffic: {kind: incast, size_bytes: 20MB}\n"
    )
    foreign = ForeignNs3Env("tcp-bottleneck", path(), {"scenario": scenario, "seed": 2}, layout=2)
    try:
        whole = played(foreign, 200)
        assert whole[-1][2:4] == (True, 0), "cut at the time limit: SimulationEnd"
        assert_same(whole, played_here(TcpBottleneckEnv(Scenario.load(scenario)), 2, 200))
        assert foreign.wait() == 0
    finally:
        foreign.kill()


def test_its_vector_interface_steps_every_flow_until_the_segment_says_finished() -> None:
    count, spare = 3, 1
    states, actions = element_dtypes(FDCC_FIELDS)
    interface = Interface(count + spare)
    process = start(f"{path()}/ns3 run rdma-flows -- --flows={count} --seed=4")
    env = FlowParallelEnv(flows=count)
    try:
        observations, infos = env.reset(seed=4)
        rewards, terminated = dict.fromkeys(env.agents, 0.0), dict.fromkeys(env.agents, False)
        messages = 0
        while True:
            flow_states = np.frombuffer(
                ctypes.string_at(interface.receive_begin(), states.itemsize * (count + spare)), dtype=states
            )
            interface.receive_end()
            if interface.finished:
                break
            messages += 1
            for i, agent in enumerate(env.possible_agents):
                if agent in observations:
                    assert flow_states["state"][i] == infos[agent]["due"] + 2 * terminated[agent]
                    assert flow_states["reward"][i] == np.float32(rewards[agent])
                    assert [flow_states[field][i] for field in FDCC_FIELDS] == observations[agent].tolist()
            assert not flow_states[count:]["state"].any()
            chosen = np.array([((i + messages) % 5 - 2) / 2 for i in range(count + spare)], dtype=actions)
            ctypes.memmove(interface.send_begin(), chosen.tobytes(), chosen.nbytes)
            interface.send_end()
            if env.agents:
                decisions = {f"flow_{i}": chosen["action"][i : i + 1] for i in range(count)}
                observations, rewards, terminated, _, infos = env.step(decisions)
        assert messages > 10
        assert process.wait(10) == 0
    finally:
        env.close()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        interface.remove()


def test_a_struct_has_a_float_for_each_declared_field(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["structs", "tcp-flows", "--", "--fields=rtt"]) == 0
    assert "float rtt;\n};" in capsys.readouterr().out
    assert main(["structs", "tcp-flows", "--", "--fields=queueing = rtt - 1"]) == 2
    assert "is a formula: expected a declared field's name" in capsys.readouterr().err


@pytest.mark.parametrize("layout", [1, 2])
def test_vectors_that_are_too_short_are_refused_with_what_would_do(
    layout: int, capfd: pytest.CaptureFixture[str]
) -> None:
    interface = Interface(2, layout=layout)
    try:
        assert main(["run", "rdma-flows", "--", "--flows=3"]) == 2
        assert "the vectors have 2 elements, and the scenario 3 flows" in capfd.readouterr().err
        fields = ",".join(telemetry_names(ports=False))
        assert main(["run", "rdma-flows", "--", "--flows=2", f"--fields={fields}"]) == 2
        assert "no room for elements of" in capfd.readouterr().err
    finally:
        interface.remove()


#: Packages that are slow to import, of those that a run needs.
HEAVY = {"numpy", "gymnasium", "google", "torch", "pettingzoo"}


def loaded(arguments: str, folder: Path | None = None) -> tuple[str, set[str]]:
    """The script's message on invalid arguments, and the packages that it loaded for that."""
    command = [str((folder or path()) / "ns3"), *arguments.split()]
    env = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done.stderr
    lines = done.stderr.splitlines()
    times = [line for line in lines if line.startswith("import time:")]
    output = "\n".join(line for line in lines if line not in times)
    return output, {line.rpartition("|")[2].strip().partition(".")[0] for line in times}


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        ("run rdma-incas", "the nearest known one is 'rdma-incast'"),
        ("run rdma-incast -- --sed=3", "unknown key 'sed'; the nearest known one is 'seed'"),
        ("run rdma-incast -- --flows=0", "flows: Input should be greater than or equal to 1"),
        ("run rdma-flows -- --flows=3", "the vectors have 2 elements, and the scenario 3 flows"),
        ("run tcp-flows -- --flows=3", "the vectors have 2 elements, and the scenario 3 flows"),
    ],
)
def test_a_mistake_ends_it_before_anything_heavy_is_loaded(arguments: str, phrase: str) -> None:
    """Its Python checks only once, half a second after the start, whether the simulation has died."""
    interface = Interface(2, segment="ns3_env-early")
    try:
        if "flows --" in arguments:
            arguments += " --segment=ns3_env-early"
        message, packages = loaded(arguments)
    finally:
        interface.remove()
    assert message.startswith("error: ")
    assert phrase in message
    assert "ns3_env" in packages
    assert not packages & HEAVY


def test_a_scenarios_faults_are_said_before_gymnasium_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("topology: {kind: dumbbell, sendrs: 2}\ntraffic: {kind: incast, size_bytes: 1MB}\n")
    message, packages = loaded(f"run rdma-incast -- --scenario={file}")
    assert f"{file}: topology" in message
    assert "unknown key 'sendrs'; the nearest known one is 'senders'" in message
    assert not packages & (HEAVY - {"numpy"})


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("--reward=stagd", "unknown reward 'stagd'"),
        ("--action=windw", "unknown action map 'windw'"),
        ("--fields=rt", "unknown observation field 'rt'; the nearest known one is 'rtt'"),
    ],
)
def test_what_goes_wrong_later_is_heard_by_its_python(
    mistake: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ends the wait of its Python: Gym's interface gets an unparsable message, vectors are finished."""
    interface = Interface(segment="ns3_env-late")
    try:
        assert main(["run", "rdma-incast", "--", mistake, "--segment=ns3_env-late"]) == 2
        assert f"ns3 run rdma-incast: {message}" in capfd.readouterr().err
        with pytest.raises(ValueError, match="no SimInitMsg"):
            parsed("SimInitMsg", interface.receive())
    finally:
        interface.remove()
    interface = Interface(4, segment="ns3_env-late")
    try:
        assert main(["run", "rdma-flows", "--", mistake, "--segment=ns3_env-late"]) == 2
        interface.receive_begin()
        assert interface.finished
    finally:
        interface.remove()


def test_our_own_environment_tells_the_last_words_of_what_goes_wrong_later() -> None:
    with pytest.raises(SimulatorDied, match=r"(?s)exit code 2; its last words:.*stagd"):
        Ns3AiEnv("rdma-incast", path(), {"reward": "stagd"}, timeout_s=60)


def test_settings_of_a_path_are_looked_at_when_it_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=r"path\(\): unknown key 'sed'; the nearest known one is 'seed'"):
        path({"sed": 1})
    monkeypatch.chdir(tmp_path)
    assert str(tmp_path / "my.yaml") in (path({"scenario": "my.yaml"}) / "ns3").read_text()
    assert main(["path", "--", "--flows=8"]) == 0
    assert capfd.readouterr().out.strip() == str(path({"flows": 8}))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run rdma-incast -- flows=3", "a setting is --key=value"),
        ("run rdma-incast -- --seed", "give it as text, '0'"),
        ("run rdma-incast -- --segment=ns3_env-none", "there is no segment 'ns3_env-none'"),
        ("build", "ns3 run TARGET"),
    ],
)
def test_what_cannot_be_run_is_said(arguments: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(arguments.split()) == 2
    assert message in capfd.readouterr().err


WAITS = """
import sys, time
from tests.ns3ai.foreign_ns3ai import ForeignNs3Env
from ns3_env.errors import ConfigError, SimulatorDied
from ns3_env.ns3ai import Ns3AiEnv, path
foreign = ForeignNs3Env("rdma-incast", path(), {})
foreign.state()
print(foreign.process.pid, flush=True)
time.sleep(60)
"""


def test_it_sleeps_while_its_python_learns_and_ends_when_that_is_killed() -> None:
    python = subprocess.Popen([sys.executable, "-c", WAITS], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert python.stdout is not None
    first = int(python.stdout.readline())
    processes = [first, *descendants(first)]
    assert any("rdma-sim" in Path(f"/proc/{pid}/comm").read_text() for pid in processes)
    time.sleep(0.2)
    used = sum(process_state(pid)[1] for pid in processes)
    time.sleep(0.8)
    assert sum(process_state(pid)[1] for pid in processes) - used < 0.1
    python.kill()
    python.wait()
    ended = time.monotonic()
    while any(alive(pid) for pid in processes):
        assert time.monotonic() - ended < 3, "they outlive their Python"
        time.sleep(0.01)
