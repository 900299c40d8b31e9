# SPDX-License-Identifier: GPL-2.0-or-later
"""Record of a run: a queue over time, sending rates, and the numbers that the paper names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ns3_env.eval.paper.outcome import Progress
from ns3_env.eval.paper.smcc.network import BOTTLENECK, SAMPLE_NS, TARGET_BYTES
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import LocalPool, Play
from ns3_env.simulator.results import flow_ends

Floats = npt.NDArray[np.float64]
Case = TypeVar("Case", bound=Hashable)
Key = TypeVar("Key", bound=Hashable)
T = TypeVar("T")
Port = tuple[int, int]
#: A queue has settled where it stays so near to its target, of which this is a share, for so many samples.
NEAR, SETTLED_SAMPLES = 0.25, 500


@dataclass(frozen=True)
class Seen:
    """One run.

    Attributes:
        queues: bytes each ``fine_ns``, from time 0 on, by port.
        fine_ns: from sample to sample.
        used: share of a port's rate that it sent at in the scenario's measurement window, by port.
        rates: (time in ns, flow, bit/s) of each change.
        flows: their number.
        flow_ends_ns: of each; the run's end where it has none.
        end_ns: of the run.
        lost: packets.
        frames: of feedback.
        pauses: frames of PFC that pause.
        acked_bytes: of each flow.
    """

    queues: Mapping[Port, Floats]
    fine_ns: float
    used: Mapping[Port, float]
    rates: Sequence[tuple[float, int, float]]
    flows: int
    flow_ends_ns: Sequence[float]
    end_ns: float
    lost: int
    frames: int
    pauses: int
    acked_bytes: Sequence[float]

    def fine(self, begin_ns: float, end_ns: float, port: Port = BOTTLENECK) -> Floats:
        """A queue in an interval, each ``fine_ns``, bytes."""
        return self.queues[port][round(begin_ns / self.fine_ns) : round(end_ns / self.fine_ns)]

    def coarse(self, begin_ns: float, end_ns: float, port: Port = BOTTLENECK) -> Floats:
        """The same each millisecond, as the paper looks."""
        return self.fine(begin_ns, end_ns, port)[:: max(1, round(SAMPLE_NS / self.fine_ns))]

    def rates_at(self, times_ns: Floats) -> Floats:
        """Sending rates at ascending times, bit/s: (flows, times)."""
        found = np.zeros((self.flows, len(times_ns)))
        for flow in range(self.flows):
            own = [(t, rate) for t, one, rate in self.rates if one == flow]
            changes, rates = np.array([t for t, _ in own]), np.array([0.0, *(rate for _, rate in own)])
            found[flow] = rates[np.searchsorted(changes, times_ns, side="right")]
        return found

    def mean_rates(self, begin_ns: float, end_ns: float, moments: int = 2000) -> Floats:
        """Each flow's sending rate in an interval, the mean over so many moments, bit/s: (flows,)."""
        means: Floats = self.rates_at(np.linspace(begin_ns, end_ns, moments)).mean(axis=1)
        return means


def seen(results: Mapping[str, Any]) -> Seen:
    """What is kept of a run's results."""
    totals = results["totals"]
    window = results.get("measurement")
    span = float(np.diff(window["interval_ns"])[0]) if window else float("nan")
    ports = {(x["node"], x["port"]): x for x in results["queues"]}
    times = next(iter(ports.values()))["series"]["t_ns"]
    return Seen(
        {key: np.asarray(port["series"]["bytes"], dtype=np.float64) for key, port in ports.items()},
        float(times[1] - times[0]),
        {
            key: port.get("window_tx_bytes", 0) * 8e9 / (port["rate_bps"] * span)
            for key, port in ports.items()
        },
        [(t, flow, rate) for t, flow, _, rate in results.get("windows", ()) if rate is not None],
        len(results["flows"]["src"]),
        [float(x) for x in flow_ends(results)],
        float(totals["end_ns"]),
        int(totals["dropped_packets"]),
        int(totals["notification_frames"]),
        int(totals["pfc_frames"]),
        [float(x) for x in results["flows"]["acked_bytes"]],
    )


def play(simulator: Simulator, cases: Mapping[Case, Scenario], progress: Progress) -> dict[Case, Seen]:
    """What was seen of each scenario. Raises ScenarioError, SimulatorError."""
    return play_with(simulator, cases, seen, progress)


def play_with(
    simulator: Simulator,
    cases: Mapping[Case, Scenario | Mapping[str, Any]],
    then: Callable[[dict[str, Any]], T],
    progress: Progress,
) -> dict[Case, T]:
    """What ``then`` makes of each scenario's results, or of a scenario's as the simulator reads it.

    Raises ScenarioError, SimulatorError."""
    with LocalPool() as players:
        running = {players.submit(Play(scenario, then)): case for case, scenario in cases.items()}
        found = {}
        for done in as_completed(running):
            found[running[done]] = done.result()
            progress(f"{len(found)} of {len(running)} episodes played")
    return {case: found[case] for case in cases}


def grouped(found: Mapping[Case, T], of: Callable[[Case], Key]) -> dict[Key, list[T]]:
    """What was found, together for cases that are one but for their seed: by ``of`` a case."""
    groups: dict[Key, list[T]] = {}
    for case, own in found.items():
        groups.setdefault(of(case), []).append(own)
    return groups


@dataclass(frozen=True)
class Queue:
    """A queue in an interval, bytes: its mean, standard deviation, the 5 % and 95 % points, and the share of
    samples that found it empty."""

    mean: float
    std: float
    low: float
    high: float
    empty: float


def numbers(samples: Floats) -> Queue:
    """Of samples; NaN of none."""
    if not len(samples):
        return Queue(*[float("nan")] * 5)
    low, high = np.percentile(samples, (5, 95))
    return Queue(
        float(samples.mean()), float(samples.std()), float(low), float(high), float((samples <= 0).mean())
    )


def pooled(runs: Sequence[Seen], begin_ns: float, end_ns: float, port: Port = BOTTLENECK) -> Queue:
    """Of all repetitions together, by samples each millisecond."""
    return numbers(np.concatenate([run.coarse(begin_ns, end_ns, port) for run in runs]))


def settled_ns(run: Seen, port: Port = BOTTLENECK, target: float = TARGET_BYTES) -> float:
    """From the start until the queue stays within 25 % of its target, for 500 samples (a tenth of a short
    run); NaN where it never does. The response time, which the paper does not define."""
    away = np.abs(run.queues[port] - target) > NEAR * target
    length = max(1, min(SETTLED_SAMPLES, len(away) // 10))
    outside = np.convolve(away, np.ones(length), "valid")
    first = np.flatnonzero(outside < 0.5)
    return float(first[0] * run.fine_ns) if len(first) else float("nan")


def response_ms(runs: Sequence[Seen], port: Port = BOTTLENECK, target: float = TARGET_BYTES) -> float:
    """Mean of :func:`settled_ns` of the runs that settle, ms; NaN where none does."""
    found = np.array([settled_ns(run, port, target) for run in runs]) / 1e6
    return float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")
