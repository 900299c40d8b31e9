# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks and traffic of the tasks, a declaration each."""

from __future__ import annotations

import numpy as np

from ns3_env.decision.actions import (
    EcnThresholds,
    ExponentialWindow,
    LogarithmicWindow,
    MultiplicativeRate,
)
from ns3_env.envs.bottleneck_envs import TCP_FIELDS
from ns3_env.envs.port_env import ACC_FIELDS
from ns3_env.scenario import PerFlowRtt, PerNotification
from ns3_env.tasks import clusters, thresholds
from ns3_env.tasks.draws import Keys, Random, log_uniform
from ns3_env.tasks.registry import TASKS, declare, task

__all__ = ["TASKS", "task"]


def _bytes(random: Random, least: float, most: float) -> int:
    return round(log_uniform(random, least, most))


def _to_one_host(random: Random, flows: int, last_ns: float, least: float, most: float) -> list[Keys]:
    """A flow of each of the first hosts to the next one, started up to ``last_ns``, of bytes in the range."""
    return [
        {
            "src": sender,
            "dst": flows,
            "start_ns": round(random.uniform(0, last_ns)),
            "size_bytes": _bytes(random, least, most),
        }
        for sender in range(flows)
    ]


def _mix(*parts: Keys) -> Keys:
    return {"kind": "mix", "parts": list(parts)}


def _poisson(sizes: str, load: float, duration_ns: int) -> Keys:
    return {"kind": "poisson", "sizes": sizes, "load": load, "duration_ns": duration_ns}


@declare("Incast")
def incast(random: Random) -> Keys:
    """2 to 64 flows of 100 kB to 2 MB to one host within 100 µs, 100 Gb/s."""
    flows = round(log_uniform(random, 2, 64))
    size = _bytes(random, 1e5, 2e6)
    return {
        "time_limit_ns": "20ms",
        "topology": {"kind": "dumbbell", "senders": flows},
        "traffic": {"kind": "incast", "size_bytes": size, "spread_ns": round(random.uniform(0, 1e5))},
    }


#: Scored by fairness, which policies are told to seek.
_OF_SHARES: Keys = {"measure": "max_min", "attributes": {"FairnessWeight": 1.0}}


@declare("Joining", **_OF_SHARES, slots=8)
def joining(random: Random) -> Keys:
    """4 to 8 flows join a link of 100 Gb/s one after the other, and leave; scored by max-min fairness."""
    flows = int(random.integers(4, 9))
    starts = np.sort(random.uniform(0, 1.5e6, flows)).round()
    listed = [
        {"src": i, "dst": flows, "start_ns": int(start), "size_bytes": _bytes(random, 1.5e6, 8e6)}
        for i, start in enumerate(starts)
    ]
    return {
        "time_limit_ns": "20ms",
        "topology": {"kind": "dumbbell", "senders": flows},
        "traffic": {"kind": "list", "flows": listed},
    }


@declare("LongShort")
def long_short(random: Random) -> Keys:
    """2 flows of 10 to 20 MB, and 30 short ones of 10 to 300 kB that pass them, 100 Gb/s."""
    long = [
        {"src": i, "dst": 8, "start_ns": 20_000 * i, "size_bytes": _bytes(random, 1e7, 2e7)} for i in range(2)
    ]
    short = [
        {
            "src": int(random.integers(2, 8)),
            "dst": 8,
            "start_ns": round(random.uniform(2e5, 2e6)),
            "size_bytes": _bytes(random, 1e4, 3e5),
        }
        for _ in range(30)
    ]
    return {
        "time_limit_ns": "20ms",
        "topology": {"kind": "dumbbell", "senders": 8},
        "traffic": {"kind": "list", "flows": [*long, *short]},
    }


@declare("WebSearch", slots=128)
def websearch(random: Random) -> Keys:
    """WebSearch at 20 to 80 % for 1 ms, 16 hosts in a three-level fat-tree, 100 and 400 Gb/s."""
    return {
        "time_limit_ns": "20ms",
        "topology": {"kind": "fat_tree_3"},
        "traffic": _poisson("websearch", random.uniform(0.2, 0.8), 1_000_000),
    }


@declare("Hadoop", slots=384)
def hadoop(random: Random) -> Keys:
    """Facebook's Hadoop at 20 to 80 % for 200 µs, 16 hosts in a three-level fat-tree, 100 and 400 Gb/s."""
    return {
        "time_limit_ns": "20ms",
        "topology": {"kind": "fat_tree_3"},
        "traffic": _poisson("fb_hadoop", random.uniform(0.2, 0.8), 200_000),
    }


@declare("Bursts", slots=128)
def bursts(random: Random) -> Keys:
    """8 to 15 hosts answer one with 30 kB to 2 MB every 500 µs, amid WebSearch at 20 %; 16 hosts."""
    answers = []
    for start in range(100_000, 1_600_000, 500_000):
        receiver, *senders = random.permutation(16)[: int(random.integers(9, 17))].tolist()
        answers += [
            {
                "src": sender,
                "dst": receiver,
                "start_ns": start + round(random.uniform(0, 5_000)),
                "size_bytes": _bytes(random, 3e4, 2e6),
            }
            for sender in senders
        ]
    return {
        "time_limit_ns": "20ms",
        "topology": {"kind": "fat_tree_3"},
        "traffic": _mix(_poisson("websearch", 0.2, 1_500_000), {"kind": "list", "flows": answers}),
    }


@declare("LeafSpine", slots=256)
def leaf_spine(random: Random) -> Keys:
    """WebSearch or Hadoop at 20 to 60 %, 32 hosts at 25 Gb/s below uplinks of 100 Gb/s, 2 to 1."""
    topology = {"kind": "leaf_spine", "leaves": 4, "spines": 1, "hosts_per_leaf": 8}
    sizes, duration = ("websearch", 2_000_000) if random.random() < 0.5 else ("fb_hadoop", 400_000)
    return {
        "time_limit_ns": "40ms",
        "topology": {**topology, "rate_bps": "25Gbps", "uplink_bps": "100Gbps"},
        # Load counts hosts' links; three quarters of the bytes cross uplinks with half of their rate.
        "traffic": _poisson(sizes, random.uniform(0.2, 0.6), duration),
    }


@declare("ParkingLot", **_OF_SHARES, slots=16)
def parking_lot(random: Random) -> Keys:
    """A flow over 2 to 4 links, and one over each of them, 100 Gb/s; scored by max-min fairness."""
    links = int(random.integers(2, 5))
    hosts = [1 + i for i in range(2 * (links + 1))]  # two at each switch, besides host 0 at the first one
    size = _bytes(random, 3e6, 8e6)
    across = {"src": 0, "dst": hosts[-1], "start_ns": 0, "size_bytes": size}
    single = [
        {
            "src": hosts[2 * i],
            "dst": hosts[2 * i + 3],
            "start_ns": round(random.uniform(0, 2e5)),
            "size_bytes": _bytes(random, 2e6, 8e6),
        }
        for i in range(links)
    ]
    return {
        "time_limit_ns": "20ms",
        "topology": {"kind": "parking_lot", "switches": links + 1, "hosts_per_switch": 2},
        "traffic": {"kind": "list", "flows": [across, *single]},
    }


@declare("Mixed", slots=64)
def mixed(random: Random) -> Keys:
    """Half of WebSearch's flows at 40 to 70 % are the agent's, the other half stay under DCQCN."""
    load = random.uniform(0.4, 0.7) / 2
    part = _poisson("websearch", load, 1_000_000)
    return {
        "time_limit_ns": "20ms",
        "topology": {"kind": "fat_tree_3"},
        "traffic": _mix(part, {**part, "controller": "dcqcn"}),
        "others": ["dcqcn"],
    }


@declare("Shallow", slots=64)
def shallow(random: Random) -> Keys:
    """Incasts of 8 to 32 flows, no PFC, 1 MB of buffer in a switch: what does not fit is lost."""
    flows = int(random.integers(8, 33))
    return {
        "time_limit_ns": "40ms",
        "topology": {"kind": "dumbbell", "senders": flows},
        "switch": {"pfc": False, "buffer_bytes": 1_000_000},
        "traffic": {
            "kind": "incast",
            "size_bytes": _bytes(random, 1e5, 1e6),
            "spread_ns": round(random.uniform(0, 1e5)),
        },
    }


@declare("Rates")
def rates(random: Random) -> Keys:
    """Incasts of 2 to 32 flows, links of 25 to 400 Gb/s, 0.5 to 10 µs long."""
    flows = round(log_uniform(random, 2, 32))
    rate = float(random.choice([25e9, 50e9, 100e9, 200e9, 400e9]))
    return {
        "time_limit_ns": "40ms",
        "topology": {
            "kind": "dumbbell",
            "senders": flows,
            "rate_bps": rate,
            "delay_ns": round(log_uniform(random, 500, 10_000)),
        },
        # Usual ones: many fast, long links leave nothing of them, and are drawn again.
        "switch": {"buffer_bytes": (32 if rate >= 100e9 else 16) << 20},
        "traffic": {
            "kind": "incast",
            "size_bytes": round(log_uniform(random, 1e5, 1e6) * rate / 100e9),
            "spread_ns": 50_000,
        },
    }


@declare("AllReduce", reward="job_progress", slots=256)
def all_reduce(random: Random) -> Keys:
    """Two jobs' ring all-reduces over 4 to 8 ranks each, 1 to 8 MB, which share two spines."""
    ranks = int(random.integers(4, 9))
    return {
        "time_limit_ns": "50ms",
        "topology": {
            "kind": "leaf_spine",
            "leaves": 2,
            "spines": 2,
            "hosts_per_leaf": ranks,
            "uplink_bps": float(random.choice([100e9, 200e9])),
        },
        "traffic": {
            "kind": "jobs",
            "algorithm": "ring_all_reduce",
            "jobs": 2,
            "ranks_each": ranks,
            "placement": "random",
            "size_bytes": _bytes(random, 1e6, 8e6),
            "compute_spread_ns": 20_000,
        },
    }


@declare(
    "Layer2",
    fields=("notified_offset", "notified_delta", "notified_feedback", "pacing_rate", "last_action"),
    action=MultiplicativeRate(alpha=0.5, least_packets=1.0, window="none"),
    reward="slowdown",
    clock=PerNotification(),
    attributes={"InitialWindow": False},
    spared={},
    slots=32,
)
def layer2(random: Random) -> Keys:
    """Incasts of 4 to 16 flows that get only feedback frames of switches, no telemetry, no window."""
    flows = int(random.integers(4, 17))
    return {
        "time_limit_ns": "20ms",
        "topology": {"kind": "dumbbell", "senders": flows},
        "switch": {
            "congestion_points": {"feedback": "both", "sample_bytes": 30_000, "adaptive_sampling": False}
        },
        "traffic": {
            "kind": "incast",
            "size_bytes": _bytes(random, 1e6, 4e6),
            "spread_ns": round(random.uniform(2e4, 1e5)),
        },
    }


@declare(
    "Tcp",
    fields=(*TCP_FIELDS, "remaining", "attained"),
    action=LogarithmicWindow(),
    reward="slowdown",
    clock=PerFlowRtt(),
    spared={},
    slots=32,
)
def tcp(random: Random) -> Keys:
    """TCP: 4 to 24 flows of 50 kB to 2 MB through one link of 10 Gb/s."""
    flows = int(random.integers(4, 25))
    listed = _to_one_host(random, flows, 2e6, 5e4, 2e6)
    return {
        "transport": "tcp",
        "time_limit_ns": "200ms",
        "topology": {"kind": "dumbbell", "senders": flows, "rate_bps": "10Gbps", "delay_ns": "5us"},
        "traffic": {"kind": "list", "flows": listed},
    }


@declare(
    "Variable",
    fields=(*TCP_FIELDS, "repeated_fraction", "remaining", "attained"),
    action=ExponentialWindow(alpha=0.5, least_packets=1),
    reward="slowdown",
    clock=PerFlowRtt(rtt_fraction=1.0),
    spared={},
    slots=8,
)
def variable(random: Random) -> Keys:
    """TCP: 1 to 6 flows of 100 kB to 5 MB over a link of 10 to 100 Mb/s whose rate steps, walks or fades."""
    flows = int(random.integers(1, 7))
    most_bps = log_uniform(random, 10e6, 100e6)
    rtt_s = random.uniform(0.01, 0.05)
    kind = str(random.choice(["steps", "walk", "cellular"]))
    rates = {"least_bps": most_bps / 20, "most_bps": most_bps, "every_ns": _bytes(random, 1e8, 1e9)}
    queue_bytes = log_uniform(random, 0.5, 4) * most_bps * rtt_s / 8
    listed = _to_one_host(random, flows, 4e9, 1e5, 5e6)
    before, behind = flows + 1, flows + 2  # switches
    return {
        "transport": "tcp",
        "time_limit_ns": "60s",
        "topology": {
            "kind": "dumbbell",
            "senders": flows,
            "rate_bps": most_bps,
            "delay_ns": round(rtt_s * 1e9 / 6),
        },
        "link_rates": [{"link": [before, behind], "towards": behind, "drawn": {"kind": kind, **rates}}],
        "tcp": {"queue": {"limit": f"{max(round(queue_bytes / 1500), 10)} packets", "marking": "none"}},
        "traffic": {"kind": "list", "flows": listed},
    }


#: Scored by the time of jobs.
_OF_JOBS: Keys = {"measure": "job_time", "reward": "job_progress", "slots": 1024}
declare("Training", **_OF_JOBS)(clusters.training)
declare("SharedCluster", **_OF_JOBS)(clusters.shared_cluster)
declare(
    "Thresholds",
    action=EcnThresholds(),
    fields=ACC_FIELDS,
    reward="acc",
    clock=PerFlowRtt(rtt_fraction=1.0),
    spared={},
    slots=20,
    decisions=1_500_000,
    tests=40,
)(thresholds.thresholds)
