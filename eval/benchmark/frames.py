# SPDX-License-Identifier: GPL-2.0-or-later
"""A benchmark's results as pandas data frames: a row for each cell, or for each flow."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ns3_env.config.command_line import EXTRAS, install
from ns3_env.config.files import write_atomically
from ns3_env.config.folders import refuse_link
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.folder import BenchFolder, Cell
from ns3_env.eval.benchmark.suite import SuiteScenario
from ns3_env.eval.episodes.entry import Entry
from ns3_env.eval.metrics import METRICS

if TYPE_CHECKING:
    import pandas

#: Columns of every cell, before the parameters of the grid and the metrics.
CELL_COLUMNS = ("suite", "scenario", "scenario_family", "group", "controller", "controller_family", "seed")
#: Columns that say whose a flow is, before those of flows.csv.
FLOW_KEYS = ("scenario", "controller", "seed", "flow")
FILE = "results.parquet"
#: Columns of flows.csv that are -1 where a flow did not finish, or has no RTT.
_MAY_LACK = ("fct_ns", "end_ns", "rtt_mean_ns", "rtt_p50_ns", "rtt_p99_ns", "rtt_max_ns")


def load_results(folder: str | Path) -> pandas.DataFrame:
    """The complete cells of a benchmark's or a sweep's folder, a row each, in the suite's order.

    Columns: ``suite``, ``scenario``, ``scenario_family``, ``group``, ``controller``, ``controller_family``,
    ``seed``; one for each parameter of a grid (``traffic.load``, ``hpcc.Eta``; NaN where a row is not of it);
    one for each metric (NaN where the cell does not define it), whose units are in ``attrs["units"]``. A
    family is the name that the entries of one grid have in the suite, remote the name itself.

    Args:
        folder: that ``eval benchmark`` left, complete or not; stale cells are left out.

    Raises:
        ConfigError: pandas is not installed.
        ScenarioError: the folder is no benchmark's, or a cell cannot be read.
    """
    _pandas()
    return _frame(BenchFolder.read(Path(folder)))


def _frame(found: BenchFolder) -> pandas.DataFrame:
    """See ``load_results``."""
    pandas = _pandas()
    scenarios = {entry.name: entry for entry in found.suite.scenarios}
    controllers = {entry.name: entry for entry in found.suite.controllers}
    parameters = list(
        dict.fromkeys(
            [key for entry in found.suite.scenarios for key in entry.parameters]
            + [key for entry in found.suite.controllers for key in _attributes(entry)]
        )
    )
    rows = [_row(found, cell, scenarios[cell.scenario], controllers[cell.controller]) for cell in found.cells]
    metrics = [
        name
        for name, metric in METRICS.items()
        if not metric.section or any(name in cell.metrics for cell in found.cells)
    ]
    frame = pandas.DataFrame(rows, columns=[*CELL_COLUMNS, *parameters, *metrics])
    frame = frame.astype({"seed": "int64", **dict.fromkeys(metrics, "float64")})
    for name in parameters:  # "auto" beside 5: a column has one kind of values
        if frame[name].map(type).isin([str]).any():
            frame[name] = frame[name].map(str, na_action="ignore")
    frame.attrs["units"] = {name: METRICS[name].unit for name in metrics if METRICS[name].unit}
    return frame


def load_flows(folder: str | Path) -> pandas.DataFrame:
    """The flows of all complete cells, a row each.

    Columns: ``scenario``, ``controller``, ``seed``, ``flow`` (its number in the cell), those of flows.csv,
    ``counted`` (False of what the scenario's measurement leaves out), ``endless`` (True of flows without an
    end), and ``slowdown``. ``fct_ns``, ``end_ns`` and ``slowdown`` are NaN and ``finished`` is False where
    the time limit came first, or there is no end.

    Args:
        folder: as of ``load_results``.

    Raises:
        ConfigError: pandas is not installed.
        ScenarioError: the folder is no benchmark's, or a file cannot be read; names it.
    """
    pandas = _pandas()
    several = [_flows_of(pandas, cell) for cell in BenchFolder.read(Path(folder)).cells]
    return pandas.concat(several, ignore_index=True) if several else pandas.DataFrame(columns=[*FLOW_KEYS])


def write_results(found: BenchFolder) -> Path:
    """Writes ``load_results`` into the folder, as ``results.parquet``. Raises as it does; needs pyarrow."""
    target = found.path / FILE
    refuse_link(target)
    _module("pyarrow")
    write_atomically(target, _frame(found).to_parquet(None, index=False, engine="pyarrow"))
    return target


def lacking() -> str | None:
    """Why a report has no ``results.parquet``: what is not installed; None where nothing lacks."""
    try:
        _pandas()
        _module("pyarrow")
    except ConfigError as error:
        return f"no {FILE}: {error}"
    return None


def _row(found: BenchFolder, cell: Cell, scenario: SuiteScenario, entry: Entry) -> dict[str, Any]:
    suite = found.suite.title or Path(found.source or found.path.name).stem
    of = (suite, cell.scenario, scenario.of, scenario.group, cell.controller, entry.of, cell.seed)
    keys = dict(zip(CELL_COLUMNS, of, strict=True))
    return {**keys, **scenario.parameters, **_attributes(entry), **cell.metrics}


def _attributes(entry: Entry) -> dict[str, Any]:
    """The point of a controller's grid, as "hpcc.Eta"."""
    return {f"{entry.of}.{key}": value for key, value in entry.parameters.items()}


def _flows_of(pandas: Any, cell: Cell) -> Any:
    path = cell.folder / "flows.csv"
    try:
        frame = pandas.read_csv(path)
        for name in _MAY_LACK:
            if name not in frame and name.startswith("rtt_"):
                continue
            frame[name] = frame[name].astype("float64").where(frame[name] >= 0)
        frame["finished"] = frame["finished"].astype(bool)
        frame["counted"] = frame["counted"].astype(bool) if "counted" in frame else True
        frame["endless"] = frame["endless"].astype(bool) if "endless" in frame else False
        frame["slowdown"] = frame["fct_ns"] / frame["standalone_ns"]
    except (OSError, ValueError, KeyError) as error:
        raise ScenarioError(f"{path}: {error}; delete the cell's folder and run it again") from None
    keys = (cell.scenario, cell.controller, cell.seed, range(len(frame)))
    for place, (name, value) in enumerate(zip(FLOW_KEYS, keys, strict=True)):
        frame.insert(place, name, value)
    return frame


def _pandas() -> Any:
    return _module("pandas")


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ConfigError(f"results as data need {name}: {install(EXTRAS[name])}") from None
