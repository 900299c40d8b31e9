# SPDX-License-Identifier: GPL-2.0-or-later
"""Feedback frames of switches in captures, against IEEE 802.1Q, and their use by laws and agents."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scapy.layers.l2 import Ether

from ns3_env.decision.observations import column, wire_bytes
from ns3_env.scenario import (
    CongestionPoints,
    Controller,
    PerNotification,
    Record,
    Scenario,
    Switch,
    published_congestion_points,
)
from ns3_env.scenario.topology import Graph
from ns3_env.scenario.traffic import Flow, FlowList
from ns3_env.simulator import DecisionBatch, Simulator
from tests.simulator.frames import frames_of

#: Three flows of a megabyte into 1 Gb/s.
INCAST: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 3, "rate_bps": 1e9},
    "traffic": {"kind": "incast", "size_bytes": 5_000_000},
    "time_limit_ns": 2_000_000_000,
}
TOLD = {"feedback": "both", "sample_bytes": 30_000, "adaptive_sampling": False}


def scenario(controller: str, **other: Any) -> Scenario:
    """The incast under a controller."""
    return Scenario.from_mapping({**INCAST, "controllers": [{"name": controller}], **other}, "x")


def points(scenario: Scenario) -> Any:
    """The congestion points in the simulator's JSON."""
    return scenario.to_simulator_json()["switch"]["congestion_points"]


def test_switches_give_feedback_where_the_flows_law_needs_it() -> None:
    declared = published_congestion_points()
    assert {"bcn", "qcn", "smcc"} == set(declared) - {"aimd"}
    for name, points_config in declared.items():
        assert points(scenario(name)) == points_config.model_dump()
    for name in ("agent", "dcqcn", "hpcc", "mpcc"):
        assert points(scenario(name)) is None


def test_what_a_scenario_says_of_feedback_comes_first() -> None:
    assert points(scenario("qcn", switch={"congestion_points": None})) is None
    point = points(scenario("hpcc", switch={"congestion_points": TOLD}))
    assert (point["feedback"], point["sample_bytes"], point["target_bytes"]) == ("both", 30_000, 64_000)


@pytest.mark.parametrize("controller", ["bcn", "qcn", "smcc"])
def test_a_law_of_layer_2_holds_the_queue_at_its_target_and_the_link_busy(
    controller: str, simulator: Simulator
) -> None:
    qcn_scenario = scenario(
        controller, traffic={"kind": "incast", "size_bytes": 10**12}, time_limit_ns=500_000_000
    )
    results = simulator.play(qcn_scenario)
    queue = max(results["queues"], key=lambda port: port["mean_bytes"])
    assert results["totals"]["notification_frames"] > 100
    assert queue["mean_bytes"] == pytest.approx(64_000, rel=0.25)
    busy = queue["tx_bytes"] * 8e9 / (results["totals"]["end_ns"] * queue["rate_bps"])
    assert busy > 0.9


def test_a_policy_decides_at_each_frame_and_sees_what_it_says() -> None:
    qcn_scenario = scenario("agent", clock=PerNotification(), switch={"congestion_points": TOLD})
    qcn_scenario.controllers[0].attributes["InitialWindow"] = False
    batches: list[np.ndarray] = []
    with Simulator() as simulator:
        simulator.send_reset(qcn_scenario)
        while isinstance(message := simulator.receive(), DecisionBatch):
            due = message.records[message.due]
            batches.append(due)
            rates = np.where(column(due, "notified_offset") > 0, 1e8, 5e8)
            simulator.send_actions(np.stack([np.full(len(due), 1e12), rates, np.zeros(len(due))], axis=1))
        totals = message.results["totals"]
    heard = (
        "notified_offset",
        "notified_delta",
        "notified_feedback",
        "notification_recency",
        "notifications",
    )
    assert wire_bytes(heard) == 0  # switches' frames add nothing to data packets
    rows = np.concatenate(batches)
    # Each frame is a decision, but for those that come to flows that have ended.
    assert totals["notification_frames"] - 5 <= len(rows) <= totals["notification_frames"]
    assert (column(rows, "notifications") == 1).all()
    assert (column(rows, "notification_recency") == 1).all()
    offset = column(rows, "notified_offset") * column(rows, "bdp_bytes")
    delta = column(rows, "notified_delta") * column(rows, "bdp_bytes")
    np.testing.assert_allclose(np.rint(offset / 64) * 64, offset, atol=1e-6)
    # −Fb in 63 levels of q0 (2 w + 1), of a queue before it was rounded to 64 B.
    level = 63 * np.clip((offset + 2 * delta) / (64_000 * 5), 0, 1)
    np.testing.assert_allclose(column(rows, "notified_feedback") * 63, level, atol=1.1)
    assert offset.min() < 0 < offset.max()


TYPE = 0x22E7
PACKET = 1048  # bytes on the wire
#: Packets come at 100 Gb/s, every T, and leave at 30 Gb/s, every 10/3 T. Each tenth is a sample; with the
#: k-th there are k - (1 + floor((k - 1) / (10/3))) in the queue: the others have started to leave, at T,
#: 4.33 T, 7.67 T, 11 T, ...
QUEUES = [7 * PACKET, 14 * PACKET, 21 * PACKET]
TARGET = 20_000
SAMPLED = Scenario(
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


def read(frame: bytes) -> SimpleNamespace:
    """The fields of a notification, in their own units, by their places in the standard."""
    ether = Ether(frame)
    body = bytes(ether.payload)
    length = int.from_bytes(body[22:24], "big")
    return SimpleNamespace(
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
        results = simulator.play(SAMPLED.model_copy(update={"record": record}))
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
