# SPDX-License-Identifier: GPL-2.0-or-later
"""A benchmark's results as pandas data frames, a row for each cell or flow; readers of a cell's CSVs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ns3_env.config.files import write_atomically
from ns3_env.config.folders import refuse_link
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.folder import SUITE, BenchFolder, Cell
from ns3_env.eval.benchmark.suite import SuiteScenario
from ns3_env.eval.episodes.entry import Entry
from ns3_env.eval.episodes.results import METRICS_FILE
from ns3_env.eval.metrics import METRICS
from ns3_env.eval.output.table import import_extra, read_csv
from ns3_env.simulator.results import Floats

if TYPE_CHECKING:
    import pandas

#: Columns of every cell, before the parameters of the grid and the metrics.
CELL_COLUMNS = ("suite", "scenario", "scenario_family", "group", "controller", "controller_family", "seed")
#: Columns that say whose a flow is, before those of flows.csv.
FLOW_KEYS = ("scenario", "controller", "seed", "flow")
FILE = "results.parquet"
#: kind -> id -> (times in ns, values), as in series.csv.
Series = dict[str, dict[str, tuple[Floats, Floats]]]
#: Columns of flows.csv that are -1 where a flow did not finish, or has no RTT.
_MAY_LACK = ("fct_ns", "end_ns", "rtt_mean_ns", "rtt_p50_ns", "rtt_p99_ns", "rtt_max_ns")


def load_results(folder: str | Path) -> pandas.DataFrame:
    """The complete cells of a benchmark's or a sweep's folder, a row each, in the suite's order; or the
    episodes of a folder of ``eval run``.

    Columns: ``suite``, ``scenario``, ``scenario_family``, ``group``, ``controller``, ``controller_family``,
    ``seed``; one for each parameter of a grid (``traffic.load``, ``hpcc.Eta``; NaN where a row is not of it);
    one for each metric (NaN where the cell does not define it), whose units are in ``attrs["units"]``. A
    family is the name that the entries of one grid have in the suite, remote the name itself.

    Args:
        folder: that ``eval benchmark`` left, complete or not (stale cells are left out), or the ``--out`` of
            ``eval run``.

    Raises:
        ConfigError: pandas is not installed.
        ScenarioError: the folder is none of those, or a cell cannot be read.
    """
    import_extra("pandas")
    if cells := _episodes(Path(folder)):
        return frame_of(cells)
    return _frame(BenchFolder.read(Path(folder)))


def frame_of(cells: Sequence[Cell]) -> pandas.DataFrame:
    """Cells that no suite names as a frame with the columns of ``load_results``, in their order."""
    keys = [("", x.scenario, x.scenario, "", x.controller, x.controller, x.seed) for x in cells]
    rows = [
        {**dict(zip(CELL_COLUMNS, key, strict=True)), **x.metrics} for key, x in zip(keys, cells, strict=True)
    ]
    return _of_rows(rows, (), cells)


def _episodes(folder: Path) -> list[Cell]:
    """The episodes that ``eval run`` left in a folder; none where it is a benchmark's, or nothing."""
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


def _frame(folder: BenchFolder) -> pandas.DataFrame:
    """See ``load_results``."""
    scenarios = {entry.name: entry for entry in folder.suite.scenarios}
    controllers = {entry.name: entry for entry in folder.suite.controllers}
    parameters = list(
        dict.fromkeys(
            [key for entry in folder.suite.scenarios for key in entry.parameters]
            + [key for entry in folder.suite.controllers for key in _attributes(entry)]
        )
    )
    rows = [
        _row(folder, cell, scenarios[cell.scenario], controllers[cell.controller]) for cell in folder.cells
    ]
    return _of_rows(rows, parameters, folder.cells)


def _of_rows(
    rows: Sequence[Mapping[str, Any]], parameters: Sequence[str], cells: Sequence[Cell]
) -> pandas.DataFrame:
    """The frame of these rows; metrics of sections are there where a cell has them."""
    pandas = import_extra("pandas")
    metrics = [
        name
        for name, metric in METRICS.items()
        if not metric.section or any(name in cell.metrics for cell in cells)
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
    pandas = import_extra("pandas")
    cells = _episodes(Path(folder)) or BenchFolder.read(Path(folder)).cells
    several = [_flows_of(pandas, cell) for cell in cells]
    return pandas.concat(several, ignore_index=True) if several else pandas.DataFrame(columns=[*FLOW_KEYS])


@dataclass(frozen=True)
class Flows:
    """The flows of one cell: sizes (bytes), ends (ns) and slowdowns, (n,) each; NaN where one did not end.

    Sizes are NaN of flows that never end. With a measurement window, slowdowns are NaN, too, of flows that
    start outside.
    """

    sizes: Floats
    ends: Floats
    slowdowns: Floats


def read_flows(cell: Cell) -> Flows:
    """Reads a cell's flows.csv. Raises ScenarioError."""
    columns = ("size_bytes", "fct_ns", "standalone_ns", "end_ns")
    frame = read_csv(cell.folder / "flows.csv", columns, ("counted", "endless"))
    frame = frame.assign(**{"counted": 1.0, "endless": 0.0, **frame})
    counts = (frame["fct_ns"] >= 0) & (frame["counted"] > 0)
    sizes = frame["size_bytes"].where(frame["endless"] == 0)
    slowdowns = (frame["fct_ns"] / frame["standalone_ns"]).where(counts)
    ends = frame["end_ns"].where(frame["end_ns"] >= 0)
    return Flows(*(column.to_numpy() for column in (sizes, ends, slowdowns)))


def read_losses(cell: Cell) -> pandas.DataFrame | None:
    """Reads a cell's losses.csv: ``node``, ``port``, ``peer``, ``cause``, ``packets`` and ``payload_bytes``
    that one port lost by one cause; None where nothing was lost. Raises ScenarioError."""
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
    """Reads a cell's series.csv; empty where it has none. Raises ScenarioError."""
    path = cell.folder / "series.csv"
    series: Series = {}
    if path.is_file():
        frame = read_csv(path, ("kind", "id", "t_ns", "value"), text=("kind", "id"))
        for (kind, name), rows in frame.groupby(["kind", "id"], sort=False):
            series.setdefault(kind, {})[name] = rows["t_ns"].to_numpy(), rows["value"].to_numpy()
    return series


def write_results(folder: BenchFolder) -> Path:
    """Writes ``load_results`` into the folder, as ``results.parquet``. Raises as it does; needs pyarrow."""
    target = folder.path / FILE
    refuse_link(target)
    import_extra("pyarrow")
    write_atomically(target, _frame(folder).to_parquet(None, index=False, engine="pyarrow"))
    return target


def lacking() -> str | None:
    """Why a report has no ``results.parquet``: what is not installed; None where nothing lacks."""
    try:
        import_extra("pandas")
        import_extra("pyarrow")
    except ConfigError as error:
        return f"no {FILE}: {error}"
    return None


def _row(folder: BenchFolder, cell: Cell, scenario: SuiteScenario, entry: Entry) -> dict[str, Any]:
    suite = folder.suite.title or Path(folder.source or folder.path.name).stem
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
            if name not in frame and name != "fct_ns":
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
