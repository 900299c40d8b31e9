# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiment of Liang 2018 on its fat-tree, and the thesis's numbers against its claims."""

from __future__ import annotations

import numpy as np
import pytest

from ns3_env.eval.paper.tdctcp import flows, incast
from ns3_env.eval.paper.tdctcp.fat_tree import (
    CUBIC,
    DCTCP,
    LAWS,
    MININET,
    RECEIVER,
    SENDERS,
    TDCTCP,
    TO_RECEIVER,
    endless,
    scenario,
    topology,
)
from ns3_env.eval.paper.tdctcp.incast_claims import EACH_ACKED, PUBLISHED_MS, claims, queue_kb
from ns3_env.eval.paper.tdctcp.seen import Seen, seen
from ns3_env.simulator import Simulator


def run_of(law: str) -> Seen:
    """A run with the thesis's numbers."""
    throughput, mean, p99, median = PUBLISHED_MS[law]
    none = np.zeros(0)
    return Seen(throughput or 0.0, 1.0, mean, median, p99, none, queue_kb(mean), 0, 0, none, none)


def test_fifteen_hosts_of_a_fat_tree_send_to_the_sixteenth() -> None:
    network = topology().build()
    assert (len(network.hosts), len(network.nodes)) == (16, 16 + 20)
    assert sorted([RECEIVER, *SENDERS]) == network.hosts
    node, port = TO_RECEIVER
    own = [link.b if link.a == node else link.a for link in network.links if node in (link.a, link.b)]
    assert own[port] == RECEIVER
    assert {link.rate_bps for link in network.links} == {100e6}


def test_a_queue_is_an_rtt_at_100_mbps() -> None:
    assert queue_kb(362.374) == pytest.approx(4529.7, abs=0.1)
    assert queue_kb(1000) == pytest.approx(12_500)


def test_the_theses_percentages_are_of_tdctcps_values() -> None:
    """9.4 % and 37.7 % (sec. 4.2); and its clock ticks in multiples of 512 µs."""
    dctcp, tdctcp, cubic = (PUBLISHED_MS[law] for law in (DCTCP, TDCTCP, CUBIC))
    assert dctcp[1] / tdctcp[1] - 1 == pytest.approx(0.094, abs=5e-4)
    assert dctcp[2] / tdctcp[2] - 1 == pytest.approx(0.377, abs=5e-4)
    assert cubic[2] / tdctcp[2] - 1 == pytest.approx(1.232, abs=5e-4)
    for law in PUBLISHED_MS.values():
        assert [round(1e3 * x) % 512 for x in law[2:]] == [0, 0]
    # "drops by about 1.4X", 31 %, 48.2 % of T-DCTCP's value
    gains = [1 / ratio - 1 for ratio in flows.THEIR_RATIOS.values()]
    assert gains == pytest.approx([1.4, 0.31, 0.482, -0.086])


def test_the_theses_numbers_meet_its_claims_but_for_what_its_law_cannot_do() -> None:
    main = {law: run_of(law) for law in LAWS}
    settings = {incast.AS_PUBLISHED: main, EACH_ACKED: main, "x": {"T-DCTCP, theta 2": main[TDCTCP]}}
    failed = [claim.text for claim in claims(main, settings) if not claim.holds]
    assert [text.split(" (")[0] for text in failed] == [
        "Cases 5 and 7 cut slightly less than case 8, DCTCP's"
    ]


def test_mininets_red_marks_and_holds_a_megabyte() -> None:
    sent = scenario(LAWS[DCTCP], MININET, endless(), 1.0).to_simulator_json()
    queue = sent["tcp"]["queue"]
    assert queue["limit"] == {"amount": 1e6, "unit": "bytes"}
    assert queue["marking"]["least"] == {"amount": 30e3, "unit": "bytes"}
    assert queue["marking"]["ecn"] is True
    assert len(sent["flows"]["src"]) == 15


def test_flows_of_four_sizes_come_from_every_server() -> None:
    sent = flows.traffic(1, 1.0).flows
    assert len(sent) == 60
    assert [flow.size_bytes for flow in sent[:4]] == list(flows.SIZES.values())
    assert flows.means_by_size(np.arange(60.0)) == [28, 29, 30, 31]
    assert [flow.size_bytes for flow in flows.traffic(1, 0.5).flows[:4]] == [1000, 25_000, 500_000, 5_000_000]


def test_marks_keep_the_rtt_where_the_threshold_is() -> None:
    """15 flows of DCTCP, each packet acknowledged, K = 20 packets: 20 to 60 packets of 1502 B at 100 Mb/s."""
    law, setting, per_server = incast.cases()[EACH_ACKED, DCTCP]
    with Simulator() as simulator:
        run = seen(simulator.play(scenario(law, setting, endless(per_server), 0.5)))
    assert 20 * 0.12 < run.rtt_p50_ms < 60 * 0.12
    assert run.throughput_mbps > 80
    assert len(run.rtts_ms) == 99
    assert (np.diff(run.rtts_ms) >= 0).all()
    assert run.rtts_ms[49] == pytest.approx(run.rtt_p50_ms)
