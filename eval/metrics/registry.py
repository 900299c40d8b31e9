# SPDX-License-Identifier: GPL-2.0-or-later
"""Registry of metrics, one's own as well: functions of results, with name, unit and direction.

A new one is a file of this folder, whose function is decorated with ``metric``, and a line in
``eval/metrics/__init__.py``: tables, reports, verdicts and ``--json`` then have it.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from ns3_env.config.imports import named_code
from ns3_env.errors import ConfigError
from ns3_env.simulator.results import Results

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[[Results], float])


class Shared:
    """An episode's results, and values that several metrics share, computed once."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self._made: dict[Callable[[Results], Any], Any] = {}

    def once(self, function: Callable[[Results], T]) -> T:
        """``function(results)``, the same one each time."""
        if function not in self._made:
            self._made[function] = function(self.results)
        value: T = self._made[function]
        return value


@dataclass(frozen=True)
class Metric:
    """A metric: its place in tables, and how it is computed.

    Attributes:
        name: key in ``measure`` and in a cell's metrics.json.
        heading: heading in tables.
        formula: definition, one line.
        of: function that returns an episode's value; NaN if its results do not define it.
        better: the better direction; None if neither is better by itself.
        unit: "" for a ratio or a count.
        format: format of the number, as in ``format(value, ...)``.
        over_episodes: aggregate of several episodes in a table's row.
        of_finished: true if only finished flows count, so that leaving flows unfinished flatters.
        resolution: negligible difference; added to both values of a ratio. 0 for a metric that is never 0.
        section: section of the results without which the metric is undefined; "" for none.
    """

    name: str
    heading: str
    formula: str
    of: Callable[[Shared], float]
    better: Literal["lower", "higher"] | None
    unit: str = ""
    format: str = ".3f"
    over_episodes: Literal["mean", "sum"] = "mean"
    of_finished: bool = False
    resolution: float = 0.0
    section: str = ""


#: Every metric, by name, in the order in which a table shows them.
METRICS: dict[str, Metric] = {}


def declare(metric: Metric) -> None:
    """Adds a metric. Raises ValueError if its name is in use."""
    if metric.name in METRICS:
        raise ValueError(f"there is a metric {metric.name!r} already: {METRICS[metric.name].formula}")
    METRICS[metric.name] = metric


def declare_each(
    values: Callable[[Results], Mapping[str, float]],
    declarations: Iterable[tuple[str, str, str, str]],
    **rest: Any,
) -> None:
    """Declares metrics that share a function of the results, lower being better.

    Args:
        values: function that returns all of them, by key.
        declarations: name, key, heading and formula of each.
        rest: other attributes of ``Metric``, which all have.
    """
    for name, key, heading, formula in declarations:
        of = partial(_one_of, values=values, key=key)
        declare(Metric(name, heading, formula, of, "lower", **rest))


def _one_of(shared: Shared, values: Callable[[Results], Mapping[str, float]], key: str) -> float:
    return shared.once(values)[key]


def metric(
    heading: str,
    formula: str,
    better: Literal["lower", "higher"] | None,
    *,
    unit: str = "",
    format: str = ".3f",
    over_episodes: Literal["mean", "sum"] = "mean",
    resolution: float = 0.0,
    section: str = "",
) -> Callable[[Function], Function]:
    """Declares a function of the results as the metric of its name; see ``Metric`` for the parameters."""

    def add(function: Function) -> Function:
        declare(
            Metric(
                function.__name__,
                heading,
                formula,
                lambda shared: shared.once(function),
                better,
                unit,
                format,
                over_episodes,
                resolution=resolution,
                section=section,
            )
        )
        return function

    return add


def count(
    heading: str, formula: str, *, resolution: float = 1, section: str = ""
) -> Callable[[Function], Function]:
    """Declares a function that counts events, the fewer the better, which a table's row sums."""
    return metric(
        heading,
        formula,
        "lower",
        format=",.0f",
        over_episodes="sum",
        resolution=resolution,
        section=section,
    )


#: Loaded metrics: by their own name, the one on the command line, and the file they come from.
_JOINED: dict[str, tuple[str, Path | None]] = {}


def load_metrics(names: Iterable[str]) -> None:
    """Tables, reports and ``--json`` have these metrics from now on, in this process. May be called again.

    Args:
        names: ``pkg.module:name`` of functions of an episode's results, declared by ``@metric``.

    Raises:
        ConfigError: only a file names it, it cannot be imported, or is not declared.
    """
    for name in names:
        if name not in own_metrics():
            _join(name)


def own_metrics() -> tuple[str, ...]:
    """Returns the names of loaded metrics, as on the command line."""
    return tuple(import_path for import_path, _ in _JOINED.values())


def own_names() -> tuple[str, ...]:
    """The names of the loaded metrics, as in tables."""
    return tuple(_JOINED)


def own_sources() -> str:
    """Hash of the files that they come from; "" without any."""
    files = [
        f"{import_path}\n".encode() + (b"" if file is None else file.read_bytes())
        for import_path, file in _JOINED.values()
    ]
    return hashlib.sha256(b"\0".join(sorted(files))).hexdigest()[:16] if files else ""


def _join(import_path: str) -> None:
    try:
        function = named_code(import_path)
    except ConfigError as error:
        raise ConfigError(f"--metric: {error}") from error
    name = getattr(function, "__name__", "")
    metric = METRICS.get(name)
    if metric is None or not inspect.isfunction(function):
        raise ConfigError(
            f"--metric: {import_path} is no metric: expected a function of an episode's results with "
            "@metric(heading, formula, better) of ns3_env.eval.metrics above it"
        )
    METRICS[name] = replace(metric, of=lambda shared: _checked(import_path, metric, shared))
    source = inspect.getsourcefile(function)
    _JOINED[name] = import_path, None if source is None else Path(source)


def _checked(import_path: str, metric: Metric, shared: Shared) -> float:
    """The metric's value. Raises ConfigError if it fails, or returns something other than a number."""
    try:
        value = float(metric.of(shared))
    except Exception as error:  # whatever the user's code does
        raise ConfigError(f"--metric: {import_path} raised {type(error).__name__}: {error}") from error
    return value if math.isfinite(value) else math.nan
