# SPDX-License-Identifier: GPL-2.0-or-later
"""Feedback frames in a capture against IEEE 802.1Q, 33.4, with numbers computed by hand."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from scapy.layers.l2 import Ether

from ns3_env.scenario import CongestionPoints, Controller, Record, Scenario, Switch
from ns3_env.scenario.topology import Graph
from ns3_env.scenario.traffic import Flow, FlowList
from ns3_env.simulator import Simulator
from tests.simulator.frames import frames_of

TYPE = 0x22E7
PACKET = 1048  # bytes on the wire
#: Packets come at 100 Gb/s, every T, and leave at 30 Gb/s, every 10/3 T. Each tenth is a sample; with the
#: k-th there are k - (1 + floor((k - 1) / (10/3))) in the queue: the others have started to leave, at T,
#: 4.33 T, 7.67 T, 11 T, ...
QUEUES = [7 * PACKET, 14 * PACKET, 21 * PACKET]
TARGET = 20_000
SCENARIO = Scenario(
    topology=Graph(
        nodes=["host", "host", "switch"],
        links=[
            {"a": 0, "b": 2, "rate_bps": 100e9, "delay_ns": 1000},
            {"a": 1, "b": 2, "rate_bps": 30e9, "delay_ns": 1000},
        ],
    ),
    traffic=FlowList(flows=[Flow(src=0, dst=1, size_bytes=35_000)]),
    switch=Switch(
        congestion_points=CongestionPoints(
            target_bytes=TARGET,
            sample_bytes=10 * PACKET,
            sample_jitter=0,
            adaptive_sampling=False,
            feedback="both",
        )
    ),
    controllers=[Controller(name="fixed-window")],
)


class Notification(NamedTuple):
    """Content of a frame, in its own units."""

    to: str
    sender: str
    version: int
    quantised: int
    point: bytes
    offset: int
    delta: int
    priority: int
    towards: bytes
    about: bytes


def read(frame: bytes) -> Notification:
    """The fields, by their places in the standard."""
    ether = Ether(frame)
    body = bytes(ether.payload)
    length = int.from_bytes(body[22:24], "big")
    return Notification(
        to=ether.dst,
        sender=ether.src,
        version=body[0] >> 4,
        quantised=int.from_bytes(body[:2], "big") & 0x3F,
        point=body[2:10],
        offset=int.from_bytes(body[10:12], "big", signed=True),
        delta=int.from_bytes(body[12:14], "big", signed=True),
        priority=body[14] >> 5,
        towards=body[16:22],
        about=body[24 : 24 + length],
    )


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Frames of that type at the sender's port."""
    at = tmp_path_factory.mktemp("pcap")
    record = Record(pcap=str(at / "x"), pcap_ports=[(0, 0)])
    with Simulator() as simulator:
        results = simulator.play(SCENARIO.model_copy(update={"record": record}))
    assert results["totals"]["notification_frames"] == len(QUEUES)
    return [frame.data for frame in frames_of(at / "x.pcapng") if Ether(frame.data).type == TYPE]


def test_each_sample_is_a_frame_with_the_queue_worked_out_by_hand(frames: list[bytes]) -> None:
    messages = [read(frame) for frame in frames]
    changes = [after - before for before, after in zip([0, *QUEUES], QUEUES, strict=False)]
    assert [frame.offset for frame in messages] == [-198, -83, 31]  # (q - q0) / 64 B, rounded
    assert [frame.offset for frame in messages] == [round((q - TARGET) / 64) for q in QUEUES]
    assert [frame.delta for frame in messages] == [round(change / 64) for change in changes] == [115] * 3
    # q - q0 + 2 (q - q_old): 2,008, 9,344 and 16,680 B; 63 levels are 5 q0 = 100 kB
    assert [frame.quantised for frame in messages] == [1, 5, 10]


def test_the_frame_says_who_speaks_to_whom_of_what(frames: list[bytes]) -> None:
    for place, frame in enumerate(frames):
        message = read(frame)
        assert len(frame) == 102
        assert (message.to, message.sender) == ("02:00:00:00:00:00", "02:00:00:00:00:02")
        assert (message.version, message.priority) == (0, 3)
        assert message.point == bytes.fromhex(
            "020000000002 0001"
        )  # the switch's MAC, its port towards the receiver
        assert message.towards == bytes.fromhex("020000000001")
        assert message.about[:2] == b"\x08\x00"
        assert len(message.about) == 64
        # Of the sampled packet: IPv4 (20 B), UDP (8 B), BTH with the sequence number in its last three bytes
        assert int.from_bytes(message.about[2 + 20 + 8 + 9 : 2 + 20 + 8 + 12], "big") == 10 * place + 9
