# SPDX-License-Identifier: GPL-2.0-or-later
"""Signs of life of a busy simulator: while it builds, creates flows, samples and writes."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ns3_env.eval.episodes.scenario import run
from ns3_env.scenario import Controller, Scenario, Switch
from ns3_env.scenario.topology import FatTree3
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results
from tests.samples.files import dumped

pytestmark = pytest.mark.alone

#: A thirtieth of the default, so that a smaller network shows work that would exceed the default.
STRICT_S = 1.0


def star(hosts: int, flows: int, *, size_bytes: int = 100, start_ns: int = 0) -> dict[str, Any]:
    """Hosts at switches of 64, and these at one switch; each flow to the next host."""
    switches = -(-hosts // 64)
    ends = [(host, hosts + host // 64) for host in range(hosts)]
    ends += [(hosts + switch, hosts + switches) for switch in range(switches)]
    base = Scenario(switch=Switch(buffer_bytes=1 << 30), controllers=[Controller(name="fixed-window")])
    return {
        **base.to_simulator_json(),
        "time_limit_ns": 50_000_000,
        "nodes": ["host"] * hosts + ["switch"] * (switches + 1),
        "links": [{"a": a, "b": b, "rate_bps": 100e9, "delay_ns": 1000} for a, b in ends],
        "flows": {
            "src": [i % hosts for i in range(flows)],
            "dst": [(i + 1) % hosts for i in range(flows)],
            "size_bytes": [size_bytes] * flows,
            "start_ns": [start_ns] * flows,
            "controller": [0] * flows,
            "slot": [-1] * flows,
        },
    }


#: Long work, and a check that its results are complete.
WORK: dict[str, tuple[dict[str, Any], Callable[[Results], bool]]] = {
    "a large network is built": (
        star(hosts=4096, flows=1),
        lambda results: results["totals"]["unfinished"] == 0,
    ),
    "many flows are created at one instant": (
        {**star(hosts=64, flows=150_000), "time_limit_ns": 1000},
        lambda results: len(results["flows"]["src"]) == 150_000,
    ),
    "long queue series without a packet are sampled and written": (
        {**star(hosts=64, flows=1, start_ns=10_000_000), "time_limit_ns": 10_100_000}
        | {"record": {"queue_series_ns": 100}},
        lambda results: len(results["queues"][0]["series"]["t_ns"]) > 10_000,
    ),
    "hundreds of thousands of recorded windows are written and freed": (
        star(hosts=64, flows=64, size_bytes=12_000_000)
        | {"controllers": [{"name": "hpcc"}], "record": {"windows": True}},
        lambda results: len(results["windows"]) > 600_000,
    ),
    "series of many samples are written": (
        star(hosts=64, flows=64, start_ns=10_000_000) | {"record": {"queue_series_ns": 250}},
        lambda results: sum(len(queue["series"]["bytes"]) for queue in results["queues"]) > 2_000_000,
    ),
}


#: More than a second of its own; series of many samples take the same way to the file.
LONGEST = "hundreds of thousands of recorded windows are written and freed"


@pytest.mark.parametrize(
    "work", [pytest.param(x, marks=pytest.mark.slow if x == LONGEST else ()) for x in WORK]
)
def test_long_work_gives_signs_of_life(work: str) -> None:
    content, is_whole = WORK[work]
    with Simulator(hang_timeout_s=STRICT_S) as simulator:
        assert is_whole(simulator.play(content))


@pytest.mark.parametrize(("interval_ns", "notice"), [(1000, True), (100_000, False)])
def test_many_samples_are_announced_before_the_run(interval_ns: int, notice: bool, tmp_path: Path) -> None:
    traffic = {"kind": "incast", "flows": 2, "size_bytes": 1000}
    content = {"topology": {"kind": "fat_tree_3"}, "time_limit_ns": "50ms", "traffic": traffic}
    file = dumped(tmp_path / "x.yaml", content)
    console = Console(file=io.StringIO(), width=200)
    run(file, ["hpcc"], tmp_path / "out", console=console, queue_series_ns=interval_ns)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    network = FatTree3().build()
    ports = sum(network.nodes[end] == "switch" for link in network.links for end in (link.a, link.b))
    expected = f"queue series: up to {ports * 50_001 / 1e6:,.1f} million samples"
    assert (expected in text) is notice
    assert text.startswith("queue series") is notice
