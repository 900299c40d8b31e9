# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs of a search to resume from, and its gain: tuned against untuned, seed by seed."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ns3_env.agents.search.subject import Values
from ns3_env.config.files import write_atomically
from ns3_env.errors import ConfigError
from ns3_env.simulator.results import Floats

#: Relative difference from which on two numbers are not the same setting.
_SAME = 1e-6


@dataclass(frozen=True)
class Trial:
    """A point, its score, and the decisions that it needed, if they are counted.

    Values that were read back are texts.
    """

    number: int
    values: Mapping[str, int | float | str]
    score: float
    decisions: int = 0


class TrialLog:
    """A CSV file of a run: every trial that is done, by its number. A run continues from it."""

    def __init__(
        self, path: Path, names: Sequence[str], numbered: str = "trial", counts: bool = False
    ) -> None:
        """Reads the file. Raises ConfigError if it is not this run's.

        Args:
            path: the file.
            names: columns of the values.
            numbered: column of the numbers.
            counts: there is a column of decisions.
        """
        self.path = path
        self.names = tuple(names)
        self.trials: dict[int, Trial] = {}
        self._counts = counts
        self._columns = [numbered, "score", *(["decisions"] if counts else []), *self.names]
        if path.exists():
            self._read()

    def _read(self) -> None:
        try:
            with self.path.open(newline="", encoding="utf-8") as file:
                header, *rows = list(csv.reader(file))
            if header != self._columns:
                raise ConfigError(f"{self.path}: the columns are {header}, expected {self._columns}")
            for number, score, *texts in rows:
                decisions = int(texts.pop(0)) if self._counts else 0
                values = dict(zip(self.names, texts, strict=True))
                self.trials[int(number)] = Trial(int(number), values, float(score), decisions)
        except ValueError as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(f"{self.path}: cannot be read: {error}") from error

    def score(self, number: int, values: Values) -> float | None:
        """The score of a trial that is done; None of one that is not.

        Raises:
            ConfigError: that trial had other values.
        """
        trial = self.trials.get(number)
        if trial is None:
            return None
        for name, value in values.items():
            if not _same(trial.values[name], value):
                raise ConfigError(
                    f"{self.path}: {self._columns[0]} {number} had {name} = {trial.values[name]}, but this "
                    f"run asks for {value}: the file, or the version of cma, is another one: start a new run"
                )
        return trial.score

    def add(self, trial: Trial) -> None:
        """Writes a trial that is done."""
        self.trials[trial.number] = trial
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self._columns)
        for number in sorted(self.trials):
            done = self.trials[number]
            counted = [done.decisions] if self._counts else []
            values = (str(done.values[name]) for name in self.names)
            writer.writerow([number, repr(done.score), *counted, *values])
        write_atomically(self.path, text.getvalue())

    def decisions(self, first: int) -> int:
        """Sums the decisions of trials with numbers below ``first``."""
        return sum(trial.decisions for number, trial in self.trials.items() if number < first)

    @property
    def best(self) -> Trial | None:
        """The trial with the best score, the first among equals; None before any is done."""
        return max(self.trials.values(), key=lambda trial: (trial.score, -trial.number), default=None)


def _same(log_value: int | float | str, value: int | float | str) -> bool:
    if isinstance(value, str):
        return log_value == value
    try:
        return math.isclose(float(log_value), value, rel_tol=_SAME, abs_tol=1e-12)
    except ValueError:
        return False


def compare_seeds(tuned: Floats, before: Floats) -> dict[str, Any]:
    """Returns the gain, seed by seed on the same flows; ``certain``: several seeds, all with the same sign.

    Args:
        tuned: rewards (seeds,).
        before: rewards (seeds,) of the same seeds.
    """
    by_seed = tuned - before
    return {
        "mean": float(by_seed.mean()),
        "share": float(by_seed.mean() / abs(before.mean())) if before.mean() else None,
        "by_seed": [float(x) for x in by_seed],
        "seeds_spread_before": float(before.max() - before.min()),
        "certain": bool(len(by_seed) > 1 and (by_seed.min() > 0 or by_seed.max() < 0)),
    }


def describe_gain(gain: Mapping[str, Any]) -> str:
    """The gain in words, with a clear statement if there was no gain."""
    by_seed, share = gain["by_seed"], gain["share"]
    percent = "" if share is None else f" ({100 * share:+.2f} %)"
    text = f"{gain['mean']:+.4f}{percent}"
    if len(by_seed) < 2:
        return f"{text}; one seed says nothing of the spread: evaluation.episodes=5"
    text += f", by seed from {min(by_seed):+.4f} to {max(by_seed):+.4f}"
    if not gain["certain"]:
        return f"{text}: within the seeds' spread, no gain is shown"
    return f"{text}: {'a gain' if gain['mean'] > 0 else 'a loss'} with every seed"
