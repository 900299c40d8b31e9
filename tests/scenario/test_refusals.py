# SPDX-License-Identifier: GPL-2.0-or-later
"""Refusals of scenarios: each fault in one line with the file, the key and what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from ns3_env.config import bounds
from ns3_env.scenario import Scenario
from tests.samples.scenarios import INCAST, refusal
from tests.samples.tables import changed, fits, pairs

LISTED = {"traffic": {"kind": "list", "flows": [{"src": 0, "dst": 4, "size_bytes": 1000}]}}
STREAM = {
    "topology": {"kind": "dumbbell", "rate_bps": "1Gbps"},
    "traffic": {
        "kind": "mix",
        "parts": [INCAST, {"kind": "constant_rate", "src": 0, "dst": 4, "rate_bps": "100Mbps"}],
    },
}
STAR = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8}
WAITS = {"topology": STAR, "traffic": {"kind": "list", "flows": [{"src": 0, "dst": 1, "size_bytes": 1}]}}
RING = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 8000}
TRAINING = {
    "topology": {"kind": "cluster", "nodes": 2, "gpus_per_node": 8},
    "traffic": {
        "kind": "training",
        "parallel": {"dp": 2},
        "model": {"parameters": 8e9, "layers": 8, "hidden": 1000, "sequence": 1000},
    },
    "switch": {"buffer_bytes": "160MB"},
}
MIXED = {
    "traffic": {"kind": "mix", "parts": [{"kind": "incast"}, {"kind": "incast", "controller": "dcqcn"}]},
    "controllers": ["dctcp", "dcqcn"],
}
LOSSES = {
    "topology": {"kind": "dumbbell", "senders": 2},
    "traffic": {"kind": "incast", "size_bytes": 20_000},
    "controllers": ["dcqcn"],
}
CLASSES = [{"name": "urgent"}, {"name": "bulk", "weight": 3}, {"name": "rest", "weight": 1}]
GROUPS = {
    "topology": {"kind": "dumbbell", "senders": 4},
    "traffic": {"kind": "mix", "parts": [{**INCAST, "group": name} for name in ("storage", "rpc", "mine")]},
    "groups": {
        "storage": {"controller": "dcqcn", "traffic_class": "bulk"},
        "rpc": {"controller": "hpcc", "attributes": {"Eta": 0.9}, "traffic_class": "urgent"},
        "mine": {},
    },
    "classes": CLASSES,
}
FAT_TREE = {"topology": {"kind": "fat_tree_3"}, "time_limit_ns": 100_000}
PRESET = {"topology": {"kind": "dumbbell", "senders": 2}, "traffic": {"kind": "incast"}}

#: What a scenario has before, and inputs with the sentences on them; " ... " is left out.
FAULTS: list[tuple[dict[str, Any], str]] = [
    (
        {},
        """
topolgy: {} -> unknown key 'topolgy'; the nearest known one is 'topology'
topology: {kind: dumbbell, sendrs: 3} -> topology ... the nearest known one is 'senders'
topology: {kind: dumbbell, rate_bps: 0} -> topology.rate_bps ... greater than or equal to 10000
topology: {kind: dumbbell, rate_bps: .inf} -> topology.rate_bps ... finite
topology: {kind: dumbbell, delay_ns: 0} -> topology.delay_ns ... greater than 0
traffic: {kind: mix, parts: [{kind: incast, flos: 1}]} -> traffic.parts.0 ... 'flows'
switch: {buffer_bytes: 200000} -> switch.buffer_bytes ... reserves and headrooms of switch 5, 218880 B
topology: {kind: dumbbell, senders: 5}
switch: {pfc: false, buffer_bytes: 25000}
    -> switch.buffer_bytes: 25000 B hold no packet of 1090 B beside the reserves of switch 6, 24576 B
preset: published
switch: {pfc: false, buffer_bytes: 200000}
    -> ... timing 'published' keeps headroom without PFC, 'exact' does not
switch: {ecn: {kmin_bytes: 900000}} -> switch.ecn ... kmax_bytes
switch: {ecn: {kmin_byte: 900000}} -> switch.ecn ... the nearest known one is 'kmin_bytes'
switch: {ecn: automatic} -> switch.ecn ... 'auto'
clock: {name: synchron} -> clock ... 'synchronous'
controllers: [] -> controllers ... at least 1
controllers: [hpcc, dcqcn]
controlled_flows: [0] -> controlled_flows ... 'agent'
controllers: [agent, hpcc]
controlled_flows: [8] -> controlled_flows ... there is no flow 8
topology: {kind: parking_lot, switches: 33} -> topology.links ... has 33 switches; there may be 32
traffic: {kind: csv, file: none.csv} -> traffic.file ... none.csv: No such file
traffic: {kind: csv} -> traffic.file ... required

# What is chosen by name.
topology: dumbbell -> topology: is 'dumbbell': write {kind: dumbbell, ...}
topology: dumbel -> topology: is 'dumbel': write {kind: dumbbell, ...}
topology: 5 -> topology: is 5: write {kind: dumbbell, ...}
topology: {senders: 3} -> topology: has no 'kind': one of 'dumbbell', 'parking_lot',
topology: {kind: dumbbel}
    -> topology: there is no kind 'dumbbel'; the nearest known one is 'dumbbell' of 'dumbbell',
traffic: {kind: mix, parts: [incast]} -> traffic.parts.0: is 'incast': write {kind: inca
clock: synchronous -> clock: is 'synchronous': write {name: synchronous, ...}
clock: {interval_ns: 5} -> clock: has no 'name': one of 'per_flow_rtt',
load_balancing: sprays -> load_balancing: is 'sprays': write {kind: spray, ...}
recovery: selective -> recovery: is 'selective': write {kind: selective_repeat, ...}
recovery: {rto_low_ns: 1us} -> recovery: has no 'kind': one of 'go_back_n', 'selective_repeat'

# Units.
topology: {kind: dumbbell, rate_bps: 1us} -> topology.rate_bps: '1us' is a time; a rate takes bps, kbps, Mbps
topology: {kind: dumbbell, rate_bps: 25GBps}
    -> topology.rate_bps: '25GBps' has the unknown unit 'GBps'; a rate takes
topology: {kind: dumbbell, rate_bps: fast}
    -> topology.rate_bps: 'fast' is no number with a unit: a rate takes
topology: {kind: dumbbell, rate_bps: 9Tbps} -> topology.rate_bps: must be at most 8e+12
topology: {kind: dumbbell, rate_bps: 1e99999999999}
    -> topology.rate_bps: ... has the unknown unit 'e99999999999'
topology: {kind: dumbbell, rate_bps: .nan} -> topology.rate_bps: ... should be a finite number
topology: {kind: dumbbell, delay_ns: 25Gbps}
    -> topology.delay_ns: '25Gbps' is a rate; a time takes ps, ns, us, ms
topology: {kind: dumbbell, delay_ns: 1.5ns} -> topology.delay_ns: '1.5ns' is no whole number of ns
topology: {kind: dumbbell, delay_ns: -1us} -> topology.delay_ns: Input should be greater than 0

# Sizes, and what is written instead of one.
traffic: {kind: incast, size_bytes: 1ms} -> traffic.size_bytes: '1ms' is a time; a size takes B, kB, MB
traffic: {kind: incast, size_bytes: endles}
    -> traffic.size_bytes: 'endles' is no number with a unit: ... a flow that never ends is 'endless'
traffic: {kind: incast, size_bytes: 0}
    -> traffic.size_bytes: Input should be greater than or equal to 1
traffic: {kind: incast, size_bytes: null} -> traffic.size_bytes: Input should be a valid integer
traffic: {kind: incast, receiver: 77} -> traffic.receiver ... there is no host 77
traffic: {kind: incast, senders: [4]} -> traffic.senders.0 ... to itself
traffic: {kind: joining, sizes_bytes: [5, -1]} -> traffic.sizes_bytes.1: Input should be greater than
traffic: {kind: long_short, short_bytes: endless} -> traffic.short_bytes: 'endless' is no number
traffic: {kind: poisson, sizes: webserch} -> traffic.sizes ... websearch
traffic: {kind: poisson, load: 0} -> traffic.load ... greater than 0
traffic: {kind: poisson_incast, load: 0.1, fan_in: 1, size_bytes: endless}
    -> traffic.size_bytes: 'endless' is no number with a unit
traffic: {kind: poisson_incast}
    -> ... give one of load and events_per_s; there is neither (HPCC's evaluation: load: 0.02)
traffic: {kind: poisson_incast, load: 0.1, events_per_s: 5}
    -> ... give one of load and events_per_s; there is both
topology: {kind: fat_tree_3}
traffic: {kind: poisson_incast, load: 0.02}
    -> ... traffic.fan_in: 60 senders, but there are only 15 hosts beside the receiver
traffic: {kind: poisson_incast, load: 1, fan_in: 1, size_bytes: 1, duration_ns: 1s}
    -> ... there may be at most 1000000

# Windows of measurement.
traffic: {kind: poisson, duration_ns: 5ms}
measurement: {warm_up_ns: 5ms}
    -> ... measurement.warm_up_ns: 5000000 leaves nothing before the end, 5000000
time_limit_ns: 1s
measurement: {end_ns: 2s} -> ... measurement.end_ns: 2000000000 is after time_limit_ns, 1000000000
measurement: {} -> ... measurement.end_ns: none of this traffic arrives at random
measurement: {end: 5} -> ... unknown key 'end'; the nearest known one is 'end_ns'

# The other transport's controllers and keys.
transport: tcp
controllers: [hpcc] -> controllers.0: 'hpcc' is RDMA's ... cubic
controllers: [cubic] -> controllers.0: 'cubic' is TCP's; RDMA's are agent, ... hpcc
tcp: {mtu_bytes: 9000} -> tcp: is TCP's, ... write transport: tcp
""",
    ),
    (
        LISTED,
        """
traffic.flows.0.size_byte: 3 -> traffic.flows.0 ... 'size_bytes'
traffic.flows.0.size_bytes: 0 -> traffic.flows.0.size_bytes ... greater than or equal to 1
traffic.flows.0.dst: 0 -> traffic.flows.0.dst ... a flow from host 0 to itself
traffic.flows.0.dst: 9 -> traffic.flows.0.dst ... there is no host 9
traffic.flows.0.dst: 5 -> traffic.flows.0.dst ... there is no host 5
traffic.flows.0.controller: cubic -> traffic.controller ... 'cubic' is not among the controllers
""",
    ),
    (
        MIXED,
        """
seed: 2 -> switch.ecn ... flows under dcqcn and dctcp need different marking
controllers: [qcn, smcc]
traffic.parts.1.controller: smcc -> switch.congestion_points: flows under qcn and smcc need
""",
    ),
    (
        STREAM,
        """
traffic.parts.1.rate_bps: 2Gbps
    -> traffic.parts.1.rate_bps: 2e+09 bit/s exceed the link of host 0, 1e+09 bit/s
traffic.parts.1.rate_bps: 0 -> traffic.parts.1.rate_bps:
traffic.parts.1.rate_bps: .nan -> traffic.parts.1.rate_bps:
traffic.parts.1.rate_bps: nan
    -> traffic.parts.1.rate_bps: 'nan' is no number with a unit: a rate takes bps
traffic.parts.1.rate_bps: 1ms -> traffic.parts.1.rate_bps: '1ms' is a time; a rate takes bps
traffic.parts.1.start_ns: 1us
traffic.parts.1.stop_ns: 1us -> traffic.parts.1.stop_ns: 1000 is not after start_ns, 1000
traffic.parts.1.stop_ns: 0 -> traffic.parts.1.stop_ns:
traffic.parts.1.dst: 9 -> traffic.parts.1.dst: there is no host 9; hosts are 0 to 4
traffic.parts.1.dst: 0 -> traffic.parts.1.dst: a stream from host 0 to itself
traffic.parts.1.controller: hpcc
    -> traffic.parts.1.controller: nothing steers a stream, 'hpcc' neither; leave it out
traffic.parts.1.size_bytes: 5 -> traffic.parts.1: unknown key 'size_bytes'; the nearest known one is
traffic: {kind: constant_rate, src: 0, dst: 4, rate_bps: 1e8}
    -> traffic: streams alone are no episode, ... a mix
traffic.parts.0: {kind: constant_rate, src: 1, dst: 4, rate_bps: 1e8}
    -> traffic: streams alone are no episode, ... a mix
""",
    ),
    (
        {"transport": "tcp", "controllers": ["cubic"]},
        """
switch: {pfc: false} -> switch: is RDMA's ... write tcp.queue
timing: exact -> timing: is RDMA's ... leave it out
min_rate_bps: 1Mbps -> min_rate_bps: is RDMA's ... leave it out
retransmission_timeout_ns: 1ms -> retransmission_timeout_ns: is RDMA's ... write tcp.min_rto_ns
payload_bytes: 1460 -> payload_bytes: is RDMA's ... write tcp.mtu_bytes
preset: published -> preset: is RDMA's ... leave it out
recovery: selective_repeat -> recovery: is RDMA's, and the transport is tcp
nic: {ack_every: 2} -> nic: is RDMA's, and the transport is tcp
corruption: [{link: all, packet_rate: 0.1}] -> corruption: is RDMA's
classes: [{name: urgent}] -> classes: is RDMA's
record: {reordering: true} -> record.reordering: is counted of RDMA's flows alone
clock: {name: per_notification} -> clock.name: 'per_notification' ... 'per_flow_rtt'
tcp: {packets_per_ack: 2, delayed_ack_timeout_ns: 1s}
    -> ... tcp: delayed_ack_timeout_ns: 1000000000 is not below min_rto_ns
tcp: {socket_buffer_bytes: 1kB} -> ... tcp: socket_buffer_bytes: 1000 holds less than 64 full segments
tcp: {ack_noise: {most_rtts: 0.005}} -> ... tcp.ack_noise: most_rtts (0.005) is below mean_rtts (0.01)
tcp: {ack_noise: {mean_rtts: 0}} -> ... tcp.ack_noise.mean_rtts:
tcp: {mtu_bytes: 40} -> ... tcp.mtu_bytes:
tcp: {mss_bytes: 1448} -> ... tcp: unknown key 'mss_bytes'; the nearest known one is 'mtu_bytes'
tcp: {queue: {limit: 100}}
    -> ... tcp.queue.limit: 100 is no length of a queue: write packets ('100 pack
tcp: {queue: {limit: 10 Gbps}} -> ... tcp.queue.limit: '10 Gbps' is no length of a queue
tcp: {queue: {limit: 0 packets}} -> ... tcp.queue: limit: 0 packets: a queue holds at least a packet
tcp: {queue: {limit: 1e9 packets}} -> ... tcp.queue.limit: must be at most 1000000
tcp: {queue: {marking: red}}
    -> ... tcp.queue.marking: 'red' is no marking: write auto, none, {thresho
tcp: {queue: {marking: {red: {least: 9 packets, most: 5 packets}}}} -> ... most (5 packets) is
tcp: {queue: {marking: {threshold: 9 bdp, at_rate_bps: 1e9}}} -> ... is given in packets
tcp: {queue: {marking: {threshold: 9 packets, least_packets: 2}}} -> ... give at_rate_bps
""",
    ),
    (
        WAITS,
        """
traffic.flows.0.after: [b] -> traffic.flows.0.after: there is no flow named 'b'
traffic.flows: [{src: 0, dst: 1, size_bytes: 1, name: a}, {src: 0, dst: 1, size_bytes: 1, name: a}]
    -> traffic.flows.1.name: 'a' is another flow's as well
traffic.flows: [{src: 0, dst: 1, size_bytes: 1, name: a, after: [a]}]
    -> traffic.flows.0.after: these wait for each other, so that none ever
traffic.flows: [{src: 0, dst: 1, size_bytes: 1, name: a, after: [b]},
  {src: 0, dst: 1, size_bytes: 1, name: b, after: [c]}, {src: 0, dst: 1, size_bytes: 1, name: c, after: [a]}]
    -> ... a after b after c after a
traffic.flows: [{src: 0, dst: 1, size_bytes: endless, name: a}, {src: 0, dst: 1, size_bytes: 1, after: [a]}]
    -> traffic.flows.0.size_bytes: others wait for its end, and it has none
""",
    ),
    (
        {"topology": STAR, "traffic": RING},
        """
traffic.algorithm: hierarchical_all_reduce
traffic.node_ranks: 3 -> traffic.node_ranks: 3 ranks of a node do not divide 8 ranks
traffic.ranks: [0, 1, 1] -> traffic.ranks: host 1 has several
traffic.ranks: [0, 9] -> traffic.ranks.1: there is no host 9; hosts are 0 to 7
traffic.algorithm: halving_doubling_all_reduce
traffic.ranks: [0, 1, 2] -> ... needs a power of two of ranks, and there are 3
traffic.size_bytes: 7 -> traffic.size_bytes: 7 B are less than a byte for each of 8 ranks
traffic.size_bytes: 1000000000000
traffic.chunk_bytes: 1000 -> ... there may be at most 1000000
traffic: {kind: jobs, jobs: 9, ranks_each: 4, algorithm: all_gather, size_bytes: 8000} -> ... 9 jobs
""",
    ),
    (
        TRAINING,
        """
traffic.parallel: {tp: 8, dp: 4} -> traffic.parallel: tp · pp · dp are 32 ranks; there are 16 hosts
traffic.parallel: {pp: 3}
    -> traffic.model.layers: 8 layers are no multiple of pp · layers_together, 3 · 1
traffic.parallel: {dp: 4, ep: 3} -> traffic.parallel.ep: 3 does not divide dp, 4
traffic.parallel: {dp: 3}
traffic.all_reduce: halving_doubling_all_reduce
    -> traffic.parallel.dp: halving and doubling needs a power of two, not 3
traffic.ranks: [3] -> traffic.ranks: 1 hosts for 2 ranks
traffic.parallel: {dp: 16}
traffic.chunk_bytes: 1000 -> traffic.layers_together: about 4.8e+08 flows
""",
    ),
    (
        LOSSES,
        """
recovery: {kind: go_back_n, bdp_cap: 1} -> recovery: unknown key 'bdp_cap'
recovery: {kind: selective_repeat, rto_low_ns: 0} -> recovery.rto_low_ns:
recovery: {kind: selective_repeat, bdp_cap: 0} -> recovery.bdp_cap:
nic: {ack_every: 0} -> nic.ack_every:
corruption: [{link: [0, 3]}] -> ... write packet_rate or bit_error_rate, one of them
corruption: [{link: [0, 1], packet_rate: 0.1}]
    -> corruption.0.link: no link joins nodes 0 and 1; beside node 0 are 3
corruption: [{link: [0, 3], towards: 4, packet_rate: 0.1}]
    -> corruption.0.towards: 4 is no end of the link; write 0 or 3
corruption: [{link: all, towards: 4, packet_rate: 0.1}] -> ... towards: names an end of one link
""",
    ),
    (
        GROUPS,
        """
groups: {}
classes: [] -> traffic.group: 'mine' is none of the groups (there are none)
classes: [] -> groups.storage.traffic_class: 'bulk' is no class (there are none)
classes: [{name: bulk}, {name: urgent}, {name: bulk}] -> classes: 'bulk' is there twice
classes: [{name: rest, weight: 1}, {name: bulk, weight: 3}, {name: urgent}]
    -> classes.0: has a weight, and a later one has none
classes: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, {name: f}, {name: g}, {name: h}, {name: i}]
    -> classes: ... at most 8
preset: published -> classes: the published simulator has one data class
switch: {scheduling: least_remaining} -> classes: there are none at ports that send
switch: {buffer_bytes: 300000} -> switch.buffer_bytes ... headrooms of switch 5
groups.rpc: {controller: cubic}
    -> groups.rpc.controller: 'cubic' is TCP's; RDMA's are ... RDMA and TCP are not mixed in one network
groups.rpc: {controller: agent}
controllers: [hpcc] -> groups.rpc.controller: 'ag
groups.rpc: {controller: oracle} -> groups.rpc.controller: 'oracle' is a bound
groups.mine: {controller: dctcp, traffic_class: bulk}
    -> classes.1.ecn: flows under dcqcn and dctcp need different marking
""",
    ),
    (
        FAT_TREE,
        """
failures: {outages: [{link: [0, 1], at_ns: 1}]}
    -> failures.outages.0: link: no link joins 0 and 1; node 0 is joined to 16
failures: {outages: [{link: [99, 1], at_ns: 1}]}
    -> failures.outages.0: link: no link joins 99 and 1; node 99 is joined to no
failures: {outages: [{switch: 3, at_ns: 1}]}
    -> failures.outages.0: switch: node 3 is none; switches are 16, 17
failures: {outages: [{at_ns: 1}]} -> failures.outages.0: ... link: [NODE, NODE] or switch: NODE
failures: {outages: [{switch: 16, at_ns: 5, until_ns: 5}]}
    -> failures.outages.0: until_ns: 5 is not after at_ns, 5
failures: {drawn: {mean_up_ns: 1, mean_down_ns: 1}}
    -> failures.drawn: about 8e+05 outages until time_limit_ns; there
""",
    ),
    (
        {"topology": {"kind": "cluster"}},
        """
topology.rails: 3 -> topology: rails: 3 does not divide 8 GPUs
topology.scale_out: {nodes_per_group: 3} -> ... nodes_per_group: 3 does not divide 4 nodes
topology.scale_up: null
topology.rails: 4 -> ... rails: GPUs without scale_up need a network card each
topology.scale_out: {rail_optimised: false} -> ... 8 leaves cannot have equally many of 4 nodes
topology.nodes: 128
topology.scale_out: {spines: 2}
    -> ... scale_out.spines: a leaf's link to one of 2 has 2.56e+13 bit/s ... 7 spines would do
topology.nodes: 128
topology.scale_out: {oversubscription: 1.0e+300} -> ... scale_out.spines: a leaf's link to one of 4 has
topology.nodes: 2
topology.scale_out: {oversubscription: 1.0e-300} -> ... switches; there may be at most
""",
    ),
    (
        PRESET,
        """
controllers: [{name: mpcc, parameters: paper}] -> ... 'mpcc' has no 'paper'; those that have: dcqcn
controllers: [{name: hpcc, parameters: thesis}] -> ... must be published or paper
controllers: [{name: dcqcn, parameters: paper}]
groups: {old: {attributes: {Kmin: 1000}}}
traffic: {kind: mix, parts: [{kind: incast}, {kind: incast, group: old}]}
    -> ... dcqcn and dcqcn need different marking
""",
    ),
]


def graph(nodes: str, *links: tuple[int, int]) -> dict[str, Any]:
    """A graph of hosts ("h") and switches ("s")."""
    kinds = ["host" if node == "h" else "switch" for node in nodes]
    lines = [{"a": a, "b": b, "rate_bps": 1e9, "delay_ns": 1} for a, b in links]
    return {"topology": {"kind": "graph", "nodes": kinds, "links": lines}, "traffic": INCAST}


CHAIN = graph("hh" + "s" * 33, (0, 2), *((i, i + 1) for i in range(2, 34)), (34, 1))
GRAPHS = [
    (graph("hhs", (0, 2)), "topology.links ... host 1 has no link"),
    (graph("hhs", (0, 2), (1, 2), (2, 2)), "topology.links.2 ... a link from node 2 to itself"),
    (graph("hhss", (0, 2), (2, 3), (1, 3), (3, 2)), "topology.links.3 ... joined already, by links.1"),
    (graph("hhs", (0, 2), (1, 7)), "topology.links.1 ... there is no node 7; nodes are 0 to 2"),
    (graph("hhss", (0, 2), (1, 3)), "topology.links ... there is no path from host 0 to host 1"),
    (CHAIN, "topology.links ... the path from host 0 to host 1 has 33 switches; there may be 32"),
]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [*((changed(base, text), line) for base, rows in FAULTS for text, line in pairs(rows)), *GRAPHS],
)
def test_a_fault_is_a_line_with_file_key_and_what_would_be_right(
    content: dict[str, Any], sentence: str
) -> None:
    lines = refusal(content).split("\n")
    assert any(fits(sentence, line) for line in lines), lines
    assert all(line.startswith("s.yaml: ") for line in lines)


#: Numbers that are too large together, or where a list or a union has them: of each other test_bounds tells.
TOO_LARGE = """
topology: {kind: parking_lot, switches: 10000, hosts_per_switch: 1000} -> topology: 10000001 hosts
topology: {kind: fat_tree_2, access: 10000, hosts_per_access: 10000} -> topology: 100000000 hosts
topology: {kind: fat_tree_2, access: 5000, aggregation: 5000, hosts_per_access: 1} -> topology: 25005000 links
topology: {kind: fat_tree_3, pods: 10000, tors_per_pod: 10000} -> topology: 400000000 hosts
traffic: {kind: incast, spread_ns: 3000s, start_ns: 3000s} -> traffic.spread_ns: start_ns + spread_ns
traffic: {kind: joining, interval_ns: 3000s} -> traffic.interval_ns: the last flow's start
traffic: {kind: poisson, duration_ns: 3600s} -> traffic: about
traffic: {kind: poisson, sizes: [[0, 0], [1.0e-300, 100]]} -> traffic: about
traffic: {kind: poisson, sizes: [[0, 0], [1.0e+300, 100]]} -> traffic.sizes
traffic: {kind: mix, parts: [{kind: incast, flows: 1000000}, {kind: incast, flows: 1000000}]}
    -> traffic: about
"""
REASONS = [getattr(bounds, name) for name in dir(bounds) if name.startswith("WHY_")]


@pytest.mark.parametrize(("text", "sentence"), pairs(TOO_LARGE))
def test_numbers_that_are_too_large_together_are_refused_with_the_reason(text: str, sentence: str) -> None:
    message = refusal(changed({}, text))
    assert fits(f"{sentence} ... at most", message), message
    assert any(reason in message for reason in REASONS)


def test_explicit_feedback_serves_laws_that_need_different_ones() -> None:
    laws = changed(MIXED, "{controllers: [qcn, smcc], traffic.parts.1.controller: smcc}")
    Scenario.from_mapping({**laws, "switch": {"congestion_points": {"feedback": "both"}}}, "s.yaml")
