# SPDX-License-Identifier: GPL-2.0-or-later
"""Objective: an episode's metrics against the best of known controllers on the same flows.

    score = - Σ_k w_k L ln((m_k + ε_k) / (b_k + ε_k)),   b_k the best of the baselines in metric k

if less is better, and the inverse ratio if more is. A candidate that equals the best baseline in every
metric has 0; one that needs 1 % more of a metric of weight 1 has -0.01. L is ``losses_weigh`` if the
logarithm is above 0, else 1. Of a metric with a bound c_k (``allowed``) the logarithm counts as far as it is
above ln c_k, else 0. ε_k, which the metric declares, keeps the ratio defined if a metric can be 0:
differences far below it do not count.

Flow completion times count only finished flows, so that starving some would improve them. Here a flow that
has not finished counts as one that ended with the episode, the least that it can have needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from ns3_env.agents.search.config import MetricsConfig
from ns3_env.agents.search.objectives import Counting, Episode, Judgement, Pending
from ns3_env.config.model import nearest
from ns3_env.errors import ConfigError
from ns3_env.programs.transport import Transport
from ns3_env.scenario import AGENT, POLICY, Controller
from ns3_env.simulator import list_controllers
from ns3_env.simulator.pool import Play, Pool
from ns3_env.simulator.results import Results, endless

#: The logarithm of the ratio if only the candidate does not define a metric: 20 times as bad.
_UNDEFINED = 3.0

Row = Mapping[str, float]


class Metric(Protocol):
    """Properties of a metric that an objective needs."""

    @property
    def better(self) -> str | None:
        """ "lower", "higher", or None if neither is by itself."""
        ...

    @property
    def resolution(self) -> float:
        """ε; 0 of a metric that is never 0."""
        ...

    @property
    def of_finished(self) -> bool:
        """Returns whether only finished flows count."""
        ...


def _measure_nothing(results: Results, names: Iterable[str]) -> dict[str, float]:
    return {}


@dataclass(frozen=True)
class Metrics:
    """The metrics, and the function that measures them: (results, names) -> values, NaN where undefined."""

    by_name: Mapping[str, Metric] = field(default_factory=dict)
    measure: Callable[[Results, Iterable[str]], Mapping[str, float]] = _measure_nothing


class MetricsObjective:
    """Metrics against those of baselines, which run each episode once, however many are judged on it."""

    def __init__(
        self, config: MetricsConfig, metrics: Metrics, source: str, transport: Transport = "rdma"
    ) -> None:
        """
        Args:
            config: baselines, metrics and their weights.
            metrics: the available metrics.
            source: start of the errors' text.
            transport: transport of the episodes.

        Raises:
            ConfigError: there is no such baseline or metric, or the metric has no better direction.
        """
        controller_names = [
            name for name in list_controllers(transport=transport) if name not in (AGENT, POLICY)
        ]
        for name in config.baselines:
            if name not in controller_names:
                raise ConfigError(
                    f"{source}: objective.baselines: there is no {name!r} in the simulator"
                    f"{nearest(name, controller_names)} of {', '.join(controller_names)}"
                )
        directed = [name for name, metric in metrics.by_name.items() if metric.better is not None]
        for name in config.terms:
            if name not in directed:
                what = "says nothing of better or worse" if name in metrics.by_name else "is no metric"
                raise ConfigError(f"{source}: objective.terms: {name!r} {what}{nearest(name, directed)}")
        self.heading = f"score, 0: the best of {', '.join(config.baselines)} in each metric"
        self._weights = dict(config.terms)
        self._losses_weigh = config.losses_weigh
        self._allowed = dict(config.allowed)
        self._baselines = [Controller(name=name) for name in config.baselines]
        self._metrics = metrics
        self._row = Measuring(metrics, tuple(config.terms))
        self._counted = Counting(self._row)
        self._played: dict[tuple[str, int], list[Future[tuple[Row, int]]]] = {}

    def begin(self, pool: Pool, episode: Episode, controller: Controller) -> Pending:
        def play(who: Controller) -> Future[tuple[Row, int]]:
            return pool.submit(Play(episode.scenario.under(who.name, who.attributes), self._counted))

        if episode.key not in self._played:
            self._played[episode.key] = [play(baseline) for baseline in self._baselines]
        baselines = self._played[episode.key]
        return Pending(
            play(controller),
            lambda row: self.judge(row, [baseline.result()[0] for baseline in baselines]),
        )

    def judge(self, row: Row, baselines: Sequence[Row]) -> Judgement:
        """The score of values by metric, against those of the baselines."""
        terms = {
            name: self._term(
                name,
                log_ratio(row[name], [baseline[name] for baseline in baselines], self._metrics.by_name[name]),
            )
            for name in self._weights
        }
        return Judgement(math.fsum(self._weights[name] * term for name, term in terms.items()), terms)

    def _term(self, name: str, ratio: float) -> float:
        if name in self._allowed:
            ratio = max(ratio - math.log(self._allowed[name]), 0.0)
        return -ratio * (self._losses_weigh if ratio > 0 else 1.0)


@dataclass(frozen=True)
class Measuring:
    """Measures an episode on the machine that ran it."""

    metrics: Metrics
    names: tuple[str, ...]

    def __call__(self, results: Results) -> Row:
        """The metrics by name; those of finished flows with all flows ended."""
        of_finished = [name for name in self.names if self.metrics.by_name[name].of_finished]
        others = [name for name in self.names if name not in of_finished]
        measured = dict(self.metrics.measure(results, others))
        measured.update(self.metrics.measure(ended_at_the_limit(results), of_finished))
        return measured


def log_ratio(value: float, baselines: Sequence[float], metric: Metric) -> float:
    """Returns its loss against the best of the baselines, as a logarithm: 0 is as good, 0.01 is 1
    % worse.

    0 where the flows do not define the metric (none of the baselines has a value).
    """
    defined = [x for x in baselines if not math.isnan(x)]
    if not defined:
        return 0.0
    if math.isnan(value):
        return _UNDEFINED
    lower = metric.better == "lower"
    best = min(defined) if lower else max(defined)
    ratio = (value + metric.resolution) / (best + metric.resolution)
    return math.log(ratio if lower else 1 / ratio)


def ended_at_the_limit(results: Results) -> Results:
    """The results with unfinished flows ended at the episode's end, no sooner than on an idle network.

    Flows that never end stay as they are.
    """
    flows, goes_on = results["flows"], endless(results)
    if min(flows["fct_ns"], default=0) >= 0:
        return results
    end = results["totals"]["end_ns"]
    columns = (flows["fct_ns"], flows["start_ns"], flows["standalone_ns"], goes_on)
    fct = [
        had if had >= 0 or on else max(end - start, alone)
        for had, start, alone, on in zip(*columns, strict=True)
    ]
    return {**results, "flows": {**flows, "fct_ns": fct}}
