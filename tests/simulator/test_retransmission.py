# SPDX-License-Identifier: GPL-2.0-or-later
"""Retransmission: intervals of a receiver's NACKs, and a sender's timeouts that double."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ns3_env.scenario import Controller, Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Flow, FlowList
from ns3_env.simulator import Simulator
from tests.simulator.frames import frames_of

#: A NAK of a PSN sequence error, as the AETH says it (InfiniBand Architecture 1.2.1, sec. 9.7.5.2.8).
NAK = 0x60
AETH = 54  # after Ethernet, IPv4, UDP and BTH


def test_a_receiver_nacks_a_gap_again_after_two_base_round_trips_and_another_at_once(
    simulator: Simulator, tmp_path: Path
) -> None:
    scenario = Scenario(
        topology=Dumbbell(senders=1),
        traffic=FlowList(flows=[Flow(src=0, dst=1, size_bytes=3_000_000)]),
        controllers=[Controller(name="dcqcn")],
        loss_probability=0.02,
        record=Record(pcap=str(tmp_path / "x"), pcap_ports=[(1, 0)]),
    )
    results = simulator.play(scenario)
    base_rtt_ns = results["flows"]["base_rtt_ns"][0]
    naks = [frame for frame in frames_of(tmp_path / "x.pcapng") if frame.data[AETH] == NAK]
    gaps = [int.from_bytes(frame.data[AETH - 3 : AETH], "big") for frame in naks]  # the PSN, last in the BTH
    apart = np.diff([frame.time_ns for frame in naks]) / base_rtt_ns
    same = np.diff(gaps) == 0
    assert same.sum() > 10
    assert apart[same].min() >= 2.0
    assert np.median(apart[same]) < 2.2  # a gap that stays open is asked for again as soon as that
    assert apart[~same].min() < 1.5


@pytest.mark.parametrize(
    ("patience", "timeouts"),
    [
        *((0.9, 0), (1.1, 1), (2.9, 1), (3.1, 2), (62.9, 5), (63.1, 6)),
        # 1 + 2 + ... + 64 timeouts' time, and from there on 64 again and again.
        *((126.9, 6), (127.1, 7), (190.9, 7), (191.1, 8), (254.9, 8), (255.1, 9)),
    ],
)
def test_the_retransmission_timeout_doubles_six_times_at_most(
    simulator: Simulator, patience: float, timeouts: int
) -> None:
    """All packets of a flow are lost, until so many times the timeout after its start."""
    timeout_ns = 100_000
    scenario = Scenario(
        topology=Dumbbell(senders=1),
        traffic=FlowList(flows=[Flow(src=0, dst=1, size_bytes=10_000)]),
        controllers=[Controller(name="dctcp")],
        loss_probability=1.0,
        retransmission_timeout_ns=timeout_ns,
        time_limit_ns=int(patience * timeout_ns),
    )
    assert simulator.play(scenario)["flows"]["timeouts"] == [timeouts]
