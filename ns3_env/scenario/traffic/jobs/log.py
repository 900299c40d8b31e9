# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs of a cluster's jobs: arrival, GPUs, duration and model of each, from a CSV of any size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TextIO

import numpy as np

from ns3_env.config.command_line import import_extra
from ns3_env.config.files import LineFaults
from ns3_env.config.model import shown

if TYPE_CHECKING:
    import pandas

#: Names of each column: this project's, and those of public traces (docs/jobs.md); the first one counts.
COLUMNS: dict[str, tuple[str, ...]] = {
    "arrival": ("arrival_s", "submit_time", "submitted_time", "arrival_time", "start_time"),
    "gpus": ("gpus", "num_gpus", "num_gpu", "gpu_num", "plan_gpu"),
    "duration": ("duration_s", "duration", "run_time"),
    "begin": ("start_time",),
    "end": ("end_time",),
    "model": ("model", "model_name"),
    "instances": ("inst_num",),
}
MAX_JOBS = 100_000
#: A log is read some rows at a time, so it may be large.
_ROWS_AT_ONCE, _MAX_LOG_BYTES = 200_000, 1 << 40
_NOTHING = ("", "None", "NULL", "null", "NA", "nan", "NaN")


class LoggedJob(NamedTuple):
    """A job of a log; ``arrival_s`` in the log's own time, ``line`` in its file."""

    line: int
    arrival_s: float
    gpus: int
    duration_s: float
    model: str


@dataclass
class Log:
    """Jobs of a log that ran on GPUs, by arrival.

    Args:
        wrong: receives the faults of its rows.
        window: jobs that arrive from the first of these instants until before the second, in the log's
            own seconds; None: all.
        first: the first jobs of these; None: all.
        most: maximum number of jobs.
    """

    wrong: LineFaults
    window: tuple[float, float] | None = None
    first: int | None = None
    most: int = MAX_JOBS
    jobs: list[LoggedJob] = field(default_factory=list)
    #: Rows of the file, and those of jobs that had no GPU, or never ran.
    rows: int = 0
    idle_rows: int = 0
    #: Name of each column that is used.
    columns: dict[str, str] = field(default_factory=dict)
    _span_s: tuple[float, float] = (math.inf, -math.inf)

    @property
    def begin_s(self) -> float:
        """Instant at which the simulation starts: the window's, or the first arrival."""
        return self.window[0] if self.window else self.jobs[0].arrival_s

    def read_file(self) -> None:
        """Reads the file of ``wrong``, or reports its fault. Raises ConfigError without pandas."""
        self.wrong.read("CSV of jobs", self.read, _MAX_LOG_BYTES)

    def read(self, text: TextIO) -> None:
        """Reads a CSV, some rows at a time. Raises ConfigError without pandas."""
        import_extra("pandas")
        import pandas

        names = {name for column in COLUMNS.values() for name in column}
        selected: pandas.DataFrame | None = None
        try:
            chunks = pandas.read_csv(
                text,
                dtype=str,
                keep_default_na=False,
                skipinitialspace=True,
                usecols=lambda name: name.strip() in names,
                chunksize=_ROWS_AT_ONCE,
            )
            for chunk in chunks:
                if not isinstance(chunk.index, pandas.RangeIndex):
                    self.wrong.add(2, "more values than the header has columns")
                    return
                rows = self._select(chunk.rename(columns=str.strip))
                if self.wrong:
                    return
                selected = (
                    pandas.concat([selected, rows]).sort_values("arrival", kind="stable").head(self.first)
                )
                if len(selected) > self.most:
                    self.wrong.add(0, f"more than {self.most} jobs: select some by window, or by first")
                    return
        except UnicodeDecodeError:
            raise
        except ValueError as error:  # pandas' errors of parsing are such
            self.wrong.add(0, f"not a CSV of jobs: {error}")
        if selected is not None:
            self.jobs = [LoggedJob(int(row[0]) + 2, *row[1:]) for row in selected.itertuples()]
        if not self.jobs and not self.wrong:
            self.wrong.add(0, self._nothing())

    def _select(self, chunk: pandas.DataFrame) -> pandas.DataFrame:
        """The rows of jobs within the window; faults are reported."""
        import pandas

        if not self.columns and not self._name_columns(list(chunk.columns)):
            return chunk
        arrival = self._seconds(chunk, "arrival")
        gpus = self._numbers(chunk, "gpus")
        percent = 100 if self.columns["gpus"] == "plan_gpu" else 1
        gpus = np.ceil(gpus / percent)
        if "instances" in self.columns:
            gpus = gpus * self._numbers(chunk, "instances")
        if "duration" in self.columns:
            duration = self._numbers(chunk, "duration")
        else:
            duration = self._seconds(chunk, "end") - self._seconds(chunk, "begin")
        model = chunk[self.columns["model"]].fillna("") if "model" in self.columns else ""
        frame = pandas.DataFrame({"arrival": arrival, "gpus": gpus, "duration": duration, "model": model})
        ran = (frame.gpus > 0) & (frame.duration > 0) & frame.arrival.notna()
        if self.wrong:
            return frame
        self.rows += len(frame)
        self.idle_rows += len(frame) - int(ran.sum())
        frame = frame[ran].astype({"gpus": "int64"})
        if len(frame):
            least, most = float(frame.arrival.min()), float(frame.arrival.max())
            self._span_s = min(self._span_s[0], least), max(self._span_s[1], most)
        if self.window is not None:
            frame = frame[frame.arrival.between(*self.window, inclusive="left")]
        return frame

    def _name_columns(self, header: Sequence[str]) -> bool:
        """Finds the columns; returns whether those that every log needs are there."""
        present = {what: [name for name in names if name in header] for what, names in COLUMNS.items()}
        self.columns = {what: names[0] for what, names in present.items() if names}
        needed = ["arrival", "gpus", *([] if {"begin", "end"} <= set(self.columns) else ["duration"])]
        missing = [what for what in needed if what not in self.columns]
        for what in missing:
            more = ", or start_time and end_time" if what == "duration" else ""
            self.wrong.add(1, f"no column of the {what}: {', '.join(COLUMNS[what])}{more}")
        return not missing

    def _numbers(self, chunk: pandas.DataFrame, what: str) -> pandas.Series:
        """A column's numbers, NaN if there is none."""
        import pandas

        texts = chunk[self.columns[what]]
        numbers = pandas.to_numeric(texts, errors="coerce")
        return self._checked(texts, numbers, "must be a number of at least 0")

    def _seconds(self, chunk: pandas.DataFrame, what: str) -> pandas.Series:
        """A column's times in seconds: numbers, or dates since 1970."""
        import pandas

        texts = chunk[self.columns[what]]
        numbers = pandas.to_numeric(texts, errors="coerce")
        if not numbers.notna().any():
            dates = pandas.to_datetime(texts, errors="coerce", format="ISO8601", utc=True)
            numbers = (dates - pandas.Timestamp(0, tz="UTC")) / pandas.Timedelta("1s")
        return self._checked(texts, numbers, "must be seconds, or a date such as 2020-09-01 10:00:00")

    def _checked(self, texts: pandas.Series, numbers: pandas.Series, right: str) -> pandas.Series:
        wrong = (numbers.isna() & ~texts.isin(_NOTHING)) | (numbers < 0) | np.isinf(numbers)
        for row, text in texts[wrong].items():
            self.wrong.add(int(str(row)) + 2, f"{texts.name} is {shown(text)}, {right}")
        return numbers

    def _nothing(self) -> str:
        """The fault of a log without jobs, or without any in the window."""
        if not math.isfinite(self._span_s[0]):
            return f"no job of its {self.rows} rows ran on a GPU"
        least, most = self._span_s
        return (
            f"no job arrives in the window {list(self.window or ())}; the log's are {least:g} s to {most:g} s"
        )


def seconds(instant: float | str) -> float:
    """Seconds of an instant: a number, or a date since 1970. Raises ValueError."""
    if not isinstance(instant, str):
        return instant
    try:
        date = import_extra("pandas").Timestamp(instant)
    except ValueError:
        raise ValueError(
            f"{shown(instant)} is no instant: write seconds, or a date such as 2020-09-01 10:00:00"
        ) from None
    return float((date if date.tzinfo else date.tz_localize("UTC")).timestamp())
