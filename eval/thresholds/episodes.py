# SPDX-License-Identifier: GPL-2.0-or-later
"""Episodes of a task with agents at ports, under thresholds that some rule sets, and their measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ns3_env.agents.thresholds.learner import PortActor
from ns3_env.decision.actions import EcnThresholds
from ns3_env.decision.observations import column
from ns3_env.decision.task import Task
from ns3_env.scenario import Scenario
from ns3_env.simulator import DecisionBatch, EpisodeEnd, Simulator
from ns3_env.simulator.results import Results, charged_slowdowns, flow_column

#: Flows of less and more than these bytes are the small and the large ones.
SMALL_BYTES, LARGE_BYTES = 100e3, 1e6
#: Thresholds (n, 3) of n ports from their records (n, fields); called at each interval's end.
Rule = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Episode:
    """An episode's measures.

    Attributes:
        slowdowns, sizes: of each flow (n,); one that the time limit cuts is charged the share that is left.
        queue_bytes, utilisation, reward: means over ports and intervals.
        unfinished: flows that the time limit cut.
    """

    slowdowns: NDArray[np.float64]
    sizes: NDArray[np.float64]
    queue_bytes: float
    utilisation: float
    reward: float
    unfinished: int


def run_episode(simulator: Simulator, scenario: Scenario, problem: Task, rule: Rule) -> Episode:
    """Runs a scenario with agents at ports under the rule."""
    simulator.send_reset(scenario)
    intervals: list[NDArray[np.float64]] = []
    while isinstance(rows := simulator.receive(), DecisionBatch):
        if rows.due.all():
            simulator.send_actions(rule(rows.records))
        else:
            simulator.send_actions(())
        if not rows.first.any():
            intervals.append(rows.records)
    assert isinstance(rows, EpisodeEnd)
    slowdowns, started = _slowdowns(rows.results)
    records = np.concatenate(intervals)
    # An interval that the end cuts is shorter.
    weights = column(records, "interval_ns") / column(records, "interval_ns").sum()
    return Episode(
        slowdowns=slowdowns,
        sizes=flow_column(rows.results, "size_bytes")[started],
        queue_bytes=float(weights @ column(records, "port_mean_queue_bytes")),
        utilisation=float(weights @ column(records, "port_utilisation")),
        reward=float(weights @ problem.rewards(records)),
        unfinished=int((flow_column(rows.results, "fct_ns") < 0).sum()),
    )


def reference_slowdowns(simulator: Simulator, scenario: Scenario, controller: str) -> NDArray[np.float64]:
    """Slowdowns (n,) of the scenario's flows under another controller, without agents."""
    switch = scenario.switch.model_copy(update={"ecn_agents": None})
    simulator.send_reset(scenario.model_copy(update={"switch": switch}).under(controller))
    end = simulator.receive()
    assert isinstance(end, EpisodeEnd)
    return _slowdowns(end.results)[0]


def _slowdowns(results: Results) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Slowdowns of the flows that started, and which did."""
    slowdowns = charged_slowdowns(results)
    started = ~np.isnan(slowdowns)
    return slowdowns[started], started


def constant(thresholds: Sequence[float], at_rate_bps: float) -> Rule:
    """These thresholds at all times, of a port of ``at_rate_bps``; they grow with a port's rate."""
    choose = EcnThresholds((thresholds,), at_rate_bps)
    return lambda records: choose(np.zeros(len(records)), records)


def random_choice(action: EcnThresholds, seed: int) -> Rule:
    """A row of the table for each port and interval, all as likely."""
    random = np.random.default_rng(seed)
    return lambda records: action(random.integers(len(action.table), size=len(records)), records)


class Learned:
    """The thresholds that a learned policy chooses, and how often it chose each row of the table."""

    def __init__(self, actor: PortActor, problem: Task) -> None:
        self._actor, self._problem = actor, problem
        self.chosen: NDArray[np.int64] = np.zeros(problem.action_space.n, np.int64)  # type: ignore[attr-defined]

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        if not column(records, "time_ns").any():
            self._actor.reset()
        actions = self._actor(self._problem.observe(records))
        self.chosen += np.bincount(actions, minlength=len(self.chosen))
        return self._problem.action(actions, records)
