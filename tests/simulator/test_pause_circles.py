# SPDX-License-Identifier: GPL-2.0-or-later
"""PFC pauses that wait for each other in a circle: they are reported, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.samples.rings import ring
from tests.samples.scenarios import results_of

CLASSES = {
    "classes": [{"name": "a", "pfc": False}, {"name": "b"}],
    "groups": {"all": {"traffic_class": "b"}},
    "switch": {"buffer_bytes": "1MB"},
}


@pytest.mark.parametrize(
    ("switches", "changes"),
    [(5, {}), (6, {}), (5, {"timing": "published"}), (5, {"controllers": [{"name": "fixed-window"}]})],
)
def test_pauses_in_a_circle_are_named_in_their_order(switches: int, changes: dict[str, Any]) -> None:
    results = results_of(ring(switches, **changes))
    assert results["totals"]["unfinished"] > 0
    circle = results["pause_circle"]
    hops = [(port["node"], port["peer"]) for port in circle["ports"]]
    assert sorted(hops) == [(i, (i + 1) % switches) for i in range(switches)]
    assert [node for node, _ in hops[1:]] == [peer for _, peer in hops[:-1]]  # each waits for the next
    assert circle["others"] == 2 * switches  # hosts


def test_a_class_stands_still_by_itself() -> None:
    mapping = ring(5, **CLASSES)
    for flow in mapping["traffic"]["flows"]:
        flow["group"] = "all"
    assert len(results_of(mapping)["pause_circle"]["ports"]) == 5


@pytest.mark.parametrize(
    "changes",
    [
        {"time_limit_ns": "3us"},  # before the first pause
        {"switch": {"buffer_bytes": "400kB", "pfc": False}},
        {"traffic": {"kind": "incast", "receiver": 5, "flows": 9, "size_bytes": "1MB"}},  # a tree
    ],
)
def test_pauses_that_will_end_are_none(changes: dict[str, Any]) -> None:
    assert "pause_circle" not in results_of(ring(5, **changes))


def test_no_moment_of_a_congested_tree_looks_like_a_circle() -> None:
    flows = [{"src": i, "dst": (i // 4 + k) % 3 * 4, "size_bytes": "1MB"} for i in range(12) for k in (1, 2)]
    paused = 0
    for limit_us in range(20, 400, 20):
        results = results_of(
            {
                "topology": {"kind": "leaf_spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 4},
                "traffic": {"kind": "list", "flows": flows},
                "switch": {"buffer_bytes": "500kB"},
                "time_limit_ns": limit_us * 1000,
                "controllers": [{"name": "fixed-window"}],
            }
        )
        paused += results["totals"]["pfc_frames"]
        assert "pause_circle" not in results
    assert paused > 0
