# SPDX-License-Identifier: GPL-2.0-or-later
"""References against closed forms: the oracle, max_min and clairvoyant end hosts."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

from ns3_env.errors import ScenarioError
from ns3_env.programs.executable import network_bounds, references
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats

#: Bytes of a full packet, and its time at 100 Gb/s, which a port does not interrupt.
PACKET = 1048
PACKET_NS = PACKET * 8 / 100 + 0.001
#: End hosts that know all flows, and the oracle, whose ports do: the least remaining first.
CLAIRVOYANT = ("clairvoyant", "clairvoyant-slowdown")
ordered = pytest.mark.parametrize("controller", ["oracle", *CLAIRVOYANT])


def dumbbell(controller: str, senders: int, flows: Sequence[Mapping[str, Any]], **more: Any) -> Scenario:
    data = {
        "topology": {"kind": "dumbbell", "senders": senders},
        "traffic": {"kind": "list", "flows": [{"dst": senders, **flow} for flow in flows]},
        "controllers": [controller],
        "time_limit_ns": 100_000_000,
        **more,
    }
    return Scenario.from_mapping(data, "closed")


def waited(results: Mapping[str, Any]) -> Floats:
    """Waiting time of each flow in ns: its FCT minus its standalone FCT."""
    flows = results["flows"]
    return np.array(flows["fct_ns"], float) - np.array(flows["standalone_ns"], float)


def work_ns(size_bytes: int) -> float:
    """Time of a flow's bytes at the bottleneck, with headers."""
    return (size_bytes + 48 * -(-size_bytes // 1000)) * 8 / 100


@ordered
def test_flows_that_start_together_end_as_shortest_remaining_first_has_it(
    simulator: Simulator, controller: str
) -> None:
    """Each flow waits for the work of all shorter ones, to within a packet: SRPT's minimum mean."""
    sizes = [int(size) for size in np.random.default_rng(3).integers(20_000, 2_000_000, 12)]
    flows = [{"src": i, "size_bytes": x} for i, x in enumerate(sizes)]
    results = simulator.play(dumbbell(controller, 12, flows))
    order = np.argsort(sizes)
    before = [0, *accumulate(work_ns(sizes[i]) for i in order[:-1])]
    assert waited(results)[order] == pytest.approx(before, abs=PACKET_NS)
    most = max(port["max_bytes"] for port in results["queues"])
    assert controller == "oracle" or most < 10 * PACKET, "they keep queues at hosts"


@ordered
@pytest.mark.parametrize("source", [0, 1], ids=["same host", "another host"])
def test_a_short_flow_passes_a_long_one(simulator: Simulator, controller: str, source: int) -> None:
    """It passes at a switch, and at a host's card from which the long flow's packets have not left yet."""
    long = {"src": 0, "size_bytes": 5_000_000}
    short = {"src": source, "size_bytes": 30_000, "start_ns": 123_457}
    length, delay = waited(simulator.play(dumbbell(controller, 2, [long, short])))
    # The packet in transmission has to end, at each of the ports on the path that are otherwise idle.
    assert 0 <= delay <= (1 if controller == "oracle" else 2) * PACKET_NS
    assert length == pytest.approx(work_ns(30_000), abs=PACKET_NS)


def test_acks_wait_for_no_data(simulator: Simulator) -> None:
    """Behind three windows of data to its sender a flow's ACKs would come at a quarter of its rate."""
    against = [{"src": i, "dst": 0, "size_bytes": 1_000_000} for i in (2, 3, 4)]
    results = simulator.play(dumbbell("oracle", 5, [{"src": 0, "dst": 1, "size_bytes": 500_000}, *against]))
    assert waited(results)[0] < 0.1 * work_ns(500_000), "its sender's ACKs for their data, 60 B of 1048"


def test_a_flow_alone_has_the_line_to_itself(simulator: Simulator) -> None:
    """The window does not limit the flow: on long and short paths, with large and small packets."""
    for topology in ({"kind": "dumbbell", "senders": 1, "delay_ns": 10}, {"kind": "dumbbell", "senders": 1}):
        for payload in (1000, 9000):
            flow = [{"src": 0, "size_bytes": 3_000_001}]
            results = simulator.play(dumbbell("oracle", 1, flow, topology=topology, payload_bytes=payload))
            assert waited(results)[0] == pytest.approx(0, abs=1)


def test_nothing_is_lost_and_nobody_pauses_where_others_do(simulator: Simulator) -> None:
    """The scenario's buffers do not matter: 64 windows wait at one link."""
    flows = [{"src": i, "size_bytes": 200_000} for i in range(64)]
    for switch in ({"buffer_bytes": 3_000_000}, {"buffer_bytes": 400_000, "pfc": False}):
        scenario = dumbbell("oracle", 64, flows, switch=switch)
        oracle, dcqcn = (simulator.play(scenario.under(x))["totals"] for x in ("oracle", "dcqcn"))
        assert oracle["pfc_frames"] == oracle["dropped_packets"] == oracle["unfinished"] == 0
        assert dcqcn["pfc_frames"] + dcqcn["dropped_packets"] > 0


def test_who_waits_has_no_timeout_and_who_lost_has_one(simulator: Simulator) -> None:
    """A timer of 20 µs, and a flow that waits for 16 ms: it knows that its packets are only late."""
    short = [{"src": i, "size_bytes": 5_000_000} for i in range(1, 40)]
    scenario = dumbbell(
        "oracle", 40, [{"src": 0, "size_bytes": 6_000_000}, *short], retransmission_timeout_ns=20_000
    )
    flows = simulator.play(scenario)["flows"]
    assert flows["fct_ns"][0] > 15_000_000
    assert not any(flows["timeouts"])
    assert not any(flows["retransmitted_bytes"])
    lossy = simulator.play(dumbbell("oracle", 40, short, loss_probability=0.001))
    assert lossy["totals"]["unfinished"] == 0
    assert lossy["totals"]["dropped_packets"] > 100
    assert any(lossy["flows"]["timeouts"]), "of those that lost their last packet"


def test_streams_and_endless_flows_are_last(simulator: Simulator) -> None:
    parts = [
        {"kind": "constant_rate", "src": 0, "dst": 2, "rate_bps": 90e9},
        {"kind": "list", "flows": [{"src": 0, "dst": 2, "size_bytes": "endless"}]},
        {"kind": "list", "flows": [{"src": 1, "dst": 2, "size_bytes": 1_000_000, "start_ns": 200_000}]},
    ]
    results = simulator.play(dumbbell("oracle", 2, [], traffic={"kind": "mix", "parts": parts}))
    assert results["flows"]["fct_ns"][0] == -1
    assert 0 <= waited(results)[1] <= 2 * PACKET_NS


def test_the_oracle_has_all_flows_and_stands_beside_no_other(simulator: Simulator) -> None:
    incast = {"kind": "incast", "size_bytes": 100_000}
    data = {
        "topology": {"kind": "dumbbell", "senders": 4},
        "traffic": {"kind": "mix", "controller": "hpcc", "parts": [incast, {**incast, "controller": "hpcc"}]},
        "controllers": ["swift", "hpcc"],
    }
    mixed = Scenario.from_mapping(data, "mixed.yaml")
    assert [x.name for x in mixed.under("dctcp").controllers] == ["dctcp", "swift", "hpcc"]
    whole = mixed.under("oracle")
    assert [x.name for x in whole.controllers] == ["oracle"]
    assert whole.traffic.named_controllers() == set()
    assert whole.to_simulator_json()["switch"]["scheduling"] == "least_remaining"
    assert whole.under("dctcp").to_simulator_json()["switch"]["scheduling"] == "fifo"
    assert simulator.play(whole)["totals"]["unfinished"] == 0
    agents = {**data, "controllers": ["agent", "hpcc"], "traffic": {**incast, "controller": "agent"}}
    assert Scenario.from_mapping(agents, "agents.yaml").under("oracle").agent_flow_count == 0
    for controllers, traffic in ((["oracle", "hpcc"], incast), (["oracle"], data["traffic"])):
        wrong = {**data, "controllers": controllers, "traffic": traffic}
        with pytest.raises(
            ScenarioError, match=r"'oracle' is a bound for all flows of a network, and .* hpcc"
        ):
            Scenario.from_mapping(wrong, "mixed.yaml")


def test_the_scenario_may_say_how_ports_schedule(simulator: Simulator) -> None:
    """The same windows on ordinary ports, and another controller on the oracle's."""
    flows = [{"src": i, "size_bytes": (i + 1) * 50_000} for i in range(8)]
    means = {
        (name, scheduling): float(
            np.mean(waited(simulator.play(dumbbell(name, 8, flows, switch={"scheduling": scheduling}))))
        )
        for name in ("oracle", "hpcc")
        for scheduling in ("auto", "fifo", "least_remaining")
    }
    assert means["oracle", "auto"] == means["oracle", "least_remaining"] < means["oracle", "fifo"]
    assert means["hpcc", "auto"] == means["hpcc", "fifo"] != means["hpcc", "least_remaining"]


def test_the_order_for_slowdowns_weighs_a_flows_bytes_by_its_size(simulator: Simulator) -> None:
    """0.5 MB are left of 2 MB when 0.6 MB come: fewer bytes, but a small share of a long flow's time.

    At each of three ports the packet in transmission has to end.
    """
    start = round(work_ns(1_500_000))
    flows = [{"src": 0, "size_bytes": 2_000_000}, {"src": 1, "size_bytes": 600_000, "start_ns": start}]
    results = {name: waited(simulator.play(dumbbell(name, 2, flows))) for name in CLAIRVOYANT}
    assert results["clairvoyant"] == pytest.approx([0, work_ns(500_000)], abs=3 * PACKET_NS)
    assert results["clairvoyant-slowdown"] == pytest.approx([work_ns(600_000), 0], abs=3 * PACKET_NS)


def test_under_fair_shares_flows_end_as_max_min_has_it(simulator: Simulator) -> None:
    """A flow over two links, one more on the first, two on the second: 1/3, 2/3 and twice 1/3."""
    pairs = [(0, 5), (1, 4), (3, 6), (4, 6)]
    flows = [{"src": a, "dst": b, "size_bytes": 3_000_000} for a, b in pairs]
    topology = {"kind": "parking_lot", "switches": 3, "hosts_per_switch": 2}
    fair = dumbbell("clairvoyant-fair", 3, flows, topology=topology)
    times = {name: waited(simulator.play(fair.under(name))) for name in ("clairvoyant-fair", "max_min")}
    assert times["max_min"] == pytest.approx(work_ns(3_000_000) * np.array([2, 0.5, 2, 2]), rel=1e-6)
    assert times["clairvoyant-fair"] == pytest.approx(times["max_min"], abs=20 * PACKET_NS)


def test_a_flow_waits_for_a_shorter_one_of_another_controller_which_stays_there(simulator: Simulator) -> None:
    """The shorter one has the link, and the longer one follows at its end."""
    flows = [{"src": 0, "size_bytes": 2_000_000}, {"src": 1, "size_bytes": 1_000_000, "controller": "dcqcn"}]
    mixed = dumbbell("hpcc", 2, flows, controllers=["hpcc", "dcqcn"]).under("clairvoyant")
    assert [x.name for x in mixed.controllers] == ["clairvoyant", "hpcc", "dcqcn"]
    long, short = waited(results := simulator.play(mixed))
    assert short == pytest.approx(0, abs=PACKET_NS)
    assert long == pytest.approx(results["flows"]["fct_ns"][1], abs=PACKET_NS)


@pytest.mark.parametrize("controller", CLAIRVOYANT)
@pytest.mark.parametrize("recovery", ["go_back_n", "selective_repeat"])
def test_lost_packets_are_sent_again(simulator: Simulator, controller: str, recovery: str) -> None:
    flows = [{"src": i, "size_bytes": 500_000} for i in range(20)]
    lossy = {"loss_probability": 0.001, "recovery": {"kind": recovery}}
    totals = simulator.play(dumbbell(controller, 20, flows, **lossy))["totals"]
    assert totals["unfinished"] == 0
    assert totals["dropped_packets"] > 5


def test_they_are_references_that_other_controllers_may_join() -> None:
    assert {*CLAIRVOYANT, "clairvoyant-fair"} == references() - network_bounds()


#: Transport and reference.
FLUIDS = [("rdma", "max_min"), ("tcp", "max_min"), ("tcp", "oracle")]
RATE_BPS = 10e9
#: Payload of a packet, and its bytes on the wire.
PACKETS = {"rdma": (1000, 1048), "tcp": (1460, 1502)}

fluids = pytest.mark.parametrize(("transport", "reference"), FLUIDS)


def scenario(transport: str, reference: str, flows: list[dict[str, Any]], **others: Any) -> Scenario:
    keys = {
        "transport": transport,
        "time_limit_ns": "1s",
        "topology": {"kind": "dumbbell", "senders": 3, "rate_bps": RATE_BPS},
        "traffic": {"kind": "list", "flows": flows},
        "controllers": [reference],
    }
    return Scenario.from_mapping({**keys, **others}, "my.yaml")


def sent_by(host: int, size_bytes: int | str, start_ns: int = 0) -> dict[str, Any]:
    return {"src": host, "dst": 3, "size_bytes": size_bytes, "start_ns": start_ns}


def time_ns(transport: str, size_bytes: float) -> float:
    """Time that the bottleneck needs for this payload."""
    payload, wire = PACKETS[transport]
    return size_bytes * wire / payload * 8e9 / RATE_BPS


@fluids
def test_flows_are_as_late_as_by_hand(simulator: Simulator, transport: str, reference: str) -> None:
    """With equal shares, flows end when the link has carried 6, 5 and 3 MB; shortest first: 6, 3 and 1 MB."""
    assert reference in references(transport)  # type: ignore[arg-type]
    sent = [sent_by(0, 3_000_000), sent_by(1, 2_000_000), sent_by(2, 1_000_000)]
    flows = simulator.play(scenario(transport, reference, sent))["flows"]
    late = np.subtract(flows["fct_ns"], flows["standalone_ns"])
    others_bytes = (3e6, 3e6, 2e6) if reference == "max_min" else (3e6, 1e6, 0)
    assert late == pytest.approx([time_ns(transport, x) for x in others_bytes], rel=1e-9, abs=2e-3)
