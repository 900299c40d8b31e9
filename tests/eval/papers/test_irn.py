# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments of Mittal 2018 in its lossy."""

from __future__ import annotations

import numpy as np
import pytest

from ns3_env.eval.papers.irn import lossy
from ns3_env.eval.papers.irn.lossy import CONTROLLERS, IRN, NETWORKS, NONE, WITH
from ns3_env.eval.papers.runs import Run
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator


def test_the_network_has_the_papers_size_and_bdp(simulator: Simulator) -> None:
    scenario = lossy.scenario(IRN, NONE, Incast(size_bytes=1000, senders=[0], receiver=53), 1_000_000)
    built = scenario.topology.build()
    assert len(built.hosts) == 54
    assert {link.rate_bps for link in built.links} == {40e9}
    base_rtt_ns = simulator.play(scenario)["flows"]["base_rtt_ns"][0]
    assert base_rtt_ns * lossy.RATE_BPS / 8e9 == pytest.approx(120e3, rel=0.06)
    assert lossy.BUFFER_BYTES == 6 * 2 * 120e3


def test_networks_differ_in_recovery_and_pauses_alone() -> None:
    for controller in CONTROLLERS:
        scenarios = [lossy._request(name, controller, 10, 0.01, 3) for name in NETWORKS]
        for name, scenario in zip(NETWORKS, scenarios, strict=True):
            assert (scenario.recovery, scenario.switch.pfc) == NETWORKS[name]
            assert scenario.retransmission_timeout_ns == (0 if name == WITH else 320_000)
        assert len({str(scenario.traffic) for scenario in scenarios}) == 1


def test_an_incast_without_losses_takes_what_its_link_needs(simulator: Simulator) -> None:
    run = Run(simulator.play(lossy._request(WITH, NONE, 10, 0.02, 1)))
    assert run.lost == 0
    needed_ns = 3_000_000 * 1.048 * 8e9 / lossy.RATE_BPS
    assert needed_ns < np.max(run.flow_ends_ns) < needed_ns + 40_000
