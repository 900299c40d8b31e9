# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures against the frames that passed the port."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ns3_env.errors import ScenarioError
from ns3_env.programs.transport import Transport
from ns3_env.scenario import Controller, Ecn, Record, Scenario, Switch
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Flow, FlowList
from ns3_env.simulator import Simulator
from tests.processes import program
from tests.simulator.frames import frames_of

HEADERS = 58  # Ethernet, IPv4, UDP, BTH, ICRC
#: There are marks and pauses, last packets that need padding, and a flow of one packet.
SCENARIO = Scenario(
    topology=Dumbbell(senders=3),
    traffic=FlowList(
        flows=[
            Flow(src=0, dst=3, size_bytes=150_001),
            Flow(src=1, dst=3, size_bytes=150_002),
            Flow(src=2, dst=3, size_bytes=999),
        ]
    ),
    switch=Switch(
        buffer_bytes=300_000, ecn=Ecn(kmin_bytes=20_000, kmax_bytes=200_000, pmax=0.5, at_rate_bps=100e9)
    ),
    controllers=[Controller(name="dcqcn")],
    record=Record(events=True),
)
BOTTLENECK = (4, 3)  # node 4's link to the other switch
PORTS = ["h0-p0", "h1-p0", "h2-p0", "h3-p0", "s4-p0", "s4-p1", "s4-p2", "s4-p3", "s5-p0", "s5-p1"]


def rdma_sim(folder: Path, scenario: Scenario, *options: str) -> subprocess.CompletedProcess[str]:
    return program(scenario.to_simulator_json(), folder, *options)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A capture of all ports, and the results."""
    folder = tmp_path_factory.mktemp("pcap")
    done = rdma_sim(folder, SCENARIO, f"--pcap={folder / 'x'}")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.glob("x*.pcap*")] == ["x.pcapng"]
    return folder / "x.pcapng", json.loads(done.stdout)


def test_every_transmission_is_at_both_ends_at_its_time_in_order(
    capture: tuple[Path, dict[str, Any]],
) -> None:
    path, results = capture
    everything = list(frames_of(path))
    assert {frame.port for frame in everything} == set(PORTS)
    assert sum(not frame.is_pfc for frame in everything) == 2 * results["totals"]["packet_hops"]
    assert sum(frame.sent for frame in everything) == len(everything) / 2
    pauses = [frame for frame in everything if frame.is_pfc and frame.data[24:26] == b"\xff\xff"]
    assert len(pauses) == 2 * results["totals"]["pfc_frames"] > 0
    first_hosts = [frame for frame in everything if frame.port == "h0-p0"]
    assert sum(not frame.is_pfc for frame in first_hosts) == 2 * 151  # its data packets and their ACKs
    lengths = {frame.length for frame in everything if not frame.is_pfc}
    assert lengths == {62, HEADERS + 4, HEADERS + 1000}  # ACKs; the last 1 or 2 B, padded; all other packets
    assert {frame.length for frame in everything if frame.is_pfc} == {60}
    assert all(len(frame.data) == frame.length for frame in everything)
    times = [frame.time_ns for frame in everything]
    assert times == sorted(times)
    assert times[-1] <= results["totals"]["end_ns"]
    first, *_, last = [frame for frame in everything if frame.port == "h2-p0" and not frame.is_pfc]
    assert (first.time_ns, last.time_ns) == (0, int(results["flows"]["end_ns"][2]))


def test_the_snap_length_cuts_what_is_kept(tmp_path: Path) -> None:
    options = [f"--pcap={tmp_path / 'x'}", "--pcap-snaplen=54", "--pcap-ports=0:0"]
    assert rdma_sim(tmp_path, SCENARIO, *options).returncode == 0
    frames = list(frames_of(tmp_path / "x.pcapng"))
    assert {(frame.port, len(frame.data)) for frame in frames} == {("h0-p0", 54)}
    assert {frame.length for frame in frames} == {60, 62, HEADERS + 1000}


def test_the_scenario_and_the_option_are_the_same(tmp_path: Path) -> None:
    record = Record(pcap=str(tmp_path / "a"), pcap_ports=[BOTTLENECK, (3, 0)])
    plain = rdma_sim(tmp_path, SCENARIO.model_copy(update={"record": record}))
    option = rdma_sim(tmp_path, SCENARIO, f"--pcap={tmp_path / 'b'}", "--pcap-ports=4:3,3:0")
    assert plain.returncode == option.returncode == 0
    assert (tmp_path / "a.pcapng").read_bytes() == (tmp_path / "b.pcapng").read_bytes()
    assert {frame.port for frame in frames_of(tmp_path / "a.pcapng")} == {"h3-p0", "s4-p3"}


def test_a_capture_changes_nothing_else(capture: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    assert json.loads(rdma_sim(tmp_path, SCENARIO).stdout) == capture[1]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--pcap={}/none/x"], "there is no folder '{}/none'"),
        (["--pcap={}/x", "--pcap-ports=9:0"], "there is no node 9; nodes are 0 to 5"),
        (["--pcap={}/x", "--pcap-ports=5:2"], "there is no port 2 at node 5, whose ports are 0 to 1"),
        (["--pcap={}/x", "--pcap-ports=5"], "--pcap-ports: '5' is no NODE:PORT"),
        (["--pcap={}/x", "--pcap-snaplen=0"], "'record.pcap_snaplen' is 0, must be in [1,"),
        (["--pcap-ports=5:1"], "'record.pcap_ports' needs 'record.pcap'"),
    ],
)
def test_a_capture_that_cannot_be_is_refused(options: list[str], text: str, tmp_path: Path) -> None:
    done = rdma_sim(tmp_path, SCENARIO, *(option.format(tmp_path) for option in options))
    assert done.returncode == 2
    assert text.format(tmp_path) in done.stderr
    assert not list(tmp_path.glob("*.pcap*"))


@pytest.mark.parametrize("transport", ["rdma", "tcp"])
def test_a_full_disk_is_a_line_that_names_the_file(transport: Transport, tmp_path: Path) -> None:
    (tmp_path / "x.pcapng").symlink_to("/dev/full")
    flow = {"kind": "incast", "flows": 1, "size_bytes": 200_000}
    controller = {"rdma": "hpcc", "tcp": "cubic"}[transport]
    data = {"transport": transport, "traffic": flow, "controllers": [controller]}
    scenario = Scenario.from_mapping(data, "s.yaml")
    option = f"--pcap={tmp_path / 'x'}"
    done = program(scenario.to_simulator_json(), tmp_path, option, transport=transport)
    why = f"'record.pcap': cannot write '{tmp_path / 'x.pcapng'}': No space left on device"
    assert done.stderr == f"{transport}-sim: {tmp_path / 'x.json'}: {why}\n"
    assert done.returncode == 2
    record = scenario.record.model_copy(update={"pcap": str(tmp_path / "x")})
    with Simulator() as simulator:
        with pytest.raises(ScenarioError, match=r"^s\.yaml: record\.pcap: cannot write .*No space left"):
            simulator.play(scenario.model_copy(update={"record": record}))
        pid = simulator.pid
        assert simulator.play(scenario)["flows"]["fct_ns"][0] > 0  # the process continues
        assert simulator.pid == pid
