# SPDX-License-Identifier: GPL-2.0-or-later
"""What is no scenario: each fault in one line with the file, the key and what would be right."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ns3_env.config.yaml import parse
from ns3_env.scenario import Scenario
from tests.samples.scenarios import INCAST, refusal

MIXED = """
traffic: {kind: mix, parts: [{kind: incast}, {kind: incast, controller: dcqcn}]}
controllers: [dctcp, dcqcn]
"""


def one_flow(**flow: Any) -> dict[str, Any]:
    return {"traffic": {"kind": "list", "flows": [{"src": 0, "dst": 4, "size_bytes": 1000, **flow}]}}


def stream(**part: Any) -> dict[str, Any]:
    slow = {"kind": "constant_rate", "src": 0, "dst": 4, "rate_bps": "100Mbps", **part}
    traffic = {"kind": "mix", "parts": [INCAST, slow]}
    return {"topology": {"kind": "dumbbell", "rate_bps": "1Gbps"}, "traffic": traffic}


def rate(text: str) -> str:
    return f"topology: {{kind: dumbbell, rate_bps: {text}}}"


def tcp(section: str) -> str:
    return f"transport: tcp\ncontrollers: [cubic]\ntcp: {{{section}}}"


def graph(nodes: str, *links: tuple[int, int]) -> dict[str, Any]:
    """A graph of hosts ("h") and switches ("s")."""
    kinds = ["host" if node == "h" else "switch" for node in nodes]
    lines = [{"a": a, "b": b, "rate_bps": 1e9, "delay_ns": 1} for a, b in links]
    return {"topology": {"kind": "graph", "nodes": kinds, "links": lines}, "traffic": INCAST}


#: A file's text or contents, and what is said of it; " ... " is left out.
FAULTS: list[tuple[str | dict[str, Any], str]] = [
    ("topolgy: {}", "unknown key 'topolgy'; the nearest known one is 'topology'"),
    ("topology: {kind: dumbbell, sendrs: 3}", "topology ... the nearest known one is 'senders'"),
    ("topology: {kind: dumbell}", "topology ... 'dumbbell'"),
    ("topology: {kind: dumbbell, rate_bps: 0}", "topology.rate_bps ... greater than or equal to 10000"),
    ("topology: {kind: dumbbell, rate_bps: -1e9}", "topology.rate_bps ... greater than or equal to 10000"),
    ("topology: {kind: dumbbell, rate_bps: .inf}", "topology.rate_bps ... finite"),
    ("topology: {kind: dumbbell, delay_ns: 0}", "topology.delay_ns ... greater than 0"),
    ("traffic: {kind: mix, parts: [{kind: incast, flos: 1}]}", "traffic.parts.0 ... 'flows'"),
    (one_flow(size_byte=3), "traffic.flows.0 ... 'size_bytes'"),
    (one_flow(size_bytes=0), "traffic.flows.0.size_bytes ... greater than or equal to 1"),
    (one_flow(size_bytes=-5), "traffic.flows.0.size_bytes ... -5"),
    (one_flow(dst=0), "traffic.flows.0.dst ... a flow from host 0 to itself"),
    (one_flow(dst=9), "traffic.flows.0.dst ... there is no host 9"),
    (one_flow(dst=5), "traffic.flows.0.dst ... there is no host 5"),
    (one_flow(controller="cubic"), "traffic.controller ... 'cubic' is not among the controllers"),
    (
        "switch: {buffer_bytes: 200000}",
        "switch.buffer_bytes ... reserves and headrooms of switch 5, 218880 B",
    ),
    (
        "topology: {kind: dumbbell, senders: 5}\nswitch: {pfc: false, buffer_bytes: 25000}",
        "switch.buffer_bytes: ... 25000 B hold no packet of 1090 B beside the reserves of switch 6, 24576 B",
    ),
    ("switch: {ecn: {kmin_bytes: 900000}}", "switch.ecn ... kmax_bytes"),
    ("switch: {ecn: {kmin_byte: 900000}}", "switch.ecn ... the nearest known one is 'kmin_bytes'"),
    ("switch: {ecn: automatic}", "switch.ecn ... 'auto'"),
    (MIXED, "switch.ecn ... flows under dcqcn and dctcp need different marking"),
    (
        MIXED.replace("dcqcn", "smcc").replace("dctcp", "qcn"),
        "switch.congestion_points: flows under qcn and smcc need",
    ),
    ("clock: {name: synchron}", "clock ... 'synchronous'"),
    ("controllers: []", "controllers ... at least 1"),
    ("controllers: [hpcc, dcqcn]\ncontrolled_flows: [0]", "controlled_flows ... 'agent'"),
    ("controllers: [agent, hpcc]\ncontrolled_flows: [8]", "controlled_flows ... there is no flow 8"),
    (graph("hhs", (0, 2)), "topology.links ... host 1 has no link"),
    (graph("hhs", (0, 2), (1, 2), (2, 2)), "topology.links.2 ... a link from node 2 to itself"),
    (
        graph("hhss", (0, 2), (2, 3), (1, 3), (3, 2)),
        "topology.links.3 ... nodes 3 and 2 are joined already, by links.1",
    ),
    (graph("hhs", (0, 2), (1, 7)), "topology.links.1 ... there is no node 7; nodes are 0 to 2"),
    (graph("hhss", (0, 2), (1, 3)), "topology.links ... there is no path from host 0 to host 1"),
    (
        graph("hh" + "s" * 33, (0, 2), *((i, i + 1) for i in range(2, 34)), (34, 1)),
        "topology.links ... the path from host 0 to host 1 has 33 switches; there may be 32",
    ),
    ("topology: {kind: parking_lot, switches: 33}", "topology.links ... has 33 switches; there may be 32"),
    ("traffic: {kind: csv, file: none.csv}", "traffic.file ... none.csv: No such file"),
    ("traffic: {kind: csv}", "traffic.file ... required"),
    # What is chosen by name.
    ("topology: dumbbell", "topology: is 'dumbbell': write {kind: dumbbell, ...}"),
    ("topology: dumbel", "topology: is 'dumbel': write {kind: dumbbell, ...}"),
    ("topology: 5", "topology: is 5: write {kind: dumbbell, ...}"),
    ("topology: {senders: 3}", "topology: has no 'kind': one of 'dumbbell', 'parking_lot', "),
    (
        "topology: {kind: dumbbel}",
        "topology: there is no kind 'dumbbel'; the nearest known one is 'dumbbell' of 'dumbbell', ",
    ),
    ("traffic: {kind: mix, parts: [incast]}", "traffic.parts.0: is 'incast': write {kind: inca"),
    ("clock: synchronous", "clock: is 'synchronous': write {name: synchronous, ...}"),
    ("clock: {interval_ns: 5}", "clock: has no 'name': one of 'per_flow_rtt', "),
    # Units.
    (rate("1us"), "topology.rate_bps: '1us' is a time; a rate takes bps, kbps, Mbps"),
    (rate("25GBps"), "topology.rate_bps: '25GBps' has the unknown unit 'GBps'; a rate takes"),
    (rate("fast"), "topology.rate_bps: 'fast' is no number with a unit: a rate takes"),
    (rate("9Tbps"), "topology.rate_bps: must be at most 8e+12"),
    (rate("1e99999999999"), "topology.rate_bps: ... has the unknown unit 'e99999999999'"),
    (rate(".nan"), "topology.rate_bps: ... should be a finite number"),
    (
        "topology: {kind: dumbbell, delay_ns: 25Gbps}",
        "topology.delay_ns: '25Gbps' is a rate; a time takes ps, ns, us, ms",
    ),
    ("topology: {kind: dumbbell, delay_ns: 1.5ns}", "topology.delay_ns: '1.5ns' is no whole number of ns"),
    ("topology: {kind: dumbbell, delay_ns: -1us}", "topology.delay_ns: Input should be greater than 0"),
    (
        "traffic: {kind: incast, size_bytes: 1ms}",
        "traffic.size_bytes: '1ms' is a time; a size takes B, kB, MB",
    ),
    # Sizes, and what is given in their place.
    (
        "traffic: {kind: incast, size_bytes: endles}",
        "traffic.size_bytes: 'endles' is no number with a unit: a size takes B, kB, MB, GB, TB, or "
        "KiB, MiB, GiB, TiB (such as 64KiB), or a number of bytes; a flow that never ends is 'endless'",
    ),
    (
        "traffic: {kind: incast, size_bytes: 0}",
        "traffic.size_bytes: Input should be greater than or equal to 1",
    ),
    ("traffic: {kind: incast, size_bytes: null}", "traffic.size_bytes: Input should be a valid integer"),
    ("traffic: {kind: incast, receiver: 77}", "traffic.receiver ... there is no host 77"),
    ("traffic: {kind: incast, senders: [4]}", "traffic.senders.0 ... to itself"),
    ("traffic: {kind: joining, sizes_bytes: [5, -1]}", "traffic.sizes_bytes.1: Input should be greater than"),
    ("traffic: {kind: long_short, short_bytes: endless}", "traffic.short_bytes: 'endless' is no number"),
    ("traffic: {kind: poisson, sizes: webserch}", "traffic.sizes ... websearch"),
    ("traffic: {kind: poisson, load: 0}", "traffic.load ... greater than 0"),
    (
        "traffic: {kind: poisson_incast, load: 0.1, fan_in: 1, size_bytes: endless}",
        "traffic.size_bytes: 'endless' is no number with a unit",
    ),
    (
        "traffic: {kind: poisson_incast}",
        "... give one of load and events_per_s; there is neither (HPCC's evaluation: load: 0.02)",
    ),
    (
        "traffic: {kind: poisson_incast, load: 0.1, events_per_s: 5}",
        "... give one of load and events_per_s; there is both",
    ),
    (
        "topology: {kind: fat_tree_3}\ntraffic: {kind: poisson_incast, load: 0.02}",
        "... traffic.fan_in: 60 senders, but there are only 15 hosts beside the receiver",
    ),
    (
        "traffic: {kind: poisson_incast, load: 1, fan_in: 1, size_bytes: 1, duration_ns: 1s}",
        "... there may be at most 1000000",
    ),
    # Streams.
    (
        stream(rate_bps="2Gbps"),
        "traffic.parts.1.rate_bps: 2e+09 bit/s exceed the link of host 0, 1e+09 bit/s",
    ),
    (stream(rate_bps=0), "traffic.parts.1.rate_bps: "),
    (stream(rate_bps=-1e6), "traffic.parts.1.rate_bps: "),
    (stream(rate_bps=float("nan")), "traffic.parts.1.rate_bps: "),
    (stream(rate_bps="nan"), "traffic.parts.1.rate_bps: 'nan' is no number with a unit: a rate takes bps"),
    (stream(rate_bps="1ms"), "traffic.parts.1.rate_bps: '1ms' is a time; a rate takes bps"),
    (stream(stop_ns="1us", start_ns="1us"), "traffic.parts.1.stop_ns: 1000 is not after start_ns, 1000"),
    (stream(stop_ns=0), "traffic.parts.1.stop_ns: "),
    (stream(dst=9), "traffic.parts.1.dst: there is no host 9; hosts are 0 to 4"),
    (stream(dst=0), "traffic.parts.1.dst: a stream from host 0 to itself"),
    (
        stream(controller="hpcc"),
        "traffic.parts.1.controller: nothing steers a stream, 'hpcc' neither; leave it out",
    ),
    (stream(size_bytes=5), "traffic.parts.1: unknown key 'size_bytes'; the nearest known one is "),
    *(
        ({"traffic": traffic}, "traffic: streams alone are no episode, ... a mix")
        for part in stream()["traffic"]["parts"][1:]
        for traffic in (part, {"kind": "mix", "parts": [part, part]})
    ),
    # Windows of measurement.
    (
        "traffic: {kind: poisson, duration_ns: 5ms}\nmeasurement: {warm_up_ns: 5ms}",
        "... measurement.warm_up_ns: 5000000 leaves nothing before the end, 5000000",
    ),
    (
        "time_limit_ns: 1s\nmeasurement: {end_ns: 2s}",
        "... measurement.end_ns: 2000000000 is after time_limit_ns, 1000000000",
    ),
    ("measurement: {}", "... measurement.end_ns: none of this traffic arrives at random"),
    ("measurement: {end: 5}", "... unknown key 'end'; the nearest known one is 'end_ns'"),
    # A transport's own keys under the other one.
    (tcp("") + "\nswitch: {pfc: false}", "switch: is RDMA's ... write tcp.queue"),
    (tcp("") + "\ntiming: exact", "timing: is RDMA's ... leave it out"),
    (tcp("") + "\nmin_rate_bps: 1Mbps", "min_rate_bps: is RDMA's ... leave it out"),
    (
        tcp("") + "\nretransmission_timeout_ns: 1ms",
        "retransmission_timeout_ns: is RDMA's ... write tcp.min_rto_ns",
    ),
    (tcp("") + "\npayload_bytes: 1460", "payload_bytes: is RDMA's ... write tcp.mtu_bytes"),
    (tcp("") + "\npreset: published", "preset: is RDMA's ... leave it out"),
    (tcp("") + "\nclock: {name: per_notification}", "clock.name: 'per_notification' ... 'per_flow_rtt'"),
    ("transport: tcp\ncontrollers: [hpcc]", "controllers.0: 'hpcc' is RDMA's ... cubic"),
    ("controllers: [cubic]", "controllers.0: 'cubic' is TCP's; RDMA's are agent, ... hpcc"),
    ("tcp: {mtu_bytes: 9000}", "tcp: is TCP's, ... write transport: tcp"),
    # TCP's section.
    (
        tcp("packets_per_ack: 2, delayed_ack_timeout_ns: 1s"),
        "... tcp: delayed_ack_timeout_ns: 1000000000 is not below min_rto_ns",
    ),
    (tcp("socket_buffer_bytes: 1kB"), "... tcp: socket_buffer_bytes: 1000 holds less than 64 full segments"),
    (tcp("ack_noise: {most_rtts: 0.005}"), "... tcp.ack_noise: most_rtts (0.005) is below mean_rtts (0.01)"),
    (tcp("ack_noise: {mean_rtts: 0}"), "... tcp.ack_noise.mean_rtts: "),
    (tcp("mtu_bytes: 40"), "... tcp.mtu_bytes: "),
    (tcp("mss_bytes: 1448"), "... tcp: unknown key 'mss_bytes'; the nearest known one is 'mtu_bytes'"),
    (
        tcp("queue: {limit: 100}"),
        "... tcp.queue.limit: 100 is no length of a queue: write packets ('100 pack",
    ),
    (tcp("queue: {limit: 10 Gbps}"), "... tcp.queue.limit: '10 Gbps' is no length of a queue"),
    (tcp("queue: {limit: 0 packets}"), "... tcp.queue: limit: 0 packets: a queue holds at least a packet"),
    (tcp("queue: {limit: 1e9 packets}"), "... tcp.queue.limit: must be at most 1000000"),
    (
        tcp("queue: {marking: red}"),
        "... tcp.queue.marking: 'red' is no marking: write auto, none, {thresho",
    ),
    (tcp("queue: {marking: {red: {least: 9 packets, most: 5 packets}}}"), "... most (5 packets) is"),
    (tcp("queue: {marking: {threshold: 9 bdp, at_rate_bps: 1e9}}"), "... is given in packets"),
    (tcp("queue: {marking: {threshold: 9 packets, least_packets: 2}}"), "... give at_rate_bps"),
]


@pytest.mark.parametrize(("content", "expected"), FAULTS)
def test_a_fault_is_a_line_with_file_key_and_what_would_be_right(
    content: str | dict[str, Any], expected: str
) -> None:
    message = refusal(parse(content) if isinstance(content, str) else content)
    parts = f" {expected}".split(" ... ")
    assert re.match("s.yaml: " + ".*".join(re.escape(part.strip()) for part in parts), message)
    assert "\n" not in message


def test_explicit_feedback_serves_laws_that_need_different_ones() -> None:
    content = parse(MIXED.replace("dcqcn", "smcc").replace("dctcp", "qcn"))
    Scenario.from_mapping({**content, "switch": {"congestion_points": {"feedback": "both"}}}, "s.yaml")
