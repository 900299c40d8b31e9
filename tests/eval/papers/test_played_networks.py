# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's flows as a list for the published simulator: it replays to the nanosecond, or is refused."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from ns3_env.eval.commands.evaluation import main
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator

#: Rings that cross two spines, in chunks, with computations between: flows wait, share links, and are marked.
JOB = {
    "preset": "published",
    "time_limit_ns": "200ms",
    "topology": {
        "kind": "leaf_spine",
        "leaves": 2,
        "spines": 2,
        "hosts_per_leaf": 4,
        "uplink_bps": "100Gbps",
    },
    "traffic": {
        "kind": "jobs",
        "algorithm": "ring_all_reduce",
        "jobs": 2,
        "ranks_each": 4,
        "size_bytes": "4MB",
        "chunk_bytes": "400kB",
        "iterations": 2,
        "compute_ns": "20us",
        "compute_spread_ns": "3us",
    },
}


def played(tmp_path: Path, controller: str, *overrides: str) -> Path:
    """A run's folder."""
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump(JOB))
    out = tmp_path / "run"
    assert main(["run", str(file), "--controllers", controller, "--out", str(out), *overrides]) == 0
    return out / controller


@pytest.mark.parametrize("controller", ["dcqcn", "hpcc", "timely", "dctcp"])
def test_a_jobs_flows_replay_to_the_nanosecond_without_their_waits(tmp_path: Path, controller: str) -> None:
    run, networks = played(tmp_path, controller), tmp_path / "networks"
    assert main(["compare", "published", str(networks), "--run", str(run)]) == 0
    replay = Scenario.load(networks / f"run-{controller}" / "scenario.yaml").under(controller)
    with Simulator() as simulator:
        flows = simulator.play(replay)["flows"]
    columns = ("src", "dst", "size_bytes", "start_ns", "fct_ns", "standalone_ns")
    with (run / "flows.csv").open(newline="") as lines:
        had = sorted(tuple(float(row[name]) for name in columns) for row in csv.DictReader(lines))
    has = sorted(zip(*(map(float, flows[name]) for name in columns), strict=True))
    assert has == had
    assert max(fct / alone for *_, fct, alone in has) > 1.2  # they did share links


@pytest.mark.parametrize(
    ("controller", "override", "fault"),
    [
        ("dcqcn", "preset=default", "timing: exact"),
        ("dcqcn", "payload_bytes=500", "payload_bytes: 500"),
        ("dcqcn", "min_rate_bps=2e9", "min_rate_bps: 2000000000.0"),
        ("dcqcn", "dcqcn.Gain=0.5", "dcqcn.Gain: 0.5"),
        ("swift", "seed=1", "controllers: swift (it has dcqcn, hpcc, timely, dctcp, one in a run)"),
        ("dcqcn", "time_limit_ns=100us", "flows did not end"),
        ("dcqcn", "switch.buffer_bytes=3MB", "buffers of whole MiB"),
    ],
)
def test_what_the_published_simulator_has_not_is_refused_by_name(
    tmp_path: Path, controller: str, override: str, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = played(tmp_path, controller, override)
    capsys.readouterr()
    assert main(["compare", "published", str(tmp_path / "networks"), "--run", str(run)]) == 2
    output = capsys.readouterr().err
    assert str(run) in output
    assert fault in output
    assert not (tmp_path / "networks").exists()
