# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts of ns-3 with RDMA: the examples, other events next to RDMA's, mistakes in one sentence."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from scapy.utils import RawPcapReader

from tests.ns3module.building import EXAMPLES, build, run
from tests.simulator.frames import frames_of


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


def test_a_fat_tree_is_built_by_its_helper(folder: Path) -> None:
    program = build(EXAMPLES / "fat-tree.cc", folder / "fat-tree")
    texts = [run(program), run(program), run(program, "--RngRun=2"), run(program, "--balancing=random")]
    assert all(re.match(r"16 flows, the slowest in \d+ ns", text) for text in texts)
    assert texts[0] == texts[1]
    assert len(set(texts)) == 3


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


def test_cmake_finds_the_package(folder: Path, tmp_path: Path) -> None:
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
    assert "16 flows" in run(tmp_path / "out" / "tree")
