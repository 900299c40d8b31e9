# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of every command as one table: a row for each entry, scenario, seed and metric."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ns3_env.config.command_line import import_extra
from ns3_env.config.files import write_atomically
from ns3_env.config.folders import refuse_link
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.metrics import METRICS
from ns3_env.eval.output.table import csv_text, lacking, write_parquet

if TYPE_CHECKING:
    import pandas

#: Files of a folder with results: the same table twice.
CSV, PARQUET = "results.csv", "results.parquet"
#: Units of columns that are no metrics, by the end of their names.
_UNITS = {"_ns": "ns", "_bytes": "B", "_bps": "bit/s", "_us": "µs"}


class Row(NamedTuple):
    """One number.

    Attributes:
        entry: controller of the flows: a controller, a policy, an entry of a suite.
        scenario: the scenario's name.
        seed: seed of the scenario's flows.
        of: the part of the episode that is measured: "" (all of it), "flow 3", "port 4:1", "class bulk, port
            4:1", "group web", "job 0, iteration 2".
        metric: the metric's name.
        value: NaN if the episode does not define it.
        unit: "" of a ratio or a count.
    """

    entry: str
    scenario: str
    seed: int
    of: str
    metric: str
    value: float
    unit: str


def rows_of(entry: str, scenario: str, seed: int, values: Mapping[str, float], of: str = "") -> Iterator[Row]:
    """Yields a row for each metric of an episode, or of a part of it."""
    for name, value in values.items():
        yield Row(entry, scenario, seed, of, name, value, unit_of(name))


def unit_of(name: str) -> str:
    """The unit of a metric, or of a column of an episode's files."""
    if name in METRICS:
        return METRICS[name].unit
    return next((unit for end, unit in _UNITS.items() if name.endswith(end)), "")


@dataclass(frozen=True)
class Results:
    """Results of a command.

    Attributes:
        table: the columns of :class:`Row`; of a suite also ``suite``, ``group``, ``scenario_family``,
            ``entry_family`` and one for each parameter of a grid (``traffic.load``, ``hpcc.Eta``).
    """

    table: pandas.DataFrame

    @classmethod
    def of_rows(cls, rows: Iterable[Row]) -> Results:
        """Makes the table of rows. Raises ConfigError if pandas is not installed."""
        pandas = import_extra("pandas")
        return cls(pandas.DataFrame(list(rows), columns=[*Row._fields]).astype({"value": "float64"}))

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics, in their order."""
        return list(self.table["metric"].unique())

    def wide(self) -> pandas.DataFrame:
        """Returns a row for each episode (or part of one), a column for each metric; units are in
        ``attrs["units"]``."""
        pandas = import_extra("pandas")
        keys = [name for name in self.table if name not in ("metric", "value", "unit")]
        numbers: dict[int, dict[str, float]] = {}
        episode = self.table.groupby(keys, sort=False, dropna=False).ngroup()
        for place, name, value in zip(episode, self.table["metric"], self.table["value"], strict=True):
            numbers.setdefault(place, {})[name] = value
        first = self.table.loc[~episode.duplicated(), keys].reset_index(drop=True)
        values = pandas.DataFrame(list(numbers.values()), columns=self.metrics, dtype="float64")
        frame = pandas.concat([first, values], axis=1)
        units = self.table.drop_duplicates("metric").set_index("metric")["unit"]
        frame.attrs["units"] = {name: unit for name, unit in units.items() if unit}
        return frame

    def select(self, **parts: Any) -> Results:
        """Returns the rows of some entries, scenarios, seeds, metrics or parts: ``select(entry="hpcc")``,
        ``select(seed=range(1, 4))``.

        Raises:
            ConfigError: there is no such column.
        """
        table = self.table
        for name, values in parts.items():
            if name not in table:
                raise ConfigError(f"select: there is no column {name!r}: {', '.join(table)}")
            several = [values] if isinstance(values, str) or not isinstance(values, Iterable) else values
            table = table[table[name].isin(list(several))]
        return Results(table.reset_index(drop=True))

    def __getattr__(self, name: str) -> Any:
        """Asks the data frame that 0.2 returned, with a warning."""
        if name.startswith("_") or name == "table":
            raise AttributeError(name)
        return getattr(self._as_0_2(), name)

    def __getitem__(self, key: Any) -> Any:
        """A column of that data frame, with the same warning."""
        return self._as_0_2()[key]

    def _as_0_2(self) -> pandas.DataFrame:
        warnings.warn(
            "load_results returns Results since 0.3; 0.2's data frame is load_results(...).wide(), whose "
            "column 'entry' was 'controller'; this goes in 0.4",
            DeprecationWarning,
            stacklevel=3,
        )
        names = {"entry": "controller", "entry_family": "controller_family"}
        return self.wide().drop(columns="of").rename(columns=names)


def write_rows(folder: Path, rows: Iterable[Row]) -> None:
    """Writes rows into a folder as ``results.csv``, and as ``results.parquet`` if pandas and pyarrow are
    installed. Raises ScenarioError if a file is a symbolic link."""
    several = list(rows)
    for name in (CSV, PARQUET):
        refuse_link(folder / name)
    numbers = ((*row[:5], None if math.isnan(row.value) else repr(row.value), row.unit) for row in several)
    write_atomically(folder / CSV, csv_text(Row._fields, numbers))
    if lacking("pandas", "pyarrow") is None:
        write_parquet(Results.of_rows(several).table, folder / PARQUET)


def read_rows(folder: Path) -> Results:
    """Reads the ``results.csv`` of a folder.

    Raises:
        ConfigError: pandas is not installed.
        ScenarioError: the file cannot be read.
    """
    path, pandas = folder / CSV, import_extra("pandas")
    try:
        table = pandas.read_csv(path, dtype=str, keep_default_na=False)[[*Row._fields]]
        numbers = [float(text or "nan") for text in table["value"]]  # the very number that was written
        return Results(table.assign(seed=table["seed"].astype("int64"), value=numbers))
    except (OSError, ValueError, KeyError) as error:
        raise ScenarioError(f"{path}: no table of results: {error}") from None
