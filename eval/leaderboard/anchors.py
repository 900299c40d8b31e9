# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of tasks, their measure of an episode, and anchors, measured and written into the package."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ns3_env.config.files import write_atomically
from ns3_env.decision.observations import RDMA_FIELDS
from ns3_env.errors import ConfigError
from ns3_env.eval.benchmark.yardsticks import DEPLOYED
from ns3_env.eval.metrics.job_times import SECTION, job_completion, spans
from ns3_env.ids import VERSIONS
from ns3_env.policies.released import CONSTANT, CONSTANT_WINDOW
from ns3_env.scenario import Controller
from ns3_env.simulator.pool import LocalPool, Play
from ns3_env.simulator.results import Floats, Results, charged_slowdowns
from ns3_env.tasks import TESTS, TaskSpec
from ns3_env.tasks.anchors import FILE, Anchors, digest, stored_anchors


@dataclass(frozen=True)
class Group:
    """A group.

    Attributes:
        name: name in the leaderboard.
        base: name of the controller that is deployed there.
    """

    name: str
    base: str


RDMA = Group("RDMA", DEPLOYED["rdma"])
#: Scored is the time of training jobs.
JOBS = Group("Jobs", DEPLOYED["rdma"])
#: Flows receive only the feedback frames of switches.
LAYER2 = Group("Layer2", "qcn")
TCP = Group("TCP", DEPLOYED["tcp"])
#: TCP over links whose rate changes.
VARIABLE = Group("Variable", "cubic")
#: In the leaderboard's order.
GROUPS = (RDMA, JOBS, LAYER2, TCP, VARIABLE)


def group_of(spec: TaskSpec) -> Group:
    """The task's group: by its measure, its transport, and the observations."""
    if spec.measure == "job_time":
        return JOBS
    first = spec.test(0)
    if first.transport == "tcp":
        return VARIABLE if first.link_rates else TCP
    return RDMA if spec.fields == RDMA_FIELDS else LAYER2


#: Below this ratio to the reference the base leaves nothing to score.
_LEAST_RATIO = 1.1
#: Anchors that differ by more have moved.
_SAME = 1e-9


def value_of(spec: TaskSpec, slowdowns: Floats, of_max_min: Floats, job_time_ns: float = math.nan) -> float:
    """The task's measure; less is better.

    Args:
        spec: the task.
        slowdowns: charged slowdowns of the flows (n,); NaN for a flow that is not charged.
        of_max_min: charged slowdowns of the flows under max_min (n,). Only its measure "max_min" reads them.
        job_time_ns: the metric ``job_completion``. Only its measure "job_time" reads it.

    Returns:
        Of the measure "slowdown", the mean. Of "max_min", the factor by which slowdowns differ from those of
        the max-min allocation, geometric mean over flows, whichever is larger; 1 for that itself. Of
        "job_time", the mean over jobs in ms.
    """
    if spec.measure == "job_time":
        return job_time_ns / 1e6
    if spec.measure == "slowdown":
        return float(np.nanmean(slowdowns))
    return float(np.exp(np.nanmean(np.abs(np.log(slowdowns / of_max_min)))))


def outcome_of(results: Results) -> tuple[Floats, float]:
    """Charged slowdowns of an episode's flows (n,), and the mean time of its jobs, ns; NaN without jobs."""
    time = job_completion(spans(results)) if SECTION in results else math.nan
    return charged_slowdowns(results), time


def measured_anchors(pool: LocalPool, spec: TaskSpec) -> Anchors:
    """Runs the test scenarios under the base, a constant window of one BDP and the reference.

    The base is the group's; if that is within 10 % of the reference, the constant window, or the one
    that is further from the reference. TCP has no such window.
    """
    tests = [spec.test(number) for number in range(TESTS)]
    players = {name: Controller(name=name) for name in dict.fromkeys((group_of(spec).base, spec.reference))}
    players["max_min"] = Controller(name="max_min")
    if tests[0].transport == "rdma":
        players[CONSTANT] = CONSTANT_WINDOW
    playing = {
        name: [pool.submit(Play(x.under(who.name, who.attributes), outcome_of)) for x in tests]
        for name, who in players.items()
    }
    episodes = {name: [future.result() for future in futures] for name, futures in playing.items()}
    values = {
        name: [
            value_of(spec, slowdowns, fair, time)
            for (slowdowns, time), (fair, _) in zip(outcomes, episodes["max_min"], strict=True)
        ]
        for name, outcomes in episodes.items()
    }
    candidates = [
        Anchors(VERSIONS[spec.name], digest(tests), name, values[name], values[spec.reference])
        for name in (group_of(spec).base, CONSTANT)
        if name in values
    ]
    wide = [x for x in candidates if x.base_value >= _LEAST_RATIO * x.reference_value]
    return wide[0] if wide else max(candidates, key=lambda x: x.base_value)


def write_anchors(specs: Sequence[TaskSpec], jobs: int | None = None) -> None:
    """Measures the tasks' anchors, prints them, and writes them into the package's file.

    Raises:
        ConfigError: they have moved, and the task's version has not; nothing is written.
        SimulatorError: the simulator failed.
    """
    stored = stored_anchors()
    with LocalPool(jobs) as pool:
        for spec in specs:
            anchors = measured_anchors(pool, spec)
            if (earlier := stored.get(spec.name)) is not None and earlier.version == anchors.version:
                _refuse_moved(spec, earlier, anchors)
            stored[spec.name] = anchors
            ratio = anchors.base_value / anchors.reference_value
            few = "" if ratio >= _LEAST_RATIO else "; within 10 % of each other"
            print(
                f"{spec.id}: {anchors.base} {anchors.base_value:.3f}, {spec.reference} "
                f"{anchors.reference_value:.3f}{few}"
            )
    content = {name: asdict(stored[name]) for name in VERSIONS if name in stored}
    write_atomically(FILE, json.dumps(content, indent=1) + "\n")
    print(FILE)


def _refuse_moved(spec: TaskSpec, earlier: Anchors, now: Anchors) -> None:
    same = now.base == earlier.base and np.allclose(
        [*now.base_values, *now.reference_values],
        [*earlier.base_values, *earlier.reference_values],
        rtol=_SAME,
        atol=0,
    )
    if not same:
        raise ConfigError(
            f"{spec.id}: {now.base} and {spec.reference} reach {now.base_value:.4g} and "
            f"{now.reference_value:.4g} now; {earlier.base} reached {earlier.base_value:.4g}, the reference "
            f"{earlier.reference_value:.4g}: scores would move. Raise its version in "
            "ns3_env/ids.py, and do this again"
        )
