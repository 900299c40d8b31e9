# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiment of Liang 2018 on its fat-tree, and the thesis's numbers against its claims."""

from __future__ import annotations

import numpy as np
import pytest

from ns3_env.eval.papers.runs import Run
from ns3_env.eval.papers.tdctcp import fat_tree, incast
from ns3_env.eval.papers.tdctcp.fat_tree import CUBIC, DCTCP, RECEIVER, SENDERS, SIZES, TDCTCP, TO_RECEIVER
from ns3_env.eval.papers.tdctcp.incast import AS_PUBLISHED, BY_MININET, EACH_ACKED, PUBLISHED_MS
from ns3_env.simulator import Simulator
from tests.eval.papers.verdicts import failed


def numbers_of(name: str) -> dict[str, float]:
    """Of a run with the thesis's numbers."""
    throughput, mean, p99, median = PUBLISHED_MS[name]
    rtts = {"rtt_mean_ms": mean, "rtt_p50_ms": median, "rtt_p99_ms": p99}
    return {"throughput_mbps": throughput or 0.0, **rtts}


def test_fifteen_hosts_of_a_fat_tree_send_to_the_sixteenth() -> None:
    network = fat_tree.topology().build()
    assert (len(network.hosts), len(network.nodes)) == (16, 16 + 20)
    assert sorted([RECEIVER, *SENDERS]) == network.hosts
    node, port = TO_RECEIVER
    own = [link.b if link.a == node else link.a for link in network.links if node in (link.a, link.b)]
    assert own[port] == RECEIVER
    assert {link.rate_bps for link in network.links} == {100e6}


def test_a_queue_is_an_rtt_at_100_mbps() -> None:
    assert incast.queue_kb(362.374) == pytest.approx(4529.7, abs=0.1)
    assert incast.queue_kb(1000) == pytest.approx(12_500)


def test_the_theses_percentages_are_of_tdctcps_values() -> None:
    """9.4 % and 37.7 % (sec. 4.2); and its clock ticks in multiples of 512 µs."""
    dctcp, tdctcp, cubic = (PUBLISHED_MS[name] for name in (DCTCP, TDCTCP, CUBIC))
    assert dctcp[1] / tdctcp[1] - 1 == pytest.approx(0.094, abs=5e-4)
    assert dctcp[2] / tdctcp[2] - 1 == pytest.approx(0.377, abs=5e-4)
    assert cubic[2] / tdctcp[2] - 1 == pytest.approx(1.232, abs=5e-4)
    for printed in PUBLISHED_MS.values():
        assert [round(1e3 * x) % 512 for x in printed[2:]] == [0, 0]
    # "drops by about 1.4X", 31 %, 48.2 % of T-DCTCP's value
    gains = [1 / ratio - 1 for ratio in incast.RATIOS.values()]
    assert gains == pytest.approx([1.4, 0.31, 0.482, -0.086])


def test_the_theses_numbers_meet_its_claims_but_for_what_its_law_cannot_do() -> None:
    main = {name: numbers_of(name) for name in PUBLISHED_MS}
    settings = {AS_PUBLISHED: main, EACH_ACKED: main, "x": {"T-DCTCP, theta 2": main[TDCTCP]}}
    assert failed(incast.claims(settings)) == ["Cases 5 and 7 cut slightly less than case 8, DCTCP's"]


def test_mininets_red_marks_and_holds_a_megabyte() -> None:
    sent = incast.cases(0.05)[BY_MININET, DCTCP].to_simulator_json()
    queue = sent["tcp"]["queue"]
    assert queue["limit"] == {"amount": 1e6, "unit": "bytes"}
    assert queue["marking"]["least"] == {"amount": 30e3, "unit": "bytes"}
    assert queue["marking"]["ecn"] is True
    assert len(sent["flows"]["src"]) == 15


def test_flows_of_four_sizes_come_from_every_server() -> None:
    sent = fat_tree.four_sizes(1, 1.0).flows
    assert len(sent) == 60
    assert [flow.size_bytes for flow in sent[:4]] == list(SIZES.values())
    assert [own.mean() for own in incast.by_size(np.arange(60.0))] == [28, 29, 30, 31]
    half = [flow.size_bytes for flow in fat_tree.four_sizes(1, 0.5).flows[:4]]
    assert half == [1000, 25_000, 500_000, 5_000_000]


def test_marks_keep_the_rtt_where_the_threshold_is() -> None:
    """15 flows of DCTCP, each packet acknowledged, K = 20 packets: 20 to 60 packets of 1502 B at 100 Mb/s."""
    with Simulator() as simulator:
        run = Run(simulator.play(incast.cases(0.025)[EACH_ACKED, DCTCP]))
    own, rtts = fat_tree.numbers(run), fat_tree.rtts_ms(run)
    assert 20 * 0.12 < own["rtt_p50_ms"] < 60 * 0.12
    assert own["throughput_mbps"] > 80
    assert len(rtts) == 99
    assert (np.diff(rtts) >= 0).all()
    assert rtts[49] == pytest.approx(own["rtt_p50_ms"])
