# SPDX-License-Identifier: GPL-2.0-or-later
"""Objectives: judge an episode of the curriculum under a controller, such as by the agent's reward.

A controller inside the simulator reports no decisions, so its reward is read from recordings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from ns3_env.agents.configuration.inputs import make_task
from ns3_env.agents.curriculum.curriculum import Curriculum
from ns3_env.agents.search.config import JudgeConfig, SearchConfig
from ns3_env.decision import observations
from ns3_env.decision.rewards import Reward
from ns3_env.envs.flow_stream import episode_seed
from ns3_env.scenario import Controller, Record, Scenario
from ns3_env.simulator.pool import Play, Pool
from ns3_env.simulator.results import (
    Floats,
    Results,
    bottleneck,
    charged_slowdowns,
    decisions_taken,
    flow_column,
    flow_ends,
    packet_bytes,
)

#: Most samples of a recorded queue, and the least time between two, ns.
_SAMPLES, _SAMPLE_NS = 4000, 500


@dataclass(frozen=True)
class Episode:
    """A stage's scenario with one seed."""

    stage: str
    scenario: Scenario

    @property
    def key(self) -> tuple[str, int]:
        """Key that identifies its flows within the curriculum."""
        return self.stage, self.scenario.seed


class Episodes:
    """Episodes of each generation, and of validation.

    Without validation every trial runs the same ones. With it, seeds are drawn anew for each generation, all
    of them even; those of validation are odd, so that none is ever trained on. If tasks or a sampler draw
    scenarios, an episode has the one that its number and the search's seed draw.
    """

    def __init__(self, curriculum: Curriculum, search: SearchConfig, seed: int) -> None:
        """
        Args:
            curriculum: the curriculum; the stages in use have equal weights.
            search: configuration with the numbers of episodes.
            seed: seed of the draws.
        """
        self._curriculum = curriculum
        self._stages = [stage.name for stage in curriculum.config.stages]
        self._search = search
        self._seed = seed

    def of_generation(self, generation: int) -> list[Episode]:
        """Returns the episodes of a generation's trials; the start is generation 0."""
        count = self._search.episodes
        if self._search.validation is None:
            return self._draw(count, 0, 1, 0)
        episodes = self._draw(count, generation * count * len(self._stages), 2, 0)
        return episodes[: count * self._reached(generation)]

    def _reached(self, generation: int) -> int:
        """Returns how many stages a generation runs, the first ones."""
        stages = len(self._stages)
        if self._search.stages == "together":
            return stages
        return min(stages, 1 + max(generation - 1, 0) * stages // self._search.generations)

    def of_validation(self) -> list[Episode]:
        """Returns the episodes of a validation, the same each time; nothing without a validation."""
        validation = self._search.validation
        return [] if validation is None else self._draw(validation.episodes, 0, 2, 1)

    def _draw(self, count: int, first: int, factor: int, offset: int) -> list[Episode]:
        stages = [stage for stage in range(len(self._stages)) for _ in range(count)]
        return [
            Episode(
                self._stages[stage],
                self._scenario(stage, first + number, offset).with_seed(
                    factor * episode_seed(self._seed, first + number) + offset
                ),
            )
            for number, stage in enumerate(stages)
        ]

    def _scenario(self, stage: int, number: int, held_back: int) -> Scenario:
        """The stage's scenario, or the one drawn for this episode; decisions are counted in a budget."""
        scenario = self._curriculum.scenarios[stage]
        if self._curriculum.sampler is not None:
            random = np.random.default_rng((self._seed, held_back, number))
            scenario = self._curriculum.drawn(stage, random, number, held_back=bool(held_back))
        if self._search.decisions is None:
            return scenario
        record = scenario.record.model_copy(update={"controller_counters": True})
        return scenario.model_copy(update={"record": record})


@dataclass(frozen=True)
class Judgement:
    """An episode's score, higher is better, NaN if it has none.

    Attributes:
        score: the score.
        terms: terms of the score, by name.
        decisions: number of the policy's decisions; 0 if they are not counted.
    """

    score: float
    terms: Mapping[str, float] = field(default_factory=dict)
    decisions: int = 0


@dataclass(frozen=True)
class Counting:
    """Measures an episode on the machine that ran it, and counts its decisions."""

    measure: Callable[[dict[str, Any]], Any]

    def __call__(self, results: dict[str, Any]) -> tuple[Any, int]:
        return self.measure(results), decisions_taken(results)


@dataclass(frozen=True)
class Pending:
    """An episode under way, run with ``Counting``, and the function that judges its results."""

    future: Future[tuple[Any, int]]
    judge: Callable[[Any], Judgement] = lambda judged: judged

    def result(self) -> Judgement:
        """Waits for it. Raises as ``future`` does."""
        result, decisions = self.future.result()
        return replace(self.judge(result), decisions=decisions)


class Objective(Protocol):
    """Judges episodes."""

    @property
    def heading(self) -> str:
        """Describes the score."""
        ...

    def begin(self, pool: Pool, episode: Episode, controller: Controller) -> Pending:
        """Starts an episode, all its flows under the controller, and judges it once it has been run."""
        ...


class RewardObjective:
    """The agent's reward of a decision, as read from recordings (``recorded_reward``)."""

    heading = "reward of a decision"

    def __init__(self, judge: JudgeConfig) -> None:
        """Raises ConfigError if there is no such reward."""
        self._reward = make_task(judge.of_agent(), "configuration").reward
        self._rtt_fraction = judge.clock.rtt_fraction

    def begin(self, pool: Pool, episode: Episode, controller: Controller) -> Pending:
        recorded = with_recordings(episode.scenario, controller)
        return Pending(pool.submit(Play(recorded, Counting(self._judge))))

    def _judge(self, results: Results) -> Judgement:
        return Judgement(recorded_reward(results, self._reward, self._rtt_fraction))


class ReturnObjective:
    """The return of a flow under the reward ``slowdown``: minus the mean of ``charged_slowdowns``."""

    heading = "return of a flow"

    def begin(self, pool: Pool, episode: Episode, controller: Controller) -> Pending:
        scenario = episode.scenario.under(controller.name, controller.attributes)
        return Pending(pool.submit(Play(scenario, Counting(_mean_return))))


def _mean_return(results: Results) -> Judgement:
    slowdowns = charged_slowdowns(results)
    valid_slowdowns = slowdowns[~np.isnan(slowdowns)]
    return Judgement(-float(valid_slowdowns.mean()) if len(valid_slowdowns) else float("nan"))


def with_recordings(scenario: Scenario, controller: Controller) -> Scenario:
    """The scenario under a controller, with the recordings that its reward is read from."""
    step = max(_SAMPLE_NS, scenario.time_limit_ns // _SAMPLES)
    counters = scenario.record.controller_counters
    record = Record(queue_series_ns=step, windows=True, controller_counters=counters)
    controlled_scenario = scenario.under(controller.name, controller.attributes)
    return controlled_scenario.model_copy(update={"record": record})


def recorded_reward(results: Results, reward: Reward, rtt_fraction: float = 0.5) -> float:
    """The reward of a decision; NaN if no flow got an ACK or nothing was recorded.

    An agent's score is Σ rewards / decisions over all flows (``Episode.mean_reward``), with a decision at the
    first ACK that comes f · RTT after the last one (Zhang 2023, sec. 4.4, f = ½). Here the same reward
    function is given the telemetry as the recorded queue q(t), windows W_i(t) and rates R_i(t) of flows that
    share one port of rate C show it:

        RTT     T_i(t) = base_i + 8 q / C, of the packet whose ACK comes at t
        rate    y_i(t) = x_i, but C · x_i / Σ x if the port is busy; x_i = min(R_i, 8 W_i / T_i)
        score   Σ_i ∫ r_i(t) ρ_i(t) dt / Σ_i ∫ ρ_i(t) dt,   1 / ρ_i = f · T_i + 8 packet / (2 y_i)

    ρ is the density of decisions: after f · T another half of the time between two ACKs goes by. A flow
    counts from its first ACK to its end. For policies across the channel this agrees, within a few percent,
    with the reward that they got (tests/agents/search/test_recorded_reward.py).

    Args:
        results: results of flows into one receiver, with ``windows`` and queue series.
        reward: function from telemetry records to rewards.
        rtt_fraction: f.
    """
    port = bottleneck(results)
    if port is None or not port.get("series") or not results.get("windows"):
        return float("nan")
    capacity = float(port["rate_bps"])
    t, queue = (np.asarray(port["series"][name], dtype=np.float64) for name in ("t_ns", "bytes"))
    base = flow_column(results, "base_rtt_ns")[:, None]
    start, end = flow_column(results, "start_ns")[:, None], flow_ends(results)[:, None]
    wait = queue * 8e9 / capacity
    back = float(base.mean()) / 2  # from the port over the receiver to the sender
    rtt = base + np.interp(t, t + wait + back, wait)
    first = np.interp(start + back, t, t + wait) + back
    active = (t >= start) & (t < end)
    demand_bps = np.where(active, _allowed_bps(results, t, rtt), 0.0)
    total = demand_bps.sum(axis=0)
    busy = (queue > 0) | (total > capacity)
    served = np.where(busy, capacity, total)
    rate = np.divide(demand_bps * served, total, out=np.zeros_like(demand_bps), where=total > 0)
    counted = active & (t >= first) & (rate > 0)
    if not counted.any():
        return float("nan")

    def flat(values: Floats) -> Floats:
        chosen: Floats = np.broadcast_to(values, counted.shape)[counted]
        return chosen

    records = _records(
        {
            "rtt": flat(rtt / base),
            "rtt_ns": flat(rtt),
            "qlen": flat(np.interp(t, t + back, wait) / base),
            "switch_rate": flat(served / capacity),
            "throughput": flat(rate / capacity),
            "pacing_rate": flat(np.minimum(demand_bps / capacity, 1.0)),
            "flow_count": flat(active.sum(axis=0)),
        }
    )
    packet_bits = flat(8e9 * packet_bytes(results)[:, None])
    density = 1 / (flat(rtt) * rtt_fraction + packet_bits / (2 * flat(rate)))
    return float((reward(records) * density).sum() / density.sum())


def _allowed_bps(results: Results, t: Floats, rtt: Floats) -> Floats:
    """Returns the rate that each flow's window and rate allow at each time: (n, times); 0 before its first
    record."""
    steps: list[list[tuple[float, ...]]] = [[] for _ in rtt]
    for time, flow, window, rate in results["windows"]:
        limits = [np.inf if limit is None else float(limit) for limit in (window, rate)]
        steps[int(flow)].append((float(time), *limits))
    allowed = np.zeros_like(rtt)
    for row, rtt_of_flow, of_flow in zip(allowed, rtt, steps, strict=True):
        if of_flow:
            times, windows, rates = np.array(of_flow).T
            at = np.searchsorted(times, t, side="right") - 1
            row[:] = np.where(at >= 0, np.minimum(rates[at], 8e9 * windows[at] / rtt_of_flow), 0.0)
    return np.where(np.isfinite(allowed), allowed, 1e15)


def _records(columns: Mapping[str, Floats]) -> Any:
    """Telemetry records (k, fields) with these columns; all other fields are 0."""
    names = list(columns)
    records = np.zeros((len(columns[names[0]]), len(observations.FIELDS)))
    for index, name in zip(observations.field_indices(names), names, strict=True):
        records[:, index] = columns[name]
    return records
