# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's config.yaml reproduces the same bytes, whichever keys its scenario has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from examples import chakra_traces
from ns3_env.config.yaml import parse
from ns3_env.eval.episodes.results import result_files
from ns3_env.scenario import Scenario
from ns3_env.scenario.fields import ScenarioFields, SimulatorOptions
from ns3_env.scenario.paths.failures import DrawnOutages, Failures, Outage
from ns3_env.scenario.record import Measurement, Record
from ns3_env.scenario.reliability import Corruption, Nic, SelectiveRepeat
from ns3_env.scenario.switch import CongestionPoints, Ecn, Switch, TrafficClass
from ns3_env.scenario.tcp_queue import AckNoise, Queue, Tcp
from ns3_env.scenario.traffic.kind import Group
from ns3_env.simulator import Simulator
from tests.samples.job_texts import PING_PONG
from tests.samples.published_texts import TWO_TIERS

GROUPED = {
    "groups": {"a": {"traffic_class": "high"}, "b": {"controller": "dctcp", "attributes": {"Gain": 0.5}}},
    "traffic": {
        "kind": "mix",
        "parts": [
            {"kind": "incast", "size_bytes": "400kB", "group": "a"},
            {"kind": "incast", "size_bytes": "400kB", "group": "b"},
        ],
    },
}
HIGH = {"name": "high", "ecn": None, "pfc": False, "congestion_points": None}
LOSSY = {"link": "all", "packet_rate": 0.01}
SPREAD = {"topology": {"kind": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2}}
TRAFFIC: list[dict[str, Any]] = [
    {"kind": "long_short", "long_bytes": "90kB", "short_bytes": "9kB", "short_start_ns": 500},
    {"kind": "joining", "sizes_bytes": ["90kB", "endless"], "interval_ns": 700},
    {"kind": "poisson", "sizes": [[0, 0], ["1kB", 0.5], ["9kB", 1]], "load": 0.4, "duration_ns": "10us"},
    {"kind": "poisson_incast", "fan_in": 2, "size_bytes": 5000, "load": 0.2, "duration_ns": "50us"},
    {"kind": "csv", "file": "flows.csv", "controller": "dctcp"},
    {"kind": "published", "file": "flow.txt"},
    {"kind": "chakra", "file": "step", "chunk_bytes": 3000},
    {
        "kind": "chakra",
        "file": "step",
        "groups": {"0": [0, 1]},
        "flops_per_s": 1e9,
        "memory_bytes_per_s": 1e9,
    },
    {"kind": "connections", "file": "matrix.cm"},
    {"kind": "goal", "file": "step.goal", "ranks": [1, 0]},
    {"kind": "workload", "file": "workload.txt", "npus": 2, "unit_ns": 20, "iterations": 2},
    {"kind": "collective", "algorithm": "all_gather", "size_bytes": 9000, "iterations": 2, "compute_ns": 70},
    {"kind": "training", "model": {"layers": 2, "parameters": 1e4, "hidden": 8}, "bucket_bytes": "10kB"}
    | {"iterations": 2, "all_reduce": "hierarchical_all_reduce", "node_ranks": 2},
    {"kind": "jobs", "algorithm": "broadcast", "size_bytes": 900, "ranks_each": 2, "placement": "random"},
    {
        "kind": "mix",
        "parts": [
            {"kind": "list", "flows": [{"src": 0, "dst": 1, "size_bytes": 50, "start_ns": 9, "name": "a"}]},
            {"kind": "constant_rate", "src": 2, "dst": 1, "rate_bps": "1Gbps", "stop_ns": 5000},
        ],
    },
]
VARIATIONS: list[dict[str, Any]] = [
    {"seed": 7, "payload_bytes": 500, "retransmission_timeout_ns": "100us", "loss_probability": 0.01},
    {"preset": "published", "timing": "exact"},
    {"preset": "published"},
    {"min_rate_bps": "1Mbps", "time_limit_ns": "30us"},
    {"topology": {"kind": "dumbbell", "senders": 2, "rate_bps": "10Gbps", "bottleneck_bps": "5Gbps"}},
    {"topology": {"kind": "parking_lot"}},
    {"topology": {"kind": "htsim", "file": "tree.topo"}},
    *({**SPREAD, "load_balancing": {"kind": kind}} for kind in ("flowlet", "spray")),
    {**SPREAD, "failures": {"outages": [{"link": [4, 6], "at_ns": "10us", "until_ns": "60us"}]}},
    {**SPREAD, "failures": {"convergence_ns": 9000, "outages": [{"switch": 6, "at_ns": "10us"}]}},
    {**SPREAD, "failures": {"drawn": {"of": "links", "mean_up_ns": "90us", "mean_down_ns": "9us"}}},
    *(
        {"switch": {key: value}}
        for key, value in {
            "buffer_bytes": "300kB",
            "pfc": False,
            "pfc_alpha_shift": 1,
            "reserve_bytes": 0,
            "resume_offset_bytes": 0,
            "headroom_frames": 9,
            "ecn": None,
            "congestion_points": None,
            "scheduling": "least_remaining",
            "flow_counter": "timeout",
            "flow_timeout_ns": 500,
        }.items()
    ),
    {"switch": {"ecn": {"kmin_bytes": 5000, "kmax_bytes": 9000, "pmax": 0.9, "at_rate_bps": 25e9}}},
    {
        "controllers": [{"name": "qcn"}],
        "switch": {
            "congestion_points": {
                "target_bytes": 20_000,
                "weight": 3,
                "sample_bytes": 30_000,
                "sample_jitter": 0.3,
                "adaptive_sampling": False,
                "sample_probability": 0.2,
                "feedback": "both",
            }
        },
    },
    {**GROUPED, "classes": [HIGH, {"name": "low", "weight": 2}, {"name": "lower", "weight": 1}]},
    {**GROUPED, "classes": [{"name": "high", "weight": 1}, {"name": "low", "weight": 2}]},
    {**GROUPED, "classes": [HIGH, {"name": "low"}], "switch": {"ecn": None, "congestion_points": None}},
    {**GROUPED, "classes": [{"name": "high"}, {"name": "low"}], "switch": {"buffer_bytes": "700kB"}},
    {**GROUPED, "classes": [{"name": "high"}, {"name": "low"}], "controllers": [{"name": "qcn"}]},
    {
        "corruption": [LOSSY],
        "recovery": {
            "kind": "selective_repeat",
            "rto_low_ns": "50us",
            "rto_low_packets": 2,
            "bdp_cap": 2,
            "reorder_packets": 4,
        },
    },
    {"corruption": [{"link": [0, 5], "towards": 5, "bit_error_rate": 1e-6}]},
    {"nic": {"cnp_delay_ns": 500, "ack_delay_ns": 700, "ack_every": 3}},
    {**SPREAD, "simulator": {"threads": 2}},
    {"controllers": [{"name": "swift"}, {"name": "hpcc", "attributes": {"Eta": 0.8}}]},
    {"controllers": [{"name": "agent"}, {"name": "hpcc"}], "controlled_flows": []},
    {
        "clock": {"name": "per_ack"},
        "decision_quantum_ns": 50,
        "record": {
            "queues": True,
            "queue_series_ns": 1000,
            "film_ns": 1000,
            "windows": True,
            "events": True,
            "reordering": True,
            "controller_state": True,
            "controller_counters": True,
        },
    },
    {"record": {"pcap": "caught", "pcap_ports": [[4, 0]], "pcap_snaplen": 99}},
    {"measurement": {"warm_up_ns": "5us", "end_ns": "50us"}},
    {"traffic": {"kind": "poisson", "load": 0.5, "duration_ns": "20us"}, "measurement": {"warm_up_ns": 100}},
    *({"traffic": traffic} for traffic in TRAFFIC),
    {
        "transport": "tcp",
        "controllers": [{"name": "cubic"}],
        "tcp": {
            "mtu_bytes": 1000,
            "initial_window_packets": 4,
            "packets_per_ack": 2,
            "delayed_ack_timeout_ns": "90us",
            "ack_noise": {"mean_rtts": 0.02, "most_rtts": 0.05},
            "sack": False,
            "ecn": True,
            "pacing": True,
            "min_rto_ns": "1ms",
            "initial_rto_ns": "5ms",
            "socket_buffer_bytes": "1MB",
            "queue": {"limit": "30 packets", "marking": {"red": {"least": "5 packets", "most": "9 packets"}}},
            "host_queue": {"limit": "50 packets", "marking": "none"},
        },
    },
    {"transport": "tcp", "controllers": [{"name": "dctcp"}]},
]
#: Sections, and the models of their keys.
SECTIONS = {
    "": [ScenarioFields],
    "switch": [Switch],
    "ecn": [Ecn],
    "congestion_points": [CongestionPoints],
    "classes": [TrafficClass],
    "groups": [Group],
    "nic": [Nic],
    "recovery": [SelectiveRepeat],
    "corruption": [Corruption],
    "failures": [Failures, Outage, DrawnOutages],
    "record": [Record],
    "measurement": [Measurement],
    "simulator": [SimulatorOptions],
    "tcp": [Tcp, Queue, AckNoise],
}


def test_every_key_of_a_scenario_is_in_the_table() -> None:
    text = json.dumps(VARIATIONS)
    keys = [key for models in SECTIONS.values() for model in models for key in model.model_fields]
    assert [key for key in keys if f'"{key}"' not in text] == []


@pytest.mark.parametrize("varied", VARIATIONS, ids=lambda varied: json.dumps(varied)[:60])
def test_a_written_configuration_plays_to_the_same_bytes(
    varied: dict[str, Any], simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flows.csv").write_text("src,dst,size_bytes,start_ns,controller\n" + 2 * "0,1,5000,7,\n")
    Path("flow.txt").write_text("1\n0 1 3 100 5000 0.000001\n")
    chakra_traces.write("tensor_parallel", "step", ranks=2, layers=1, size_bytes=9000)
    Path("step.goal").write_text(PING_PONG)
    Path("matrix.cm").write_text("Nodes 2\nConnections 1\n0->1 start 9000 size 5000\n")
    Path("tree.topo").write_text(TWO_TIERS)
    Path("workload.txt").write_text("MODEL\n1\na -1 5 ALLREDUCE 9000 7 NONE 0 9 NONE 0 1\n")
    content = {
        "controllers": [{"name": "dcqcn"}, {"name": "dctcp"}],
        "traffic": {"kind": "incast", "size_bytes": "100kB"},
        "time_limit_ns": "1ms",
        **varied,
    }
    scenario = Scenario.from_mapping(content, "first")
    first = result_files(scenario, simulator.play(scenario))
    again = Scenario.from_mapping(parse(first["config.yaml"])["scenario"], "again")
    second = result_files(again, simulator.play(again))
    assert {name for name in first if first[name] != second[name]} == {"config.yaml"}
    scenarios = [parse(files["config.yaml"])["scenario"] for files in (first, second)]
    assert scenarios[0] == scenarios[1]
