# SPDX-License-Identifier: GPL-2.0-or-later
"""Registry of metrics: functions of an episode's results, with name, unit and direction.

A new one is a file of this folder, whose function is decorated with ``metric``, and a line in
``eval/metrics/__init__.py``: tables, reports, verdicts and ``--json`` then have it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

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
