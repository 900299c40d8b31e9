# SPDX-License-Identifier: GPL-2.0-or-later
"""What the dashboard's page knows of runs, read from their folders again and again."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ConfigError
from ns3_env.eval.training.progress_file import COUNTS, read_progress

#: Budgets of a run: sections and keys of its configuration, and what they count.
_BUDGETS = (("train", "decisions"), ("search", "decisions"), ("search", "trials"))


def find_runs(paths: Sequence[Path]) -> list[Path]:
    """The runs that paths stand for: a run's folder for itself, another one for the runs in it, oldest first.

    Raises ConfigError where a path is neither.
    """
    found: list[Path] = []
    for path in paths:
        runs = [path] if _is_run(path) else _runs_in(path)
        if not runs:
            raise ConfigError(
                f"{path}: neither the folder of a training run nor one that has such folders; train.py makes "
                "them in runs/"
            )
        found += runs
    return list(dict.fromkeys(found))


def _is_run(path: Path) -> bool:
    return (path / "config.yaml").is_file() and (path / "curriculum.yaml").is_file()


def _runs_in(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    return sorted(filter(_is_run, path.iterdir()), key=lambda run: _stamp(run / "config.yaml"))


class Follower:
    """Reads runs again and again: a run whose log has not changed costs nothing."""

    def __init__(self) -> None:
        self._logs: dict[Path, _Log] = {}
        self._lock = Lock()

    def state(
        self, runs: Sequence[Path], known: Mapping[str, tuple[int, int]] | None = None
    ) -> list[dict[str, Any]]:
        """Each run as JSON has it: its head, and those rows of its log that the page does not have.

        Args:
            runs: their folders.
            known: of each run by its name how many rows the page has, and of which ``edition``.

        Returns:
            For each run "name" (of its folder; its path, where another has that name), "columns", "edition"
            of its rows (another one where not only rows were added), "from" (of the first row that is sent),
            "rows" (None where a row has no value), and what ``_head`` says.
        """
        names = [run.name for run in runs]
        named = [run.name if names.count(run.name) == 1 else str(run) for run in runs]
        with self._lock:
            pairs = zip(runs, named, strict=True)
            return [self._state(run, name, (known or {}).get(name, (0, 0))) for run, name in pairs]

    def _state(self, run: Path, name: str, known: tuple[int, int]) -> dict[str, Any]:
        stamps = tuple((str(file), _stamp(file)) for file in sorted(run.glob("progress*.csv")))
        log = self._logs.get(run)
        if log is None or log.stamps != stamps:
            log = self._logs[run] = _read(run, stamps, log)
        count, edition = known
        count = count if edition == log.edition and count <= len(log.rows) else 0
        return {
            **_head(run, log),
            "name": name,
            "columns": log.columns,
            "edition": log.edition,
            "from": count,
            "rows": log.rows[count:],
        }


@dataclass(frozen=True)
class _Log:
    """Rows of a run's log as they were when its files had these times and sizes."""

    stamps: tuple[Any, ...]
    edition: int
    columns: list[str]
    rows: list[list[float | None]]


def _read(run: Path, stamps: tuple[Any, ...], before: _Log | None) -> _Log:
    table = read_progress(run)
    columns = list(dict.fromkeys(name for row in table for name in row))
    rows = [[_json(row.get(name)) for name in columns] for row in table]
    goes_on = before is not None and before.columns == columns and before.rows == rows[: len(before.rows)]
    # No number that another server has given: a page outlives it.
    edition = before.edition if before is not None and goes_on else time.time_ns() // 1000
    return _Log(stamps, edition, columns, rows)


def _json(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def _head(run: Path, log: _Log) -> dict[str, Any]:
    """Keys "agent", "seed", "budget" and what it "counts", names of "stages", "age_s" of the newest row, how
    much the newest checkpoint has "kept" of what the budget counts, and "counted": the column along which
    curves are drawn."""
    config = _mapping(run / "config.yaml", *_stamp(run / "config.yaml"))
    curriculum = _mapping(run / "curriculum.yaml", *_stamp(run / "curriculum.yaml"))
    found = [(_at(config, *keys), keys[1]) for keys in _BUDGETS]
    known = [(value, what) for value, what in found if isinstance(value, int)]
    budget, counts = known[0] if known else (None, "decisions")
    stages = curriculum.get("stages")
    newest = max((stamp for _, (stamp, _) in log.stamps), default=0.0)
    return {
        "agent": _at(config, "agent", "name") or _at(config, "controller", "name") or config.get("kind"),
        "seed": config.get("seed"),
        "budget": budget,
        "counts": counts,
        "stages": [str(_at(x, "name")) for x in stages] if isinstance(stages, list) else [],
        "age_s": None if newest == 0.0 else max(time.time() - newest, 0.0),
        "kept": max((int(folder.name) for folder in RunFolder(run).kept()), default=None),
        "counted": next((name for name in COUNTS if name in log.columns), None),
    }


def _at(mapping: Any, *keys: str) -> Any:
    """A value within sections; None where there is none."""
    for key in keys:
        mapping = mapping.get(key) if isinstance(mapping, Mapping) else None
    return mapping


def _stamp(file: Path) -> tuple[float, int]:
    """When it was written, and its bytes; zeros where it is not there."""
    try:
        found = file.stat()
    except OSError:
        return 0.0, 0
    return found.st_mtime, found.st_size


@lru_cache(maxsize=256)
def _mapping(file: Path, *stamp: float) -> dict[str, Any]:
    """A file's keys and values; none where it cannot be read. ``stamp``: of the content."""
    try:
        return read_mapping(file)
    except ConfigError:
        return {}
