# SPDX-License-Identifier: GPL-2.0-or-later
"""Folder of a benchmark: the resolved suite, errors, a folder for each cell with metrics and CSVs."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ns3_env.agents.configuration.run_folder import versions
from ns3_env.config.command_line import typed
from ns3_env.config.files import read_text, write_atomically
from ns3_env.config.folders import LOCK, refuse_links
from ns3_env.config.yaml import fault_text, parse, to_text
from ns3_env.errors import ScenarioError, SimulatorNotFound
from ns3_env.eval.benchmark.suite import LABELS, Suite
from ns3_env.eval.episodes.entry import Entry
from ns3_env.eval.metrics import own_metrics, own_sources
from ns3_env.eval.output.table import RUN_AGAIN, read_csv
from ns3_env.programs.transport import TRANSPORTS, Transport, other
from ns3_env.scenario import Scenario
from ns3_env.simulator import find_executable
from ns3_env.simulator.results import Floats

if TYPE_CHECKING:
    import pandas

#: Layout of the folder; another number is another layout.
FORMAT = 1
#: Scenario, controller and seed name a cell.
Key = tuple[str, str, int]
SUITE = "suite.yaml"
_SEED = re.compile(r"seed-(\d+)")


@dataclass(frozen=True)
class Cell:
    """One complete cell. ``metrics`` are those of ``eval/metrics``; NaN if undefined."""

    scenario: str
    controller: str
    seed: int
    folder: Path
    metrics: dict[str, float]
    fingerprint: str = ""
    seconds: float = math.nan

    @property
    def key(self) -> Key:
        """(scenario, controller, seed)."""
        return self.scenario, self.controller, self.seed


@dataclass(frozen=True)
class BenchFolder:
    """A benchmark's folder as it is now.

    Attributes:
        path: the folder.
        suite: the suite, complete or not.
        cells: complete cells of this suite, in its order.
        missing: cells of the suite that are neither complete nor failed, in its order.
        failed: why a cell failed, by (scenario, controller, seed).
        stale: cells of another suite, scenario, controller, simulator or version; never to be averaged.
        versions: versions of the packages and the simulator that ``cells`` ran with.
        command: arguments of the command that wrote the folder.
        source: path of the suite's file.
    """

    path: Path
    suite: Suite
    cells: list[Cell]
    missing: list[Key] = field(default_factory=list)
    failed: dict[Key, str] = field(default_factory=dict)
    stale: list[Cell] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    source: str = ""

    @property
    def complete(self) -> bool:
        """Nothing is missing or failed."""
        return not self.missing and not self.failed

    def cells_of(self, scenario: str, entry: str) -> list[Cell]:
        """Complete cells of an entry in a scenario, in the order of the seeds."""
        return [x for x in self.cells if (x.scenario, x.controller) == (scenario, entry)]

    @classmethod
    def read(cls, path: Path) -> BenchFolder:
        """The folder's suite and cells. Raises ScenarioError with the fault and its remedy."""
        suite, head = read_suite(path)
        complete: dict[Key, Cell] = {}
        stale = []
        fingerprints = {
            (case.name, entry.name, seed): fingerprint(case.scenario, entry, seed, head["versions"])
            for case, entry, seed in suite.cells()
        }
        for cell in _cells_in(path):
            if fingerprints.get(cell.key) == cell.fingerprint:
                complete[cell.key] = cell
            else:
                stale.append(cell)
        failed = {}
        for key in fingerprints:
            report = failure_file(path, *key)
            if key not in complete and report.exists():
                failed[key] = report.read_text(encoding="utf-8")
        return cls(
            path=path,
            suite=suite,
            cells=[complete[key] for key in fingerprints if key in complete],
            missing=[key for key in fingerprints if key not in complete and key not in failed],
            failed=failed,
            stale=stale,
            versions=head["versions"],
            command=head["command"],
            source=head["source"],
        )


def cell_folder(path: Path, scenario: str, controller: str, seed: int) -> Path:
    """Returns the folder of a cell that is complete."""
    return path / "cells" / scenario / controller / f"seed-{seed}"


def failure_file(path: Path, scenario: str, controller: str, seed: int) -> Path:
    """Returns the file with the error of a cell that failed."""
    return path / "failed" / scenario / controller / f"seed-{seed}.txt"


def fingerprint(scenario: Scenario, entry: Entry, seed: int, used: Mapping[str, str]) -> str:
    """Hash of all that a cell's result depends on: scenario, controller, seed, versions, and the layout.

    A plugin's content is part of it if a controller of the cell came from there, a simulator if it is
    the one of the scenario's transport.
    """
    names = {entry.controller, *(controller.name for controller in scenario.controllers)}
    others = [key for key in used if key.startswith("plugin ") and key.removeprefix("plugin ") not in names]
    others.append(_program(other(scenario.transport)))
    content = {
        "format": FORMAT,
        # Without its seed, as the suite has the seeds, and a film's samples, whose choice changes no result.
        "scenario": scenario.model_dump(mode="json", exclude={"seed": True, "record": {"film_ns"}}),
        "controller": entry.model_dump(mode="json", exclude=set(LABELS)),
        "seed": seed,
        "versions": {key: value for key, value in used.items() if key not in others},
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def versions_in_use() -> dict[str, str]:
    """Versions of the packages a result depends on; hashes of the simulator and of the metrics' definitions,
    which change between versions during development; hashes of plugins, and of the user's own metrics."""
    metric_sources = {"own metrics": own_sources()} if own_metrics() else {}
    return {**versions(), **_hashes(), **metric_sources}


@functools.cache
def _hashes() -> dict[str, str]:
    programs = {}
    for transport in TRANSPORTS:
        with contextlib.suppress(SimulatorNotFound):  # running its scenarios will report it
            content = find_executable(transport).read_bytes()
            programs[_program(transport)] = hashlib.sha256(content).hexdigest()[:16]
    metrics = hashlib.sha256()
    for file in sorted((Path(__file__).parents[1] / "metrics").glob("*.py")):
        metrics.update(file.read_bytes())
    return {**programs, "metrics": metrics.hexdigest()[:16]}


def _program(transport: Transport) -> str:
    return f"{transport}-sim"


def claim(path: Path) -> None:
    """Makes the folder, if it does not exist. Raises ScenarioError if it exists and is not a benchmark's."""
    if path.exists() and not path.is_dir():
        raise ScenarioError(f"--out: {path} is a file; name a folder")
    others = sorted(x.name for x in path.iterdir() if x.name != LOCK) if path.is_dir() else []
    if others and not (path / SUITE).exists():
        raise ScenarioError(
            f"--out: {path} holds {others[0]} and no {SUITE}, so it is no benchmark's folder: name another"
        )
    refuse_links(path)
    path.mkdir(parents=True, exist_ok=True)


def write_suite(path: Path, suite: Suite, command: Sequence[str]) -> None:
    """Writes suite.yaml, with the versions in use: complete or not there."""
    content = {
        "format": FORMAT,
        "source": suite.source,
        "command": list(command),
        "versions": versions_in_use(),
        **suite.model_dump(mode="json"),
    }
    write_atomically(path / SUITE, to_text(content))


def read_suite(path: Path) -> tuple[Suite, dict[str, Any]]:
    """The suite, and the metadata around it (versions, command, source). Raises ScenarioError."""
    how = f"`{typed('eval')} benchmark SUITE --out FOLDER` writes one"
    try:
        data = parse(read_text(path / SUITE))
    except OSError as error:
        raise ScenarioError(f"{path}: not a benchmark's folder: {SUITE}: {error.strerror}; {how}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ScenarioError(fault_text(path / SUITE, error)) from None
    if not isinstance(data, dict) or "format" not in data:
        raise ScenarioError(f"{path / SUITE}: no key 'format': not a benchmark's folder; {how}")
    if data["format"] != FORMAT:
        raise ScenarioError(
            f"{path / SUITE}: format {data['format']}, written by another version; this one reads {FORMAT}: "
            "run the benchmark into a new folder"
        )
    kinds: dict[str, type] = {"versions": dict, "command": list, "source": str}
    head: dict[str, Any] = {}
    for key, kind in kinds.items():
        head[key] = data.get(key, kind())
        if not isinstance(head[key], kind):
            raise ScenarioError(f"{path / SUITE}: {key}: must be a {kind.__name__}")
    rest = {key: value for key, value in data.items() if key not in (*kinds, "format")}
    return Suite.from_mapping(rest, str(path / SUITE), path), head


def _cells_in(path: Path) -> list[Cell]:
    """Every complete cell, of any suite. Raises ScenarioError for one that cannot be read."""
    cells = []
    for file in sorted(path.glob("cells/*/*/seed-*/metrics.json")):
        match = _SEED.fullmatch(file.parent.name)
        if match is None:
            continue
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            metrics = {
                str(name): math.nan if value is None else float(value)
                for name, value in content["metrics"].items()
            }
            cells.append(
                Cell(
                    scenario=file.parent.parent.parent.name,
                    controller=file.parent.parent.name,
                    seed=int(match[1]),
                    folder=file.parent,
                    metrics=metrics,
                    fingerprint=str(content["fingerprint"]),
                    seconds=float(content["seconds"]),
                )
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise ScenarioError(
                f"{file}: not a cell's metrics; remove {file.parent} and run the benchmark again"
            ) from None
    return cells


#: kind -> id -> (times in ns, values), as in series.csv.
Series = dict[str, dict[str, tuple[Floats, Floats]]]


@dataclass(frozen=True)
class Flows:
    """The flows of one cell: sizes (bytes), ends (ns) and slowdowns, (n,) each; NaN if one did not end.

    Sizes of endless flows are NaN. With a measurement window, slowdowns are also NaN for flows that
    start outside.
    """

    sizes: Floats
    ends: Floats
    slowdowns: Floats


def read_flows(cell: Cell) -> Flows:
    """Reads a cell's flows.csv. Raises ScenarioError."""
    return flows_in(cell.folder / "flows.csv")


def flows_in(path: Path, hint: str = RUN_AGAIN) -> Flows:
    """Reads a table of flows. Raises ScenarioError, with a ``hint``."""
    columns = ("size_bytes", "fct_ns", "standalone_ns", "end_ns")
    frame = read_csv(path, columns, ("counted", "endless"), hint=hint)
    frame = frame.assign(**{"counted": 1.0, "endless": 0.0, **frame})
    counts = (frame["fct_ns"] >= 0) & (frame["counted"] > 0)
    sizes = frame["size_bytes"].where(frame["endless"] == 0)
    slowdowns = (frame["fct_ns"] / frame["standalone_ns"]).where(counts)
    ends = frame["end_ns"].where(frame["end_ns"] >= 0)
    return Flows(*(column.to_numpy() for column in (sizes, ends, slowdowns)))


def read_losses(cell: Cell) -> pandas.DataFrame | None:
    """Reads a cell's losses.csv: ``node``, ``port``, ``peer``, ``cause``, ``packets`` and ``payload_bytes``
    that one port lost by one cause; None without losses. Raises ScenarioError."""
    columns = ("node", "port", "peer", "cause", "packets", "payload_bytes")
    path = cell.folder / "losses.csv"
    return read_csv(path, columns, text=("cause",)) if path.is_file() else None


def read_queue_cdf(cell: Cell) -> tuple[str, Floats, Floats]:
    """Reads a cell's queue_cdf.csv: "node:port" of the bottleneck, lengths in bytes ascending, (n,), and the
    share of time at or below each, (n,). Raises ScenarioError."""
    columns = ("node", "port", "bytes", "cdf")
    frame = read_csv(cell.folder / "queue_cdf.csv", columns, text=("node", "port"))
    port = f"{frame['node'][0]}:{frame['port'][0]}" if len(frame) else ""
    return port, frame["bytes"].to_numpy(), frame["cdf"].to_numpy()


def read_series(cell: Cell) -> Series:
    """Reads a cell's series.csv; empty without one. Raises ScenarioError."""
    path = cell.folder / "series.csv"
    series: Series = {}
    if path.is_file():
        frame = read_csv(path, ("kind", "id", "t_ns", "value"), text=("kind", "id"))
        for (kind, name), rows in frame.groupby(["kind", "id"], sort=False):
            series.setdefault(kind, {})[name] = rows["t_ns"].to_numpy(), rows["value"].to_numpy()
    return series
