# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmark folders for tests, written by hand without a simulation."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ns3_env.eval.benchmark.folder import cell_folder, failure_file, fingerprint, versions_in_use, write_suite
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.metrics import METRICS
from ns3_env.eval.output.table import csv_text

#: Mean slowdown of a seed's cell, by default: "fast" wins significantly, the others are equal.
SLOWDOWNS = {
    "fast": (2.0, 2.1, 2.05, 2.02, 2.08, 2.04, 2.06),
    "hpcc": (3.0, 3.4, 3.2, 3.1, 3.3, 3.25, 3.15),
    "mpcc": (3.1, 3.3, 3.5, 3.0, 3.4, 3.1, 3.0),
}
FLOWS = ("src", "dst", "size_bytes", "start_ns", "fct_ns", "standalone_ns", "end_ns", "finished")


def suite(
    scenarios: int = 2, scenarios_of: Sequence[Mapping[str, Any]] | None = None, **changes: Any
) -> Suite:
    """Three controllers, two ``scenarios`` in two groups, seven seeds: the number that two comparisons need.

    ``scenarios_of`` replaces the scenarios.
    """
    network = {"topology": {"kind": "dumbbell", "senders": 2}, "traffic": {"kind": "incast"}}
    return Suite.from_mapping(
        {
            "title": "hand-made",
            "seeds": [1, 2, 3, 4, 5, 6, 7],
            "controllers": [{"name": "fast", "controller": "dctcp"}, "hpcc", "mpcc"],
            "scenarios": list(scenarios_of)
            if scenarios_of is not None
            else [
                {"name": "equal", "title": "Equal flows", "group": "Incast", "scenario": network},
                {"name": "sizes", "title": "All sizes", "group": "Workloads", "scenario": network},
            ][:scenarios],
            **changes,
        },
        "hand.yaml",
    )


def write(path: Path, benchmark: Suite | None = None, **metrics: float | None) -> Path:
    """A complete folder; ``metrics`` replace every cell's own."""
    benchmark = benchmark or suite()
    path.mkdir(parents=True, exist_ok=True)
    write_suite(path, benchmark, ["python", "-m", "eval", "benchmark", "hand.yaml", "--out", str(path)])
    for entry, who, seed in benchmark.cells():
        slowdown = SLOWDOWNS.get(who.name, (4.0, 4.5, 5.0, 4.2, 4.4, 4.6, 4.8))[benchmark.seeds.index(seed)]
        values: dict[str, float | None] = dict.fromkeys(METRICS)
        values |= {"fct_slowdown_avg": slowdown, "fct_slowdown_p99": 2 * slowdown, "goodput": 0.9}
        values |= {
            "queue_p99_bytes": 1e5 * slowdown,
            "unfinished_flows": 0,
            "pfc_pause_fraction": 0,
            **metrics,
        }
        folder = cell_folder(path, entry.name, who.name, seed)
        folder.mkdir(parents=True)
        content = {
            "format": 1,
            "fingerprint": fingerprint(entry.scenario, who, seed, versions_in_use()),
            "seconds": 1.0,
            "metrics": values,
        }
        (folder / "metrics.json").write_text(json.dumps(content))
        _write_series(folder, slowdown, entry.name == "equal", seed == benchmark.seeds[0])
    return path


def fail(path: Path, scenario: str, controller: str, seed: int, text: str) -> None:
    """The cell has failed with this error."""
    remove(path, scenario, controller, seed)
    target = failure_file(path, scenario, controller, seed)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


def remove(path: Path, scenario: str, controller: str, seed: int) -> None:
    """The cell was never run."""
    folder = cell_folder(path, scenario, controller, seed)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def make_stale(path: Path, scenario: str, controller: str, seed: int, **metrics: float) -> None:
    """The cell is of another version; its metrics must show nowhere."""
    file = cell_folder(path, scenario, controller, seed) / "metrics.json"
    content = json.loads(file.read_text())
    content["fingerprint"] = "of another version"
    content["metrics"] |= metrics
    file.write_text(json.dumps(content))


def _write_series(folder: Path, slowdown: float, equal: bool, with_series: bool) -> None:
    sizes = [100_000] * 4 if equal else [5_000, 50_000, 500_000, 5_000_000]
    rows = [(i, 2, size, 0, size * slowdown, size, size * slowdown, 1) for i, size in enumerate(sizes)]
    rows[-1] = (3, 2, sizes[-1], 0, -1, sizes[-1], -1, 0)
    (folder / "flows.csv").write_text(csv_text(FLOWS, rows))
    cdf = [(9, 2, 1000 * i * slowdown, (i + 1) / 50) for i in range(50)]
    (folder / "queue_cdf.csv").write_text(csv_text(("node", "port", "bytes", "cdf"), cdf))
    if not with_series:
        return
    series: list[tuple[float, str, str, float]] = []
    series += [(1000.0 * i, "queue", "9:2", 500.0 * (i % 20)) for i in range(200)]
    series += [(1000.0 * i, "rate", str(flow), 1e9 * (1 + i % 7)) for flow in range(4) for i in range(50)]
    (folder / "series.csv").write_text(csv_text(("t_ns", "kind", "id", "value"), series))
