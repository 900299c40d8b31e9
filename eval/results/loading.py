# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads results that a command wrote into a folder: of episodes, flows, ports, classes, groups, jobs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ns3_env.config.command_line import import_extra
from ns3_env.config.model import nearest
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.folder import SUITE, BenchFolder, Cell
from ns3_env.eval.episodes.results import METRICS_FILE
from ns3_env.eval.output.results import CSV, Results, Row, read_rows, rows_of
from ns3_env.eval.output.table import RUN_AGAIN

if TYPE_CHECKING:
    import pandas

#: Columns that identify a flow, before those of flows.csv.
FLOW_KEYS = ("scenario", "controller", "seed", "flow")
#: Columns of flows.csv that are -1 if a flow did not finish, or has no RTT.
_MAY_LACK = ("fct_ns", "end_ns", "rtt_mean_ns", "rtt_p50_ns", "rtt_p99_ns", "rtt_max_ns")
#: Parts of an episode: the file that lists them, and its columns that name one.
_PARTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "flow": ("flows.csv", ()),
    "port": ("queues.csv", ("node", "port", "peer")),
    "class": ("classes.csv", ("name", "node", "port", "peer")),
    "group": ("groups.csv", ("group",)),
    "job": ("jobs.csv", ("job", "iteration", "part")),
}


def load_results(folder: str | Path, of: str = "episode") -> Results:
    """Loads the results that a command wrote into a folder.

    Args:
        folder: folder of ``eval run``, of ``benchmark`` (a suite, a sweep, tasks; complete or not, without
            stale cells), ``paper`` or ``compare published``, or of a training run.
        of: measured part: "episode", or, for each episode of a run or a benchmark, "flow", "port", "class",
            "group" or "job".

    Returns:
        A number in each row, in the folder's order.

    Raises:
        ConfigError: pandas is not installed, or the folder has nothing of that kind.
        ScenarioError: the folder has no results, or a file cannot be read.
    """
    path = Path(folder)
    if of != "episode" and of not in _PARTS:
        raise ConfigError(
            f"load_results: of={of!r}: expected episode, {', '.join(_PARTS)}{nearest(of, list(_PARTS))}"
        )
    if (path / SUITE).exists():
        return results_in(BenchFolder.read(path), of)
    for place in (path, path / "evaluation"):
        if of == "episode" and (place / CSV).exists():
            return read_rows(place).select(of="")
    if cells := episodes_in(path):
        return _table(cells, None, of)
    if (path / CSV).exists():
        raise ConfigError(f"load_results: of={of!r}: {path / CSV} has numbers of whole episodes only")
    raise ScenarioError(
        f"{path}: no results here: expected the folder of eval run, benchmark, paper or compare published, "
        "or of a training run"
    )


def results_in(folder: BenchFolder, of: str = "episode") -> Results:
    """The results of a suite's complete cells; see :func:`load_results`."""
    return _table(folder.cells, folder, of)


def _table(cells: Sequence[Cell], folder: BenchFolder | None, of: str) -> Results:
    """The table of these cells; of a suite with the columns that identify its points."""
    results = Results.of_rows(row for cell in cells for row in _rows(cell, of))
    if folder is None:
        return results
    names = {(cell.scenario, cell.controller): _point(folder, cell) for cell in cells}
    pandas = import_extra("pandas")
    columns = list(dict.fromkeys(name for point in names.values() for name in point))
    points = pandas.DataFrame(
        [names[key] for key in zip(results.table["scenario"], results.table["entry"], strict=True)],
        columns=columns,
    )
    for name in columns:  # "auto" next to 5: a column has one type of values
        if points[name].map(type).isin([str]).any():
            points[name] = points[name].map(str, na_action="ignore")
    return Results(pandas.concat([results.table, points], axis=1))


def _rows(cell: Cell, of: str) -> Iterator[Row]:
    """Yields the rows of an episode: of its metrics, or of the parts that a file of it lists."""
    if of == "episode":
        yield from rows_of(cell.controller, cell.scenario, cell.seed, cell.metrics)
        return
    file, keys = _PARTS[of]
    if not (cell.folder / file).exists():
        return
    frame = _flows(cell) if of == "flow" else _read(cell.folder / file)
    for number, row in enumerate(frame.to_dict("records")):
        place = {key: row.pop(key) for key in keys}
        name = _part_name(of, place) if place else f"{of} {number}"
        numbers = {key: float(x) for key, x in row.items() if isinstance(x, bool | int | float)}
        yield from rows_of(cell.controller, cell.scenario, cell.seed, numbers, name)


def _part_name(of: str, place: Mapping[str, Any]) -> str:
    """Names a part: "port 4:1", "class bulk, port 4:1", "group web", "job 0, iteration 2, all_reduce"."""
    words = [f"{of} {place[of]}"] if of in ("group", "job") else []
    words += [f"class {place['name']}"] if "name" in place else []
    words += [f"port {place['node']}:{place['port']}"] if "port" in place else []
    words += [f"iteration {place['iteration']}"] if "iteration" in place else []
    words += [str(place["part"])] if isinstance(place.get("part"), str) else []
    return ", ".join(words)


def episodes_in(folder: Path) -> list[Cell]:
    """Reads the episodes that ``eval run`` wrote into a folder; other folders have none.

    Raises ScenarioError if one cannot be read.
    """
    if (folder / SUITE).exists():
        return []
    cells = []
    for file in sorted((*folder.glob(f"*/{METRICS_FILE}"), *folder.glob(f"*/seed-*/{METRICS_FILE}"))):
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            whose = {name: content[name] for name in ("scenario", "controller", "seed")}
            metrics = {name: math.nan if x is None else float(x) for name, x in content["metrics"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise ScenarioError(f"{file}: not an episode's metrics: run it again") from None
        cells.append(Cell(**whose, folder=file.parent, metrics=metrics, fingerprint="", seconds=math.nan))
    return cells


def load_flows(folder: str | Path) -> pandas.DataFrame:
    """The flows of all complete cells, a row each.

    Columns: ``scenario``, ``controller``, ``seed``, ``flow`` (its number in the cell), those of flows.csv,
    ``counted`` (False for flows outside the scenario's measurement), ``endless`` (True for flows without an
    end), and ``slowdown``. ``fct_ns``, ``end_ns`` and ``slowdown`` are NaN and ``finished`` is False if
    the time limit came first, or the flow is endless.

    Args:
        folder: see ``load_results``.

    Raises:
        ConfigError: pandas is not installed.
        ScenarioError: the folder is no benchmark's, or a file cannot be read; names it.
    """
    pandas = import_extra("pandas")
    cells = episodes_in(Path(folder)) or BenchFolder.read(Path(folder)).cells
    several = [_flows_of(cell) for cell in cells]
    return pandas.concat(several, ignore_index=True) if several else pandas.DataFrame(columns=[*FLOW_KEYS])


def _point(folder: BenchFolder, cell: Cell) -> dict[str, Any]:
    """The columns that identify a cell's point of a suite."""
    case, entry = folder.suite.scenario(cell.scenario), folder.suite.entry(cell.controller)
    suite = folder.suite.title or Path(folder.source or folder.path.name).stem
    names = {"suite": suite, "group": case.group, "scenario_family": case.of, "entry_family": entry.of}
    attributes = {f"{entry.of}.{key}": value for key, value in entry.parameters.items()}  # "hpcc.Eta"
    return {**names, **case.parameters, **attributes}


def _read(path: Path) -> pandas.DataFrame:
    """Reads a CSV of an episode. Raises ScenarioError."""
    try:
        frame: pandas.DataFrame = import_extra("pandas").read_csv(path)
        return frame
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{path}: {error}; {RUN_AGAIN}") from None


def _flows(cell: Cell) -> pandas.DataFrame:
    """Reads the flows of an episode, with ``slowdown``; NaN for undefined times."""
    path = cell.folder / "flows.csv"
    frame = _read(path)
    try:
        for name in (name for name in _MAY_LACK if name in frame or name == "fct_ns"):
            frame[name] = frame[name].astype("float64").where(frame[name] >= 0)
        frame["finished"] = frame["finished"].astype(bool)
        frame["counted"] = frame["counted"].astype(bool) if "counted" in frame else True
        frame["endless"] = frame["endless"].astype(bool) if "endless" in frame else False
        frame["slowdown"] = frame["fct_ns"] / frame["standalone_ns"]
    except (ValueError, KeyError) as error:
        raise ScenarioError(f"{path}: {error}; {RUN_AGAIN}") from None
    return frame


def _flows_of(cell: Cell) -> pandas.DataFrame:
    """The flows of an episode, after the columns that identify them."""
    frame = _flows(cell)
    keys = (cell.scenario, cell.controller, cell.seed, range(len(frame)))
    for place, (name, value) in enumerate(zip(FLOW_KEYS, keys, strict=True)):
        frame.insert(place, name, value)
    return frame
