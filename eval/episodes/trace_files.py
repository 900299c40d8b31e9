# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a trace: the figure of a run's series over time, and the series as Parquet."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ns3_env.config.files import write_file
from ns3_env.eval.episodes.series import COLUMNS, recorded_series
from ns3_env.eval.episodes.trace import draw, separately
from ns3_env.eval.output.files import FOLDER, save
from ns3_env.eval.output.plots import for_paper, picture

Results = Mapping[str, Any]

#: Columns with fractions; of the others, "name" is text and the rest whole numbers.
_REAL = {"t_ns", "time_ns", "window_bytes", "rate_bps", "value"}


@dataclass(frozen=True)
class TraceFiles:
    """trace.png, a Parquet file for each series where pyarrow is installed, and each panel by itself.

    Attributes:
        formats: of the panels' own files, in the folder ``figures``.
    """

    formats: Sequence[str] = ()
    files: Sequence[str] = ("trace.png", FOLDER, *(f"{name}.parquet" for name in COLUMNS))

    def write(self, folder: Path, results: Results, title: str) -> None:
        """Writes them into a run's folder; ``results`` has windows, events, states and queue series."""
        if importlib.util.find_spec("pyarrow") is not None:
            _write_parquet(folder, results)
        write_file(folder / "trace.png", picture(draw(results, title), "png"))
        if self.formats:
            with for_paper():
                for name, figure in separately(results):
                    save(figure, folder / FOLDER, name, self.formats)


def _write_parquet(folder: Path, results: Results) -> None:
    """A Parquet file beside each series' CSV."""
    import pyarrow
    from pyarrow import parquet

    def kind(column: str) -> pyarrow.DataType:
        text = pyarrow.string() if column == "name" else pyarrow.int64()
        return pyarrow.float64() if column in _REAL else text

    for series, rows in recorded_series(results).items():
        columns = COLUMNS[series]
        values = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        table = {
            name: pyarrow.array(column, kind(name)) for name, column in zip(columns, values, strict=True)
        }
        parquet.write_table(pyarrow.table(table), folder / f"{series}.parquet")
