# SPDX-License-Identifier: GPL-2.0-or-later
"""The same seed gives the same bits: again, anywhere, on any number of threads, in either form."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ns3_env.config.yaml import parse
from ns3_env.decision.observations import column
from ns3_env.scenario import Scenario
from ns3_env.simulator import EpisodeEnd, Simulator
from ns3_env.simulator.messages import DecisionBatch
from ns3_env.simulator.results import Windows, results_with_columns
from tests.paths import ROOT
from tests.samples.scenarios import conserved

NETWORK: dict[str, Any] = parse("""
topology:
  {kind: fat_tree_3, pods: 4, tors_per_pod: 2, aggregation_per_pod: 2, cores: 4, hosts_per_tor: 4}
traffic: {kind: poisson, sizes: websearch, load: 0.6, duration_ns: 100000}
time_limit_ns: 20000000
""")
CLASSES: dict[str, Any] = parse("""
classes: [{name: urgent}, {name: bulk, weight: 2}]
groups:
  storage: {controller: dcqcn, traffic_class: bulk}
  rpc: {controller: hpcc, traffic_class: urgent}
traffic:
  kind: mix
  parts:
    - {kind: poisson, sizes: fb_hadoop, load: 0.4, duration_ns: 100000, group: storage}
    - {kind: poisson_incast, fan_in: 8, size_bytes: 20000, load: 0.1, duration_ns: 100000, group: rpc}
""")
#: One step of training on 32 GPUs, four to a node.
TRAINING: dict[str, Any] = parse("""
topology: {kind: cluster, nodes: 8, gpus_per_node: 4, scale_out: {nodes_per_group: 4}}
switch: {buffer_bytes: 64000000}
traffic: {kind: training, parallel: {tp: 4, pp: 2, dp: 4}, layers_together: 16, scale: 0.002}
time_limit_ns: 1000000000
""")


def policy(name: str) -> dict[str, Any]:
    return {"name": "policy", "attributes": {"File": str(ROOT / "checkpoints" / name / "policy.safetensors")}}


STREAMS = [
    {"kind": "constant_rate", "src": i, "dst": 31 - i, "rate_bps": 3e10 + i, "stop_ns": 150_000}
    for i in range(3)
]
JOB = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 400_000, "chunk_bytes": 20_000}
INCAST = {"kind": "incast", "flows": 4, "size_bytes": 300_000, "spread_ns": 2000}
SLOW = {"kind": "dumbbell", "rate_bps": 1e9}
TCP: dict[str, Any] = {"transport": "tcp", "time_limit_ns": 1_000_000_000}
SELECTIVE: dict[str, Any] = {"recovery": {"kind": "selective_repeat"}}
SHALLOW: dict[str, Any] = {"switch": {"pfc": False, "buffer_bytes": 200_000}}
SPRAY: dict[str, Any] = {"load_balancing": {"kind": "spray"}, **SELECTIVE}
OUTAGE: dict[str, Any] = {"failures": {"outages": [{"link": [32, 40], "at_ns": 50_000, "until_ns": 90_000}]}}
#: Rates that are drawn, and delays below the topology's.
DRAWN = {"drawn": {"kind": "walk", "least_bps": 25e9, "most_bps": 100e9, "every_ns": 1_000_000}}
SHORTER: dict[str, Any] = parse("""
steps:
  - {at_ns: 0, rate_bps: 1.0e+11, delay_ns: 1000}
  - {at_ns: 20000, rate_bps: 4.0e+10, delay_ns: 300}
  - {at_ns: 60000, rate_bps: 1.0e+11, delay_ns: 2000}
""")
#: Controllers and changes of the network that are run in parts.
IN_PARTS: list[tuple[str | dict[str, Any], dict[str, Any]]] = [
    ("hpcc", {}),
    ("dcqcn", {"measurement": {"warm_up_ns": 50_000}}),
    ("swift", CLASSES),
    ("hpcc-pint", {"nic": {"ack_every": 4, "ack_delay_ns": 2000}}),
    ("timely", {**SHALLOW, **SELECTIVE}),
    ("dcqcn", SPRAY),
    ("dcqcn", {"load_balancing": "valiant"}),
    ("hpcc", {"load_balancing": {"kind": "flowlet", "gap_ns": 5000}, **SELECTIVE, **OUTAGE}),
    ("hpcc", {"link_rates": [{"link": "all", **DRAWN}]}),
    ("hpcc", {"link_rates": [{"link": "all", **SHORTER}]}),
    (policy("dispatcher"), {}),
    (policy("tasks/ppo/1"), {}),
    ("hpcc", TRAINING),
    ("dcqcn", {**TRAINING, **SPRAY}),
]
#: The third flow starts when the faster one of two racks is over.
ANY: dict[str, Any] = parse("""
traffic:
  kind: list
  flows:
    - {src: 0, dst: 31, size_bytes: 400kB, name: slow}
    - {src: 4, dst: 8, size_bytes: 40kB, name: fast}
    - {src: 12, dst: 16, size_bytes: 40kB, after: [slow, fast], needed: 1}
""")
#: Scenarios that are run as a whole, since their parts would share something.
AS_A_WHOLE: list[tuple[str | dict[str, Any], dict[str, Any]]] = [
    ("mpcc", {}),
    ("oracle", {}),
    ("clairvoyant", TRAINING),
    ("clairvoyant-fair", CLASSES),
    ("max_min", {"time_limit_ns": 300_000}),
    ("dcqcn", {"record": {"windows": True}}),
    ("dcqcn", {"preset": "published"}),
    ("hpcc", ANY),
]
#: Scenarios without a choice of threads, or with random draws beyond their traffic.
OTHERS: list[tuple[str | dict[str, Any], dict[str, Any]]] = [
    ("dcqcn", {"loss_probability": 0.02, **SHALLOW}),
    ("dcqcn", {"corruption": [{"link": "all", "bit_error_rate": 1e-7}]}),
    ("hpcc", {"traffic": {"kind": "mix", "parts": [INCAST, *STREAMS]}, "loss_probability": 0.01}),
    ("dcqcn", {"failures": {"drawn": {"mean_up_ns": 200_000, "mean_down_ns": 20_000}}}),
    ("swift", {"traffic": {**INCAST, "size_bytes": "endless"}, "time_limit_ns": 500_000}),
    ("dcqcn", {"traffic": {**JOB, "iterations": 2, "compute_ns": 1000, "compute_spread_ns": 3000}}),
    *((name, {"traffic": INCAST, "topology": SLOW}) for name in ("bcn", "qcn", "smcc")),
    *((name, TCP) for name in ("cubic", "dctcp", "max_min", "oracle")),
    ("dctcp", {**TCP, "tcp": {"ack_noise": {"mean_rtts": 0.05, "most_rtts": 0.5}}}),
]


def play(
    simulator: Simulator, threads: int | str | None, controller: str | dict[str, Any], **changes: Any
) -> dict[str, Any]:
    how = {} if threads is None else {"simulator": {"threads": threads}}
    return simulator.play(
        Scenario.from_mapping({**NETWORK, **changes, **how, "controllers": [controller]}, "x")
    )


@pytest.mark.parametrize(("controller", "changes"), [*IN_PARTS, *AS_A_WHOLE, *OTHERS])
def test_bytes_are_conserved_and_one_seed_gives_the_same_bits_in_any_process_on_any_number_of_threads(
    simulator: Simulator, controller: str | dict[str, Any], changes: dict[str, Any]
) -> None:
    """One simulator has played all that was before, the other nothing."""
    results = play(simulator, None, controller, **changes)
    if changes.get("transport") != "tcp":
        conserved(results)
    with Simulator() as another:
        assert play(another, None, controller, **changes) == results
    if (controller, changes) in IN_PARTS:
        one = play(simulator, 1, controller, **changes)
        assert one["totals"]["unfinished"] == 0
        assert one != results, "it is played in parts"
        for threads in (5, "auto"):
            assert play(simulator, threads, controller, **changes) == one
    if (controller, changes) in AS_A_WHOLE:
        assert play(simulator, 4, controller, **changes) == results


CONSTANT: dict[str, Any] = {"link_rates": [{"link": [0, 32], "steps": [{"at_ns": 0, "rate_bps": 1e11}]}]}
#: Changes that nothing comes of, in 20 ms.
NEVER: dict[str, dict[str, Any]] = {
    "an outage behind the end": {"failures": {"outages": [{"switch": 40, "at_ns": 19_999_999}]}},
    "flowlets that never end": {"load_balancing": {"kind": "flowlet", "gap_ns": 100_000_000}},
    "a rate that stays": CONSTANT,
    "a rate of tcp that stays": {**TCP, **CONSTANT},
}


@pytest.mark.parametrize("changes", NEVER.values(), ids=NEVER)
def test_what_never_comes_changes_no_bit(simulator: Simulator, changes: dict[str, Any]) -> None:
    """Only columns that report it are new."""
    transport = TCP if "transport" in changes else {}
    for controller in ("cubic", "dctcp") if transport else ("dcqcn", "hpcc"):
        record = {"record": {"events": True, "windows": True, "queue_series_ns": 10_000}}
        plain = play(simulator, None, controller, **transport, **record)
        results = play(simulator, None, controller, **changes, **record)
        assert results.keys() >= plain.keys()
        for key in plain.keys() - {"totals"}:
            whole = plain[key]
            part = {name: results[key][name] for name in whole} if isinstance(whole, dict) else results[key]
            assert part == whole, key


MANY: dict[str, Any] = {
    "topology": {"kind": "leaf_spine", "leaves": 4, "spines": 4, "hosts_per_leaf": 32},
    "traffic": {
        "kind": "list",
        "flows": [{"src": i, "dst": i ^ 64, "size_bytes": 20_000} for i in range(128)],
    },
}
FIRST = {**MANY["traffic"]["flows"][0], "name": "first"}
LATER = {"src": 0, "dst": 9, "size_bytes": 1000, "after": ["first"]}


@pytest.mark.parametrize(
    ("changes", "in_parts"),
    [
        ({}, True),
        ({"controllers": ["agent"]}, False),
        ({"controllers": [policy("dispatcher")]}, True),
        ({"traffic": {"kind": "list", "flows": MANY["traffic"]["flows"][1:]}}, False),
        (
            {"traffic": {"kind": "list", "flows": [FIRST, *MANY["traffic"]["flows"][1:], LATER]}},
            False,
        ),
        ({"simulator": {"threads": None}}, False),
    ],
    ids=["default", "agent", "policy", "127 receivers", "a flow that waits", "as a whole"],
)
def test_a_large_network_is_simulated_in_parts_unless_that_would_delay_something(
    changes: dict[str, Any], in_parts: bool
) -> None:
    scenario = Scenario.from_mapping({**MANY, "controllers": ["hpcc"], **changes}, "x")
    assert scenario.to_simulator_json().get("threads") == (1 if in_parts else None)
    assert json.loads(scenario.to_simulator_text()).get("threads") == (1 if in_parts else None)


def answer(batch: DecisionBatch) -> NDArray[np.float64]:
    """Windows that steer flows to a short queue."""
    rows = batch.records[batch.due]
    windows = column(rows, "bdp_bytes") / (1 + 4 * column(rows, "qlen"))
    return np.column_stack((windows, column(rows, "host_rate_bps"), 0 * windows))


def decide(simulator: Simulator) -> list[DecisionBatch]:
    """Answers until the episode's end, and returns the decisions."""
    batches = []
    while not isinstance(message := simulator.receive(), EpisodeEnd):
        assert isinstance(message, DecisionBatch)
        batches.append(message)
        simulator.send_actions(answer(message))
    assert message.results["totals"]["unfinished"] == 0
    return batches


def agent_scenario(threads: int | None, clock: str) -> Scenario:
    keys = {**NETWORK, "clock": {"name": clock}, "simulator": {"threads": threads}}
    return Scenario.from_mapping({**keys, "controllers": ["agent"]}, "x")


def equal(some: list[DecisionBatch], others: list[DecisionBatch]) -> bool:
    return len(some) == len(others) and all(
        a.time_ns == b.time_ns
        and a.flows.tolist() == b.flows.tolist()
        and a.records.tobytes() == b.records.tobytes()
        for a, b in zip(some, others, strict=True)
    )


@pytest.mark.parametrize("clock", ["per_flow_rtt", "synchronous"])
def test_an_agent_across_the_channel_sees_the_same_on_any_number_of_threads(
    simulator: Simulator, clock: str
) -> None:
    def batches(threads: int | None) -> list[DecisionBatch]:
        simulator.send_reset(agent_scenario(threads, clock))
        return decide(simulator)

    one, whole = batches(1), batches(None)
    assert not equal(one, whole), "it is played in parts"
    if clock == "per_flow_rtt":
        assert len(one) < 0.8 * len(whole), "what is due in a window is one batch"
    assert equal(batches(5), one)


def test_a_branch_of_a_network_in_parts_goes_on_as_the_network(simulator: Simulator) -> None:
    simulator.send_reset(agent_scenario(3, "synchronous"))
    for _ in range(5):
        batch = simulator.receive()
        assert isinstance(batch, DecisionBatch)
        simulator.send_actions(answer(batch))
    batch = simulator.receive()
    assert isinstance(batch, DecisionBatch)
    (branch,) = simulator.branch()
    with branch:
        branch.send_actions(answer(batch))
        simulator.send_actions(answer(batch))
        assert equal(decide(branch), decide(simulator))


def recorded(controller: str, transport: str = "rdma") -> Scenario:
    keys = {
        "transport": transport,
        "topology": {"kind": "dumbbell", "senders": 3},
        "traffic": {"kind": "incast", "size_bytes": 200_000, "spread_ns": 5_000},
        "controllers": [{"name": controller}],
        "record": {"windows": True, "queue_series_ns": 700},
        "seed": 3,
    }
    return Scenario.from_mapping(keys, "columns")


@pytest.mark.parametrize(("controller", "transport"), [("hpcc", "rdma"), ("swift", "rdma"), ("cubic", "tcp")])
def test_columns_are_the_rows(simulator: Simulator, controller: str, transport: str) -> None:
    scenario = recorded(controller, transport)
    rows, columns = simulator.play(scenario), simulator.play(scenario, columns=True)
    for one, other in zip(Windows.of(rows), Windows.of(columns), strict=True):
        assert len(one) > 10
        assert (one == other).all()
    for one, other in zip(rows["queues"], columns["queues"], strict=True):
        for name in ("t_ns", "bytes"):
            assert (np.array(one["series"][name]) == other["series"][name]).all()
        assert {**one, "series": None} == {**other, "series": None}
    rest = {key: value for key, value in rows.items() if key not in ("windows", "queues")}
    assert rest == {key: columns[key] for key in rest}


@pytest.mark.parametrize("blob", [b"{}", b"[]\0\0\0\0\0\0", b'{"queues": [], "windows": 3}\0\0\0\0'])
def test_what_are_no_columns_is_refused(blob: bytes) -> None:
    with pytest.raises(ValueError, match=r"columns|numbers|unpack|buffer|size"):
        results_with_columns(blob)
