# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks, models and numbers of papers, as they are simulated."""

from __future__ import annotations

import math
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ns3_env.eval.papers.clusters import collectives
from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.irn import lossy
from ns3_env.eval.papers.irn.lossy import CONTROLLERS, DCQCN, IRN, NETWORKS, NONE, WITH
from ns3_env.eval.papers.mpcc import open_loop, state_switch
from ns3_env.eval.papers.mpcc.link import empty_ns
from ns3_env.eval.papers.mpcc.open_loop import NO_WINDOW, model, respond, slope_bps
from ns3_env.eval.papers.runs import Run, count_shares, finished_ns
from ns3_env.eval.papers.smcc import bottlenecks, numbers
from ns3_env.eval.papers.smcc import incast as smcc_incast
from ns3_env.eval.papers.smcc.bottlenecks import _decreases
from ns3_env.eval.papers.smcc.numbers import BOTTLENECK, SMCC
from ns3_env.eval.papers.tdctcp import incast, sweeps
from ns3_env.eval.papers.tdctcp.incast import AS_PUBLISHED, DCTCP, EACH_ACKED, LAWS, TDCTCP
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell, Network
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats
from tests.eval.papers.verdicts import failed

RATE_BPS = 40e9


def test_the_network_has_the_papers_size_and_bdp(simulator: Simulator) -> None:
    one = Incast(size_bytes=1000, senders=[0], receiver=53)
    base = declared("irn-incast").cases(1)[NONE, 10, IRN]
    assert base.switch.buffer_bytes == 6 * 2 * 120e3
    built = base.topology.build()
    assert len(built.hosts) == 54
    assert {link.rate_bps for link in built.links} == {RATE_BPS}
    base_rtt_ns = simulator.play(base.model_copy(update={"traffic": one}))["flows"]["base_rtt_ns"][0]
    assert base_rtt_ns * RATE_BPS / 8e9 == pytest.approx(120e3, rel=0.06)


def test_networks_differ_in_recovery_and_pauses_alone() -> None:
    cases = lossy.incast_cases(0.01)
    for controller in CONTROLLERS:
        scenarios = {name: cases[controller, 10, name](3) for name in NETWORKS}
        for name, scenario in scenarios.items():
            kind = "selective_repeat" if name.startswith("selective") else "go_back_n"
            assert (scenario.recovery.kind, scenario.switch.pfc) == (kind, name.endswith("with PFC"))
            assert scenario.retransmission_timeout_ns == (0 if name == WITH else 320_000)
            assert (scenario.switch.ecn is not None) == (controller == DCQCN)
        assert len({str(scenario.traffic) for scenario in scenarios.values()}) == 1


def test_an_incast_without_losses_takes_what_its_link_needs(simulator: Simulator) -> None:
    run = Run(simulator.play(lossy.incast_cases(0.02)[NONE, 10, WITH](1)))
    assert run.lost == 0
    needed_ns = 3_000_000 * 1.048 * 8e9 / RATE_BPS
    assert needed_ns < np.max(run.flow_ends_ns) < needed_ns + 40_000


def numbers_of(name: str) -> dict[str, float]:
    """Numbers of a run that has the thesis's values."""
    kinds = ("throughput_mbps", "rtt_mean_ms", "rtt_p50_ms", "rtt_p99_ms")
    return {kind: declared("tdctcp-incast").rows[f"{name} {kind}"].published or 0.0 for kind in kinds}


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
    main = {name: numbers_of(name) for name in LAWS}
    settings = {AS_PUBLISHED: {**main, "T-DCTCP, theta 2": main[TDCTCP]}, EACH_ACKED: main}
    assert failed(incast.claims(settings)) == ["Cases 5 and 7 cut slightly less than case 8, DCTCP's"]


def test_marks_keep_the_rtt_where_the_threshold_is() -> None:
    """15 flows of DCTCP, each packet acknowledged, K = 20 packets: 20 to 60 packets of 1502 B at 100 Mb/s."""
    with Simulator() as simulator:
        run = Run(simulator.play(declared("tdctcp-incast").cases(0.025)[EACH_ACKED, DCTCP]))
    record, rtts = incast.numbers(run), incast.rtts_ms(run)
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
    for name, ends in {
        "smcc-qcn": {BOTTLENECK: 7},
        "smcc-parking-lot": {bottlenecks.FIRST: 9, bottlenecks.SECOND: 10},
        "smcc-incast": {numbers.TO_RECEIVER: 0},
    }.items():
        network = next(iter(declared(name).cases(1).values())).topology.build()
        assert {port: far_end(network, port) for port in ends} == ends
    assert len(smcc_incast.mixed(1).flows) == 15


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
    with Simulator() as simulator:
        run = Run(simulator.play(declared("smcc-background").cases(end / 4e9)[SMCC, 500]))
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


def test_fabrics_have_64_gpus_of_eight_nodes_below_a_leaf_or_32_of_one_rail_each() -> None:
    for kind, leaves, gpus in ((collectives.RAILS, 8, 32), (collectives.LEAVES, 4, 64)):
        network = collectives.NETWORKS[kind][0].build()
        assert network.faults() == []
        below = Counter(network.access_switch(gpu) for gpu in range(256))
        assert (len(below), set(below.values())) == (leaves, {gpus})
        assert len(network.nodes) == 256 + leaves + 64
    assert network.access_switch(0) == network.access_switch(63) != network.access_switch(64)


def test_a_ring_in_a_node_takes_its_rounds(simulator: Simulator) -> None:
    """14 rounds of 2 us and 250 kB at 180 GB/s with headers, and a packet more at the switch."""
    scenario = collectives.node_cases(2_000_000 / (512 * collectives.MIB))[16]
    chunk, packets = 250_000, 28
    transfer = (chunk + 48 * packets) / 180 + 2 * 25 + (9048) / 180
    assert finished_ns(simulator.play(scenario)) == pytest.approx(14 * (2000 + transfer), rel=0.01)


#: BDP of four senders of 1 Gb/s into 1 Gb/s (Zheng 2024, Fig. 3.1), round for easy sums.
BDP = 4000


def test_the_model_is_eq_3_4_by_hand() -> None:
    # B = 1 µs x 4 x 1e9 / (8 x 4000) = 0.125; W* = 1e9 x 4000 / (1e9 x 4) = 1000 B
    # W = BDP: 0.125 x 3000 = 375 B per µs, 3 Gb/s; W = 0: -125 B per µs, -1 Gb/s; the fair share: nothing
    queue = model([4000, 4000, 0, 1000, 0], 1000, BDP)
    assert queue == pytest.approx([0, 375, 750, 625, 625, 500])
    assert slope_bps([0, 1000, 2000], queue[:3]) == pytest.approx(3e9)
    assert math.isnan(slope_bps([0], [0]))
    # an empty queue stays empty, a bounded one bounded
    assert model([0, 0, 4000, 0, 0, 0, 0], 1000, BDP) == pytest.approx([0, 0, 0, 375, 250, 125, 0, 0])
    assert model([4000] * 4, 1000, BDP, bound_bytes=800) == pytest.approx([0, 375, 750, 800, 800])


def test_the_switch_follows_the_model_in_open_loop() -> None:
    with Simulator() as simulator:
        base = open_loop.scenario(1000, 200_000, 800_000, 1000)
        answer = respond(simulator, base, lambda k, bdp: 0.0 if k % 2 else NO_WINDOW)
    on = (answer.times_ns[:-1] >= 0) & (answer.times_ns[:-1] // 200_000 % 2 == 0)
    theory = model(np.where(on, answer.bdp_bytes, 0.0), 1000, answer.bdp_bytes)
    assert answer.bdp_bytes == pytest.approx(3750)  # 6 µs, and three frames of 1000 B (eq. 2.2)
    assert np.abs(answer.switch_bytes - theory).max() < 6 * 1048
    assert answer.switch_bytes.max() > 75_000


def test_the_state_is_the_later_bottlenecks_queue_while_that_is_the_longer_one() -> None:
    with Simulator() as simulator:
        run, hops = state_switch.keep(
            simulator.play(declared("mpcc-state-switch").cases(0.2)["flow 2 after 30 µs"])
        )
    assert hops[:, 1].tolist() == [1, 3, 1]
    first, third = (run.lengths[port] for port in state_switch.BOTTLENECKS.values())
    longer = run.times_ns[third > first + 1080]
    # an ACK comes 5 µs of links behind switch 3, and after its frame's waiting time there
    news_ns = hops[1:, 0] - (longer[0], longer[-1])
    assert ((news_ns > 4_500) & (news_ns < 6_500)).all()


def test_throughput_is_what_the_flows_received() -> None:
    bin_ns = 50_000
    base = Scenario(
        topology=Dumbbell(senders=4, rate_bps=open_loop.RATE_BPS),
        traffic=Incast(size_bytes=20_500),
        time_limit_ns=10_000_000,
    )
    with Simulator() as simulator:
        run = count_shares(simulator, base.under("hpcc"), open_loop.BOTTLENECK, bin_ns)
    # 21 frames of 48 B of headers and 42 B of telemetry
    assert run.share.sum(axis=1) * bin_ns * open_loop.RATE_BPS / 8e9 == pytest.approx([20_500 + 21 * 90] * 4)
    assert run.share.shape[1] == run.results["totals"]["end_ns"] // bin_ns + 1
    assert run.share.sum(axis=0).max() <= 1.2  # a whole frame may be counted in one bin


def test_a_queue_is_empty_after_its_peak() -> None:
    times = np.arange(6) * 100.0
    assert empty_ns(times, np.array([0.0, 5, 9, 4, 0, 3])) == 400
    assert math.isnan(empty_ns(times, np.array([0.0, 5, 9, 4, 1, 3])))
