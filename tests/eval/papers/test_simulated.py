# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks and numbers of Mittal 2018, Liang 2018 and Jiang 2015, as they are simulated."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ns3_env.eval.papers.irn import lossy
from ns3_env.eval.papers.irn.lossy import CONTROLLERS, IRN, NETWORKS, NONE, WITH
from ns3_env.eval.papers.runs import Run
from ns3_env.eval.papers.smcc import bottlenecks, network, numbers
from ns3_env.eval.papers.smcc.bottlenecks import _decreases
from ns3_env.eval.papers.smcc.network import BOTTLENECK, DUMBBELL, ENTRIES, SMCC
from ns3_env.eval.papers.tdctcp import fat_tree, incast, sweeps
from ns3_env.eval.papers.tdctcp.fat_tree import DCTCP, TDCTCP
from ns3_env.eval.papers.tdctcp.incast import AS_PUBLISHED, EACH_ACKED, PUBLISHED_MS
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats
from tests.eval.papers.verdicts import failed


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


def numbers_of(name: str) -> dict[str, float]:
    """Numbers of a run that has the thesis's values."""
    throughput, mean, p99, median = PUBLISHED_MS[name]
    rtts = {"rtt_mean_ms": mean, "rtt_p50_ms": median, "rtt_p99_ms": p99}
    return {"throughput_mbps": throughput or 0.0, **rtts}


def test_trends_as_sec_3_4_tells_them_meet_its_claims() -> None:
    """Throughput up to the chosen value and no further; the tail down to 1/16."""

    def swept(sweep: sweeps.Sweep, beyond: float) -> dict[float, dict[str, float]]:
        rates = {x: 70 + min(x / sweep.chosen, 1) - beyond * (x > sweep.chosen) for x in sweep.values}
        return {x: {"throughput_mbps": rate, "rtt_p99_ms": max(x, 1 / 16)} for x, rate in rates.items()}

    trends = {
        (figure, setting): swept(sweep, 1.0 if figure == "3-4" else 0.0)
        for figure, sweep in sweeps.SWEEPS.items()
        for setting in sweep.settings
    }
    assert failed(sweeps.claims(trends)) == []
    flat = {place: swept(sweeps.SWEEPS[place[0]], -5.0) for place in trends}
    assert len(failed(sweeps.claims(flat))) == 3


def test_the_theses_numbers_meet_its_claims_but_for_what_its_law_cannot_do() -> None:
    main = {name: numbers_of(name) for name in PUBLISHED_MS}
    settings = {AS_PUBLISHED: {**main, "T-DCTCP, theta 2": main[TDCTCP]}, EACH_ACKED: main}
    assert failed(incast.claims(settings)) == ["Cases 5 and 7 cut slightly less than case 8, DCTCP's"]


def test_marks_keep_the_rtt_where_the_threshold_is() -> None:
    """15 flows of DCTCP, each packet acknowledged, K = 20 packets: 20 to 60 packets of 1502 B at 100 Mb/s."""
    with Simulator() as simulator:
        run = Run(simulator.play(incast.cases(0.025)[EACH_ACKED, DCTCP]))
    record, rtts = fat_tree.numbers(run), fat_tree.rtts_ms(run)
    assert 20 * 0.12 < record["rtt_p50_ms"] < 60 * 0.12
    assert record["throughput_mbps"] > 80
    assert len(rtts) == 99
    assert (np.diff(rtts) >= 0).all()
    assert rtts[49] == pytest.approx(record["rtt_p50_ms"])


def run_of(queue: Floats, rates: list[tuple[float, int, float]] | None = None) -> Run:
    """A run of two flows with one queue, sampled each 100 µs."""
    node, port = BOTTLENECK
    series = {"t_ns": np.arange(len(queue)) * 1e5, "bytes": queue}
    return Run(
        {
            "flows": {"src": [0, 1]},
            "queues": [{"node": node, "port": port, "series": series}],
            "windows": [(t, flow, 0.0, rate) for t, flow, rate in rates or []],
            "totals": {"end_ns": len(queue) * 1e5},
            "losses": [],
        }
    )


def far_end(network: Network, port: tuple[int, int]) -> int:
    """The node at the other end of a port's link."""
    node, number = port
    record = [link.b if link.a == node else link.a for link in network.links if node in (link.a, link.b)]
    return record[number]


def test_the_watched_ports_are_the_bottlenecks() -> None:
    assert far_end(DUMBBELL.build(), BOTTLENECK) == 7
    lot = bottlenecks.parking_lot_topology().build()
    assert (far_end(lot, bottlenecks.FIRST), far_end(lot, bottlenecks.SECOND)) == (9, 10)
    assert far_end(network.TREE.build(), network.TO_RECEIVER) == 0
    assert len(network.mixed(1).flows) == 15


def test_a_settled_queue_stays_near_its_target() -> None:
    queue = np.full(10_000, 64e3)
    queue[:100], queue[300:320] = 128e3, 0.0
    assert numbers.settled_ns(run_of(queue)) == 320 * 1e5
    assert np.isnan(numbers.settled_ns(run_of(np.zeros(1000))))
    assert numbers.numbers(np.array([0.0, 64e3]))["empty"] == 0.5


def test_a_decrease_is_as_large_whatever_the_rate_is_where_steps_are_additive() -> None:
    rates: list[tuple[float, int, float]] = []
    for i in range(20):
        rates += [(i * 5e5, 0, 8e8 - 1e6 * (i % 2)), (i * 5e5, 1, 2e8 - 1e6 * (i % 2))]
    step, ratio = _decreases(run_of(np.zeros(100), rates))
    assert step == pytest.approx(1)
    assert ratio == pytest.approx(4, rel=0.02)


def test_smcc_holds_its_target_beside_background_and_the_queue_is_seen_each_100_us() -> None:
    end = 300_000_000
    flows = network.endless(network.side_by_side(2), network.stream(2, 5, 500, end // 2))
    with Simulator() as simulator:
        scenario = network.scenario(ENTRIES[SMCC], end, flows, measured_ns=(end // 2, end))
        run = Run(simulator.play(scenario))
    assert run.step_ns == 1e5
    assert abs(numbers.fine([run], 0.8 * end, end).mean() - 64e3) < 8e3
    assert run.used(BOTTLENECK) == pytest.approx(1, abs=0.01)
    total = run.rates_at(np.linspace(0.8 * end, end, 200)).sum(axis=0).mean()
    assert total == pytest.approx(500e6, rel=0.1)
    assert len(numbers.coarse([run], 0, end)) == pytest.approx(300, abs=1)


def test_a_queue_within_a_quarter_of_its_target_has_settled() -> None:
    lengths = numbers.TARGET_BYTES * np.array([1.3] * 5 + [1.2, 0.8] * 10)
    run: Any = SimpleNamespace(lengths={BOTTLENECK: lengths}, step_ns=1.0)
    assert numbers.settled_ns(run) == 5
