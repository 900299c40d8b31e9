# SPDX-License-Identifier: GPL-2.0-or-later
"""Every number that a scenario can set has bounds, and one beyond them is refused by its key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ns3_env.config import bounds
from ns3_env.config.yaml import parse, put
from ns3_env.scenario import Dumbbell, Incast, Scenario
from tests.samples.scenarios import refusal

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


def numbers(value: Any, key: str = "") -> Iterator[str]:
    """The dotted keys of all numbers in it."""
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key


#: Each section's own numbers; those that every scenario has once.
CASES = [
    (section, key)
    for section in SECTIONS
    for key in numbers(Scenario.from_mapping(section, "s.yaml").model_dump(mode="json"))
    if section is SECTIONS[0] or key.partition(".")[0] in section
]
#: Ids, shares and ranges of few values: their ends need no reason.
NO_REASON = {
    *("seed", "a", "b", "src", "dst", "link", "switch", "priority_group", "pfc_alpha_shift", "ack_every"),
    *("load", "loss_probability", "pmax", "weight", "sample_jitter", "sample_probability"),
    *("payload_bytes", "mtu_bytes", "socket_buffer_bytes", "pcap_snaplen"),
}
REASONS = [getattr(bounds, name) for name in dir(bounds) if name.startswith("WHY_")]


@pytest.mark.parametrize(("section", "key"), CASES, ids=[key for _, key in CASES])
def test_no_number_is_boundless_and_what_is_too_large_is_told_why(section: dict[str, Any], key: str) -> None:
    whole = Scenario.from_mapping(section, "s.yaml").model_dump(mode="json")
    for value in (-1e300, 1e300, 10**400):
        message = refusal(put(whole, key, value))
        name = key.rpartition(".")[2]
        # Of two numbers in the wrong order, or a list's, the section is at fault.
        assert message.startswith("s.yaml: ")
        assert name in message or key.rpartition(".")[0] in message
        last_word = next(part for part in reversed(key.split(".")) if not part.isdigit())
        if value == 10**400 and last_word not in NO_REASON:
            assert any(reason in message for reason in REASONS), message


def test_a_least_rate_that_is_worked_out_is_one_that_the_simulator_takes() -> None:
    topology, traffic = Dumbbell(senders=2, rate_bps=1e4), Incast(flows=2000, size_bytes=1)
    content = Scenario(topology=topology, traffic=traffic, time_limit_ns=1).to_simulator_json()
    assert content["min_rate_bps"] == bounds.MIN_RATE_BPS
