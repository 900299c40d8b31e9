# SPDX-License-Identifier: GPL-2.0-or-later
"""Links whose rate and delay change over time, by closed forms, from files and drawn."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator

RATE_BPS, DELAY_NS = 10e9, 1000
#: The link between the two switches, towards the receiver.
BOTTLENECK = {"link": [1, 2], "towards": 2}
BOTH = pytest.mark.parametrize(("transport", "controller"), [("rdma", "dctcp"), ("tcp", "cubic")])


def scenario(
    transport: str, *link_rates: dict[str, Any], size_bytes: int = 1_000_000, **keys: Any
) -> Scenario:
    """A flow over two switches, all links at 10 Gb/s."""
    links = [{"a": a, "b": a + 1, "rate_bps": RATE_BPS, "delay_ns": DELAY_NS} for a in range(3)]
    return Scenario.of(
        {
            "transport": transport,
            "topology": {"kind": "graph", "nodes": ["host", "switch", "switch", "host"], "links": links},
            "traffic": {"kind": "list", "flows": [{"src": 0, "dst": 3, "size_bytes": size_bytes}]},
            "time_limit_ns": 50_000_000,
            "link_rates": [*link_rates],
            **keys,
        }
    )


def fct_ns(simulator: Simulator, controller: str, one_flow: Scenario) -> float:
    return float(simulator.play(one_flow.under(controller))["flows"]["fct_ns"][0])


@BOTH
def test_a_flow_waits_as_long_as_its_link_sends_nothing(
    simulator: Simulator, transport: str, controller: str
) -> None:
    pause = [{"at_ns": t, "rate_bps": rate} for t, rate in ((0, RATE_BPS), (300_000, 0), (320_000, RATE_BPS))]
    constant = fct_ns(simulator, controller, scenario(transport))
    interrupted = scenario(transport, {**BOTTLENECK, "steps": pause})
    assert fct_ns(simulator, controller, interrupted) == pytest.approx(constant + 20_000, abs=0.01)


@BOTH
def test_what_is_left_takes_twice_the_time_at_half_the_rate(
    simulator: Simulator, transport: str, controller: str
) -> None:
    steps = [{"at_ns": 0, "rate_bps": RATE_BPS}, {"at_ns": 300_000, "rate_bps": RATE_BPS / 2}]
    constant = fct_ns(simulator, controller, scenario(transport))
    halved = fct_ns(simulator, controller, scenario(transport, {**BOTTLENECK, "steps": steps}))
    assert halved == pytest.approx(constant + (constant - 300_000), rel=0.01)


def test_a_delay_may_change_and_no_packet_overtakes_another(simulator: Simulator) -> None:
    steps = [
        {"at_ns": at, "rate_bps": RATE_BPS, "delay_ns": delay}
        for at, delay in ((0, 20_000), (100_000, 1000), (200_000, 6000))
    ]
    changing = scenario("rdma", {**BOTTLENECK, "steps": steps}, record={"reordering": True})
    flows = simulator.play(changing.under("hpcc"))["flows"]
    assert flows["out_of_order_packets"] == flows["retransmitted_bytes"] == [0]
    last = scenario("tcp", {**BOTTLENECK, "steps": steps})
    constant = fct_ns(simulator, "cubic", scenario("tcp"))
    assert fct_ns(simulator, "cubic", last) - constant >= 5000


@BOTH
@pytest.mark.parametrize("kind", ["steps", "walk", "cellular"])
def test_drawn_rates_are_the_seeds_own(
    simulator: Simulator, transport: str, controller: str, kind: str
) -> None:
    rates = {"kind": kind, "least_bps": 1e9, "most_bps": RATE_BPS, "every_ns": 100_000}
    times = [
        fct_ns(simulator, controller, scenario(transport, {"link": [1, 2], "drawn": rates}, seed=seed))
        for seed in (1, 1, 2)
    ]
    assert times[0] == times[1] != times[2]
    rows = scenario(transport, {"link": [1, 2], "drawn": rates}).to_simulator_json()["link_rates"]
    values = np.array(rows[0]["rate_bps"])
    assert values.max() <= RATE_BPS
    assert values[values > 0].min() >= 1e9
    assert rows[0]["rate_bps"] != rows[1]["rate_bps"], "both directions vary independently"


@pytest.mark.parametrize(
    ("text", "rates", "period_ns"),
    [
        ("1\n1\n3\n", {0: 24e6, 1_000_000: 0, 2_000_000: 12e6}, 3_000_000),
        ("5.0 1.5\n6.0\t3\n", {0: 1.5e6, 1_000_000_000: 3e6}, 2_000_000_000),
        ("at_ns,rate_bps,delay_ns\n0,1Gbps,1us\n1ms,500Mbps,2us\n", {0: 1e9, 1_000_000: 5e8}, 2_000_000),
    ],
    ids=["mahimahi", "pensieve", "csv"],
)
def test_files_give_rates_and_repeat(
    tmp_path: Path, text: str, rates: dict[int, float], period_ns: int
) -> None:
    (tmp_path / "link.trace").write_text(text)
    file = {**BOTTLENECK, "file": str(tmp_path / "link.trace")}
    row = scenario("rdma", file).to_simulator_json()["link_rates"][0]
    assert dict(zip(row["at_ns"], row["rate_bps"], strict=True)) == rates
    assert (row["from"], row["to"], row["period_ns"]) == (1, 2, period_ns)
    assert scenario("rdma", {**file, "repeat": False}).to_simulator_json()["link_rates"][0]["period_ns"] == -1
