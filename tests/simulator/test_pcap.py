# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures against the frames that passed the port, parsed here and by tshark if there is one."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scapy.utils import RawPcapNgReader

from ns3_env.errors import ScenarioError
from ns3_env.programs.transport import Transport
from ns3_env.scenario import Controller, Ecn, Record, Scenario, Switch
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Flow, FlowList
from ns3_env.simulator import Simulator
from tests.processes import program

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
PORTS = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (4, 1), (4, 2), (4, 3), (5, 0), (5, 1)]


class Frame(NamedTuple):
    time_ns: int
    length: int
    data: bytes

    @property
    def is_pfc(self) -> bool:
        return self.data[12:14] == b"\x88\x08"


def frames_of(path: Path) -> Iterator[Frame]:
    """The records of a capture; see pcap-savefile(5)."""
    content = path.read_bytes()
    magic, major, minor, _, _, _, link_type = struct.unpack_from("<IHHiIII", content)
    assert (magic, major, minor, link_type) == (0xA1B23C4D, 2, 4, 1)
    at = 24
    while at < len(content):
        seconds, nanoseconds, captured_length, length = struct.unpack_from("<IIII", content, at)
        yield Frame(seconds * 10**9 + nanoseconds, length, content[at + 16 : at + 16 + captured_length])
        at += 16 + captured_length


def merged_frames(path: Path) -> Iterator[tuple[str, bool, Frame]]:
    """(interface, whether it sent the frame, frame), as others read a pcapng file."""
    with RawPcapNgReader(str(path)) as reader:
        for data, facts in reader:
            assert (facts.linktype, facts.tsresol) == (1, 10**9)
            time = facts.tshigh << 32 | facts.tslow
            yield facts.ifname.decode(), facts.direction == 2, Frame(time, facts.wirelen, data)


def interface_name(path: Path) -> str:
    """The merged capture's name of a port, by the port's own file x-NODE-PORT.pcap."""
    _, node, port = path.stem.split("-")
    return f"{'s' if int(node) > 3 else 'h'}{node}-p{port}"


def rdma_sim(folder: Path, scenario: Scenario, *options: str) -> subprocess.CompletedProcess[str]:
    return program(scenario.to_simulator_json(), folder, *options)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of a capture of all ports, x-NODE-PORT.pcap, and the results."""
    folder = tmp_path_factory.mktemp("pcap")
    done = rdma_sim(folder, SCENARIO, f"--pcap={folder / 'x'}")
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_every_transmission_is_in_the_files_of_both_ends_at_its_time(
    capture: tuple[Path, dict[str, Any]],
) -> None:
    folder, results = capture
    files = {port: list(frames_of(folder / f"x-{port[0]}-{port[1]}.pcap")) for port in PORTS}
    assert len(list(folder.glob("*.pcap"))) == len(PORTS)
    everything = [frame for frames in files.values() for frame in frames]
    assert sum(not frame.is_pfc for frame in everything) == 2 * results["totals"]["packet_hops"]
    pauses = [frame for frame in everything if frame.is_pfc and frame.data[24:26] == b"\xff\xff"]
    assert len(pauses) == 2 * results["totals"]["pfc_frames"] > 0
    assert sum(not frame.is_pfc for frame in files[0, 0]) == 2 * 151  # its data packets and their ACKs
    lengths = {frame.length for frame in everything if not frame.is_pfc}
    assert lengths == {62, HEADERS + 4, HEADERS + 1000}  # ACKs; the last 1 or 2 B, padded; the others
    assert {frame.length for frame in everything if frame.is_pfc} == {60}
    assert all(len(frame.data) == frame.length for frame in everything)
    for frames in files.values():
        times = [frame.time_ns for frame in frames]
        assert times == sorted(times)
        assert times[-1] <= results["totals"]["end_ns"]
    first, *_, last = [frame for frame in files[2, 0] if not frame.is_pfc]
    assert (first.time_ns, last.time_ns) == (0, int(results["flows"]["end_ns"][2]))


def test_the_merged_capture_has_the_frames_of_all_ports_in_order_and_knows_who_sent(
    capture: tuple[Path, dict[str, Any]],
) -> None:
    folder, _ = capture
    frames = list(merged_frames(folder / "x.pcapng"))
    times = [frame.time_ns for _, _, frame in frames]
    assert times == sorted(times)
    assert sum(sent for _, sent, _ in frames) == len(frames) / 2
    merged: dict[str, list[Frame]] = {}
    for name, sent, frame in frames:
        merged.setdefault(name, []).append(frame)
        sender = int.from_bytes(frame.data[8:12], "big")  # of the MAC
        assert (sender == int(name[1:].split("-")[0])) == sent
    assert merged == {interface_name(path): list(frames_of(path)) for path in folder.glob("*.pcap")}


def test_the_snap_length_cuts_what_is_kept(tmp_path: Path) -> None:
    options = [f"--pcap={tmp_path / 'x'}", "--pcap-snaplen=54", "--pcap-ports=0:0"]
    assert rdma_sim(tmp_path, SCENARIO, *options).returncode == 0
    (path,) = tmp_path.glob("*.pcap")
    assert path.name == "x-0-0.pcap"
    assert {len(frame.data) for frame in frames_of(path)} == {54}
    assert [frame for _, _, frame in merged_frames(tmp_path / "x.pcapng")] == list(frames_of(path))
    assert {frame.length for frame in frames_of(path)} == {60, 62, HEADERS + 1000}


def test_the_scenario_and_the_option_are_the_same(tmp_path: Path) -> None:
    record = Record(pcap=str(tmp_path / "a"), pcap_ports=[BOTTLENECK, (3, 0)])
    plain = rdma_sim(tmp_path, SCENARIO.model_copy(update={"record": record}))
    option = rdma_sim(tmp_path, SCENARIO, f"--pcap={tmp_path / 'b'}", "--pcap-ports=4:3,3:0")
    assert plain.returncode == option.returncode == 0
    for port in ("4-3", "3-0"):
        assert (tmp_path / f"a-{port}.pcap").read_bytes() == (tmp_path / f"b-{port}.pcap").read_bytes()
    assert len(list(tmp_path.glob("*.pcap"))) == 4
    assert (tmp_path / "a.pcapng").read_bytes() == (tmp_path / "b.pcapng").read_bytes()
    assert {name for name, _, _ in merged_frames(tmp_path / "a.pcapng")} == {"h3-p0", "s4-p3"}


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
@pytest.mark.parametrize("file", ["x-0-0.pcap", "x.pcapng"])
def test_a_full_disk_is_a_line_that_names_the_file(file: str, transport: Transport, tmp_path: Path) -> None:
    (tmp_path / file).symlink_to("/dev/full")
    flow = {"kind": "incast", "flows": 1, "size_bytes": 200_000}
    controller = {"rdma": "hpcc", "tcp": "cubic"}[transport]
    data = {"transport": transport, "traffic": flow, "controllers": [controller]}
    scenario = Scenario.from_mapping(data, "s.yaml")
    option = f"--pcap={tmp_path / 'x'}"
    done = program(scenario.to_simulator_json(), tmp_path, option, transport=transport)
    why = f"'record.pcap': cannot write '{tmp_path / file}': No space left on device"
    assert done.stderr == f"{transport}-sim: {tmp_path / 'x.json'}: {why}\n"
    assert done.returncode == 2
    record = scenario.record.model_copy(update={"pcap": str(tmp_path / "x")})
    with Simulator() as simulator:
        with pytest.raises(ScenarioError, match=r"^s\.yaml: record\.pcap: cannot write .*No space left"):
            simulator.play(scenario.model_copy(update={"record": record}))
        pid = simulator.pid
        assert simulator.play(scenario)["flows"]["fct_ns"][0] > 0  # the process goes on
        assert simulator.pid == pid


def tshark(path: Path, show: str, *fields: str) -> list[tuple[str, ...]]:
    """Values of the fields for each frame that the display filter lets pass."""
    if shutil.which("tshark") is None:
        pytest.skip("there is no tshark here (Debian, Ubuntu: package tshark)")
    command = ["tshark", "-o", "ip.check_checksum:TRUE", "-r", str(path), "-Y", show, "-T", "fields"]
    command += ["--disable-protocol", "rpcordma"]  # a guess that may take a lone SEND Last for a call
    for field in fields:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


def test_tshark_finds_no_fault(capture: tuple[Path, dict[str, Any]]) -> None:
    for path in sorted(capture[0].glob("*.pcap")):
        assert tshark(path, "_ws.malformed or _ws.expert or _ws.short", "frame.number") == [], path
        good = tshark(path, 'ip.checksum.status == "Good"', "frame.number")
        assert len(good) == sum(not frame.is_pfc for frame in frames_of(path))


def test_tshark_names_the_ports_of_the_merged_capture(capture: tuple[Path, dict[str, Any]]) -> None:
    path = capture[0] / "x.pcapng"
    assert tshark(path, "_ws.malformed or _ws.expert or _ws.short", "frame.number") == []
    fields = ("frame.interface_name", "frame.packet_flags_direction", "frame.time_epoch")
    rows = tshark(path, "frame", *fields)
    assert [(name, int(way, 0) == 2, int(time.replace(".", ""))) for name, way, time in rows] == [
        (name, sent, frame.time_ns) for name, sent, frame in merged_frames(path)
    ]


def test_tshark_sees_the_messages_and_their_marks(capture: tuple[Path, dict[str, Any]]) -> None:
    folder, results = capture
    rows = Counter(tshark(folder / "x-3-0.pcap", "infiniband", "infiniband.bth.opcode", "ip.dsfield.ecn"))
    opcodes = Counter[str]()
    for (opcode, _), count in rows.items():
        opcodes[opcode] += count
    # RC SEND First, Middle, Last, Only; ACK
    assert opcodes == {"0": 2, "1": 2 * 149, "2": 2, "4": 1, "17": 303}
    marked = sum(count for (_, ecn), count in rows.items() if ecn == "3")
    assert marked == len(results["marks"]) > 0
    assert rows["17", "0"] == 303  # ACKs are not ECN-capable
    numbers = tshark(folder / "x-1-0.pcap", "infiniband.bth.opcode < 4", "infiniband.bth.psn")
    assert [int(psn) for (psn,) in numbers] == list(range(151))


def test_tshark_reads_pfc_frames(capture: tuple[Path, dict[str, Any]]) -> None:
    folder, results = capture
    fields = ("macc.opcode", "macc.cbfc.enbv", "macc.cbfc.pause_time.c3")
    rows = tshark(folder / "x-0-0.pcap", "macc", *fields)
    paused = [row for row in results["pauses"] if row[1:3] == [0, 0]]
    assert [int(time) for *_, time in rows] == [0xFFFF * row[3] for row in paused]
    assert {(int(opcode, 0), int(vector, 0)) for opcode, vector, _ in rows} == {(0x0101, 1 << 3)}


def test_tshark_reads_naks(tmp_path: Path) -> None:
    lossy = SCENARIO.model_copy(update={"loss_probability": 0.01})
    done = rdma_sim(tmp_path, lossy, f"--pcap={tmp_path / 'x'}", "--pcap-ports=3:0")
    assert json.loads(done.stdout)["totals"]["dropped_packets"] > 0
    assert tshark(tmp_path / "x-3-0.pcap", "_ws.malformed or _ws.expert", "frame.number") == []
    syndromes = set(tshark(tmp_path / "x-3-0.pcap", "infiniband.aeth", "infiniband.aeth.syndrome"))
    assert syndromes == {("31",), ("96",)}  # ACK without credits, NAK of a PSN sequence error
