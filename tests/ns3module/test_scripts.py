# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts of ns-3 with RDMA: the examples, mistakes in one sentence, and environments over scripts."""

import pickle
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import yaml
from scapy.utils import RawPcapReader

from ns3_env import FlowVecEnv, ScenarioError, SimulatorDied, SimulatorHung
from ns3_env.envs.script_env import ScriptEnv
from ns3_env.eval.commands.train import main as train
from ns3_env.simulator import DecisionBatch, EpisodeEnd, Script, Simulator
from tests.ns3module.building import EXAMPLES, build, run
from tests.paths import ROOT
from tests.samples.runs import CONFIG, checkpoints, the_run, written
from tests.simulator.frames import frames_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scripts")


@pytest.fixture(scope="module")
def incast(folder: Path) -> Path:
    return build(EXAMPLES / "incast.cc", folder / "incast")


@pytest.fixture(scope="module")
def beside_tcp(folder: Path) -> Path:
    return build(EXAMPLES / "rdma-beside-tcp.cc", folder / "rdma-beside-tcp")


@pytest.fixture(scope="module")
def faults(folder: Path) -> Path:
    return build(ROOT / "tests" / "ns3module" / "faults.cc", folder / "faults")


def test_an_incast_reports_each_flow_and_marks(incast: Path) -> None:
    text = run(incast, "--controller=dcqcn", "--senders=16")
    assert len(re.findall(r"^flow \d+: 1000000 B in \d+ ns$", text, re.MULTILINE)) == 16
    marks, _, drops = map(int, re.findall(r": (\d+)", text.splitlines()[-1]))
    assert marks > 0
    assert drops == 0


def test_without_pauses_a_full_buffer_drops(incast: Path) -> None:
    text = run(incast, "--controller=fixed-window", "--senders=64", "--pfc=false", "--size=2000000")
    _, pauses, drops = map(int, re.findall(r": (\d+)", text.splitlines()[-1]))
    assert pauses == 0
    assert drops > 0


def test_captures_have_the_names_that_ns_3_gives_and_the_same_frames(incast: Path, tmp_path: Path) -> None:
    run(incast, "--senders=2", "--size=5000", f"--pcap={tmp_path}/frames")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["frames-2-0.pcap", "frames.pcapng"]
    with RawPcapReader(str(tmp_path / "frames-2-0.pcap")) as reader:
        assert (reader.nano, reader.linktype) == (True, 1)
        frames = [(facts.sec * 10**9 + facts.usec, facts.wirelen, data) for data, facts in reader]
    merged = list(frames_of(tmp_path / "frames.pcapng"))
    assert frames == [(frame.time_ns, frame.length, frame.data) for frame in merged]
    assert sum(frame.length for frame in merged) > 10 * 1000


@pytest.mark.parametrize("options", [(), ("--classes=false",), ("--classes=false", "--pfc=false")])
def test_rdma_and_tcp_of_ns_3_share_a_switch(beside_tcp: Path, options: tuple[str, ...]) -> None:
    text = run(beside_tcp, *options)
    assert len(re.findall(r"^rdma \d: [1-9]\d* us$", text, re.MULTILINE)) == 4
    assert "tcp: 8000000 bytes received" in text
    received = [int(x) for x in re.findall(r"^tcp flow \d+: (\d+) B", text, re.MULTILINE)]
    assert sum(x > 2_000_000 for x in received) == 4  # and their ACKs
    pauses = int(re.findall(r"pauses: (\d+)", text)[0])
    assert pauses == 0 if "--pfc=false" in options else pauses > 0


def test_switches_mark_tcp_that_takes_marks(beside_tcp: Path) -> None:
    """DCTCP's class has its queue at the threshold and no losses; CUBIC, which is not marked, has losses."""
    assert re.search(r", drops: 0$", run(beside_tcp, "--tcp=TcpDctcp"))
    assert re.search(r", drops: [1-9]\d*$", run(beside_tcp, "--tcp=TcpCubic"))


def test_other_events_and_flows_of_later_run_beside_rdma_in_order_of_time(faults: Path) -> None:
    words = re.findall(r"(?:tick|flow \d+) at (\d+)", run(faults, "events"))
    times = [int(word) for word in words]
    assert len(times) == 5
    assert times == sorted(times)


def test_a_script_without_a_mistake_ends(faults: Path) -> None:
    assert run(faults) == "over\n"


#: A mistake, and the error message.
SENTENCES = {
    "node first": "make the helper before the first node and the first event",
    "controller": "unknown controller 'hpc'; known: ",
    "controller attribute": "cannot set attribute 'Eta' to '7'; it takes",
    "attribute": "attribute PfcAlphaShift of ns3::RdmaNetwork takes",
    "attribute name": "ns3::RdmaNetwork has no attribute 'Pfd'",
    "ecn": "attribute Ecn is 'always': it takes auto, off or",
    "settings": "'lose'",
    "route": "no path",
    "twice": "this device is connected already",
    "local": "Local is the address of none of its RdmaNetDevices",
    "loose": "device 1 of node 0 is not connected to another",
    "agent": "a flow under the controller 'agent' needs an environment",
    "itself": "a flow from node 0 to itself",
    "remote": "Remote is the address of no host's RdmaNetDevice",
    "class": "TrafficClass 3 of a network with 1",
}


@pytest.mark.parametrize("fault", SENTENCES)
def test_a_mistake_is_one_clear_sentence(faults: Path, fault: str) -> None:
    text = run(faults, fault, code=-signal.SIGABRT)
    (sentence,) = re.findall(r'aborted\..* ?msg="(.*)", \+', text)
    assert SENTENCES[fault] in sentence
    assert "what()" not in text


def test_cmake_finds_the_package_and_a_fat_tree_is_built_by_its_helper(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\n"
        "project(scripts CXX)\n"
        "find_package(ns3_env CONFIG REQUIRED)\n"
        f"add_executable(tree {EXAMPLES}/fat-tree.cc)\n"
        "target_link_libraries(tree PRIVATE ns3_env::rdma)\n"
    )
    where = [sys.executable, "-m", "ns3_env.eval.commands.main", "config", "--cmakedir"]
    package = subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip()
    cmake, ninja = (str(Path(sys.executable).with_name(name)) for name in ("cmake", "ninja"))
    make = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-Dns3_env_DIR={package}"]
    subprocess.run([cmake, "-S", tmp_path, "-B", tmp_path / "out", *make], check=True, capture_output=True)
    subprocess.run([cmake, "--build", tmp_path / "out"], check=True, capture_output=True)
    options = ([], [], ["--RngRun=2"], ["--balancing=random"])
    texts = [run(tmp_path / "out" / "tree", *more) for more in options]
    assert all(re.match(r"16 flows, the slowest in \d+ ns", text) for text in texts)
    assert texts[0] == texts[1]
    assert len(set(texts)) == 3


ASKING = ["--controller=agent", "--senders=3", "--size=200000"]


def rewards_of(env: gym.Env[np.ndarray, np.ndarray], seed: int) -> list[float]:
    """The rewards of an episode under actions of one generator."""
    random = np.random.default_rng(7)
    env.reset(seed=seed)
    rewards, over = [], False
    while not over:
        action = random.uniform(env.action_space.low, env.action_space.high)  # type: ignore[attr-defined]
        _, reward, terminated, truncated, info = env.step(action.astype(np.float32))
        rewards.append(float(reward))
        over = terminated or truncated
    assert info["slowdown"] > 1
    return rewards


def test_one_flow_of_a_script_is_an_environment_and_the_others_are_under_their_controller(
    incast: Path,
) -> None:
    env = gym.make("ns3_env/Script-v0", program=incast, args=ASKING, flow=1)
    first = rewards_of(env, 3)
    assert len(first) > 5
    assert rewards_of(env, 3) == first
    env.close()
    again = pickle.loads(pickle.dumps(ScriptEnv(incast, ASKING, flow=1)))
    assert rewards_of(again, 3) == first
    again.close()


def test_all_flows_of_a_script_are_slots_of_a_vector_environment(incast: Path) -> None:
    env = FlowVecEnv(program=incast, args=ASKING, slots=3, num_simulators=2)
    env.mask.acknowledge()
    observations = env.reset()
    assert observations.shape == (6, len(env.fields))
    ends = 0
    for _ in range(200):
        _, _, dones, _ = env.step(np.stack([env.action_space.sample() for _ in range(env.num_envs)]))
        ends += int(dones.sum())
    assert ends >= 6  # more than one episode of either
    env.close()


def test_a_training_learns_from_a_script(incast: Path, tmp_path: Path) -> None:
    config = yaml.safe_load(CONFIG)
    del config["evaluation"]
    config["env"]["placement"] = "python"
    script = {"program": str(incast), "args": ASKING, "slots": 3}
    curriculum = {"stages": [{"name": "incast", "scenario": script}]}
    assert train(written(tmp_path, config, curriculum)) == 0
    assert checkpoints(the_run(tmp_path))


def test_a_script_of_a_training_asks_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curriculum = {"stages": [{"name": "incast", "scenario": {"program": "incast"}}]}
    config = CONFIG.replace("env:\n", "env:\n  placement: simulator\n")
    assert train(written(tmp_path, config, curriculum)) == 2
    assert "program: a script's flows ask Python: env.placement: python" in capsys.readouterr().err


def test_the_seed_is_ns_3s_run(incast: Path) -> None:
    script = Script(incast, ASKING, seed=12)
    assert script.environment()["NS_GLOBAL_VALUE"].endswith("RngSeed=1;RngRun=12")


def test_a_script_that_ended_with_its_episode_is_well_and_its_results_can_be_received(incast: Path) -> None:
    with Simulator() as simulator:
        for seed in (1, 2):
            simulator.send_reset(Script(incast, [*ASKING[:2], "--size=20000"], seed=seed))
            while not isinstance(message := simulator.receive(), EpisodeEnd):
                assert isinstance(message, DecisionBatch)
                simulator.send_actions([[100_000, 1e11, 0]] * simulator.due)
                assert simulator._process is not None
                simulator._process.wait(0.1)
                simulator.check()  # as while another simulator is waited for
            simulator.check()


def test_a_copy_of_a_script_goes_on_as_it_does(incast: Path) -> None:
    env = ScriptEnv(incast, ASKING)
    env.reset(seed=1)
    branch = env.branch()
    action = np.full(env.action_space.shape, 0.5, np.float32)  # type: ignore[arg-type]
    for _ in range(5):
        step, copied_step = env.step(action), branch.step(action)
        assert np.array_equal(step[0], copied_step[0])
    branch.close()
    env.close()


@pytest.mark.parametrize(
    ("program", "args", "settings", "error", "message"),
    [
        ("incast", [], {}, ScenarioError, "no such flow under the controller 'agent'"),
        ("incast", ASKING, {"flow": 3}, ScenarioError, "no such flow under the controller 'agent'"),
        ("incast", ASKING, {"settings": {"clok": {}}}, ScenarioError, "there is no 'clok'; known: clock"),
        ("nowhere", [], {}, ScenarioError, "nowhere is no program: build the script first"),
        ("/bin/true", [], {}, SimulatorDied, "ended with exit code 0"),
        ("faults", ["node first"], {}, SimulatorDied, "make the helper before the first node"),
        ("faults", ["loose"], {}, ScenarioError, "device 1 of node 0 is not connected"),
    ],
)
def test_what_is_wrong_with_a_script_is_told(
    program: str,
    args: list[str],
    settings: Any,
    error: type[Exception],
    message: str,
    incast: Path,
    faults: Path,
) -> None:
    path = {"incast": incast, "faults": faults}.get(program, program)
    with pytest.raises(error, match=message):
        ScriptEnv(path, args, **settings).reset(seed=1)


def test_a_script_that_hangs_is_killed(faults: Path) -> None:
    simulator = Simulator(hang_timeout_s=0.3)
    simulator.send_reset(Script(faults, ["hang"]))
    with pytest.raises(SimulatorHung, match="without a sign of life"):
        simulator.receive()
