# SPDX-License-Identifier: GPL-2.0-or-later
"""Small parts of scenarios, and the errors of invalid ones."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ns3_env.config.yaml import parse
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results, endless

INCAST = {"kind": "incast", "size_bytes": 1000}
#: Sections that have every number which some kind has; of a kind's other keys the defaults.
SECTIONS: list[dict[str, Any]] = parse("""
- topology: {kind: dumbbell, bottleneck_bps: 1.0e+9}
- topology: {kind: parking_lot}
- topology: {kind: leaf_spine, uplink_delay_ns: 1}
- topology: {kind: fat_tree_2}
- topology: {kind: fat_tree_3}
- topology: {kind: graph, nodes: [host, host], links: [{a: 0, b: 1, rate_bps: 1.0e+9, delay_ns: 1}]}
  traffic: {kind: incast, flows: 1}
- traffic:
    kind: mix
    parts: [{kind: incast}, {kind: constant_rate, src: 0, dst: 4, rate_bps: 1.0e+9, start_ns: 1, stop_ns: 2}]
- traffic: {kind: incast, size_bytes: 1, start_ns: 0, spread_ns: 0}
- traffic: {kind: joining, sizes_bytes: [1, 1]}
- traffic: {kind: long_short}
- traffic: {kind: list, flows: [{src: 0, dst: 4, size_bytes: 1, start_ns: 0}], priority_group: 3}
- traffic: {kind: poisson, load: 0.1}
- traffic: {kind: poisson_incast, fan_in: 1, load: 0.1}
- clock: {name: per_flow_rtt}
- clock: {name: synchronous}
- measurement: {warm_up_ns: 0, end_ns: 1}
- load_balancing: {kind: flowlet}
- failures:
    outages: [{link: [5, 6], at_ns: 1, until_ns: 2}, {switch: 6, at_ns: 1, until_ns: 2}]
    drawn: {mean_up_ns: 1000000, mean_down_ns: 1000000}
- min_rate_bps: 1.0e+6
  switch: {ecn: {}, congestion_points: {sample_probability: 0.5}, headroom_frames: 2, buffer_bytes: 10000000}
- transport: tcp
  controllers: [{name: dctcp}]
  tcp: {queue: {limit: 10 packets}}
""")


def incast(
    flows: int = 4, size_bytes: int = 100_000, controller: Any = "agent", spread_ns: int = 0, **keys: Any
) -> Scenario:
    """Hosts that send a flow each to one receiver, at 100 Gb/s; further keys are the scenario's."""
    traffic = {"kind": "incast", "size_bytes": size_bytes, "spread_ns": spread_ns}
    network = {"topology": {"kind": "dumbbell", "senders": flows}, "controllers": [controller]}
    return Scenario.from_mapping({**network, "traffic": traffic, **keys}, "incast")


def results_of(scenario: Scenario | Mapping[str, Any]) -> dict[str, Any]:
    """Results of a scenario, or of its contents, in a new simulator."""
    with Simulator() as simulator:
        if isinstance(scenario, Scenario):
            return simulator.play(scenario)
        return simulator.play(Scenario.from_mapping(scenario, "x"))


def refusal(content: Mapping[str, Any] | Path, folder: str | Path = "") -> str:
    """The error message on contents, as those of s.yaml, or on a file."""

    def read() -> None:
        if isinstance(content, Path):
            Scenario.load(content)
        else:
            Scenario.from_mapping(content, "s.yaml", folder)

    with pytest.raises(ScenarioError) as caught:
        read()
    return str(caught.value)


def conserved(results: Results) -> None:
    """Checks that each sent byte was delivered, was lost at a port by a cause, or is in flight."""
    totals, flows = results["totals"], results["flows"]
    lost = sum(row["payload_bytes"] for row in results["losses"])
    on_the_way = totals["transmitted_payload_bytes"] - totals["delivered_payload_bytes"] - lost
    assert 0 <= on_the_way <= 1000 * totals["packets_left"]
    assert lost == totals["dropped_payload_bytes"]
    assert sum(row["packets"] for row in results["losses"]) == totals["dropped_packets"]
    columns = (flows[name] for name in ("size_bytes", "acked_bytes", "fct_ns"))
    for never, size, acked, fct in zip(endless(results), *columns, strict=True):
        assert never or (acked == size if fct >= 0 else acked < size)
    streams = results.get("streams", {})
    sums = (streams.get(f"{name}_bytes", ()) for name in ("sent", "received", "lost"))
    for sent, received, dropped in zip(*sums, strict=True):
        assert min(sent, received, dropped) >= 0
        assert 0 <= sent - received - dropped <= on_the_way
