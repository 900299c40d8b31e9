# SPDX-License-Identifier: GPL-2.0-or-later
"""What has been tried? ``trials.csv``, from which a run goes on."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.search.optimiser import Values
from ns3_env.durable import write_atomically
from ns3_env.errors import ConfigError

#: Relative difference from which on two numbers are not the same setting.
_SAME = 1e-6


def _number(text: str) -> int | float:
    """The number that ``repr`` wrote: one that was whole stays so."""
    return int(text) if text.lstrip("-").isdigit() else float(text)


@dataclass(frozen=True)
class Trial:
    """Settings that were tried, and the score they got."""

    number: int
    values: Values
    score: float


class TrialLog:
    """trials.csv of a run: every trial that is done, by its number. What a run goes on from."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        """Reads what is there. Raises ConfigError where it is not this run's."""
        self.path = path
        self.names = tuple(names)
        self.trials: dict[int, Trial] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        columns = ["trial", "score", *self.names]
        try:
            with self.path.open(newline="", encoding="utf-8") as file:
                header, *rows = list(csv.reader(file))
            if header != columns:
                raise ConfigError(f"{self.path}: the columns are {header}, expected {columns}")
            for number, score, *texts in rows:
                values: Values = {name: _number(x) for name, x in zip(self.names, texts, strict=True)}
                self.trials[int(number)] = Trial(int(number), values, float(score))
        except ValueError as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(f"{self.path}: cannot be read: {error}") from error

    def score(self, number: int, values: Values) -> float | None:
        """The score of a trial that is done; None of one that is not.

        Raises:
            ConfigError: that trial had other settings.
        """
        trial = self.trials.get(number)
        if trial is None:
            return None
        for name, value in values.items():
            if not math.isclose(trial.values[name], value, rel_tol=_SAME, abs_tol=1e-12):
                raise ConfigError(
                    f"{self.path}: trial {number} had {name} = {trial.values[name]!r}, but this run asks for "
                    f"{value!r}: the file, or the version of cma, is another one: begin a new run"
                )
        return trial.score

    def add(self, trial: Trial) -> None:
        """Writes a trial that is done."""
        self.trials[trial.number] = trial
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["trial", "score", *self.names])
        for number in sorted(self.trials):
            done = self.trials[number]
            writer.writerow([number, repr(done.score), *(repr(done.values[name]) for name in self.names)])
        write_atomically(self.path, text.getvalue())

    @property
    def best(self) -> Trial | None:
        """The trial with the best score, the first among equals; None before any is done."""
        return max(self.trials.values(), key=lambda trial: (trial.score, -trial.number), default=None)
