# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: laws of layer 2 at 100 Gb/s beside RDMA's, beyond the 1 Gb/s of Jiang 2015, Fig. 23."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ns3_env.eval.metrics import measure, without_nan
from ns3_env.eval.metrics.fairness import jain_index
from ns3_env.eval.paper.outcome import Claim, Experiment, Grid, Outcome, Progress
from ns3_env.eval.paper.smcc.figures import panel, queues
from ns3_env.eval.paper.smcc.network import (
    SAMPLE_BYTES,
    TARGET_BYTES,
    TO_RECEIVER,
    Law,
    endless,
    mixed,
    seeds,
    shared_until_ns,
    switch,
    topology,
)
from ns3_env.eval.paper.smcc.seen import Seen, grouped, numbers, play_with, response_ms, seen
from ns3_env.eval.plots.table import csv_text
from ns3_env.scenario import Controller, Record, Scenario
from ns3_env.scenario.traffic import FlowList
from ns3_env.simulator import Simulator

_RATE_BPS = 100e9
#: Bytes of the laws (q0, samples, cycles, T₁) are ten times the paper's, and times so a tenth: in units
#: of q0 and C the plane is the same. A hundredfold would need queues of 6.4 MB.
_BYTES = 10
_TARGET = _BYTES * TARGET_BYTES
_POINTS = {"target_bytes": _TARGET, "sample_bytes": _BYTES * SAMPLE_BYTES, "adaptive_sampling": False}
_BOTH = {**_POINTS, "feedback": "both"}
LAWS: Mapping[str, Law] = {
    "qcn": Law(
        "qcn",
        {"ByteReset": _BYTES * 150e3, "TimeReset": "150ms"},
        {"target_bytes": _TARGET, "sample_bytes": _BYTES * 150e3},
    ),
    "bcn": Law("bcn", {"Target": _TARGET}, _BOTH),
    "smcc": Law("smcc", {"Target": _TARGET, "DeltaThreshold": _BYTES * 8e3}, _BOTH),
    "dcqcn": Law("dcqcn"),
    "hpcc": Law("hpcc"),
    "timely": Law("timely"),
}
_LAYER_2 = ("qcn", "bcn", "smcc")
_FINE_NS, _LONG_NS, _LIMIT_NS = 5_000, 40_000_000, 400_000_000
_SEEDS = 3
_LONG, _MIXED = "long-lived", "mixed sizes"
_METRICS = ("fct_slowdown_avg", "fct_slowdown_p99", "unfinished_flows", "pfc_frames")
Run = tuple[Seen, Mapping[str, float]]


def _scenario(law: Law, flows: FlowList, end_ns: int) -> Scenario:
    return Scenario(
        time_limit_ns=end_ns,
        topology=topology(_RATE_BPS),
        traffic=flows,
        switch=switch(law, buffer_bytes=None, pfc=True),
        controllers=[Controller(name=law.controller, attributes=dict(law.attributes))],
        record=Record(queue_series_ns=_FINE_NS, windows=law.controller in _LAYER_2),
    )


def _seen(results: Mapping[str, Any]) -> Run:
    return seen(results), measure(results, _METRICS)


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """15 to 1, long-lived and mixed; ``scale`` of the time, the sizes and of three seeds."""
    end = max(round(0.03 * _LONG_NS), round(scale * _LONG_NS))
    cases = {}
    for name, law in LAWS.items():
        for seed in seeds(scale, _SEEDS):
            cases[_LONG, name, seed] = _scenario(law, endless(), end).with_seed(seed)
            cases[_MIXED, name, seed] = _scenario(law, mixed(seed, scale), _LIMIT_NS).with_seed(seed)
    found = play_with(simulator, cases, _seen, progress)
    runs = grouped(found, lambda case: case[:2])
    long = {name: _long([x for x, _ in runs[_LONG, name]], end) for name in LAWS}
    ended = {name: _ended(runs[_MIXED, name]) for name in LAWS}
    drawn = [panel(name, runs[_LONG, name][0][0], 0, end, TO_RECEIVER) for name in LAWS]
    notes = (
        "Not in the paper. The tree of smcc-incast with links of 100 Gb/s, PFC, buffers of 32 MiB. Rates "
        "of the laws "
        "are shares of the line rate; bytes (q0, samples, QCN's cycles, T₁) are ten times those at 1 Gb/s, "
        "so that "
        "every time is a tenth. SMCC has two stages, QCN is the standard's; the others are as published.",
        "Settled: until the queue stays within a quarter of 640 kB from it for 2.5 ms. Jain's index: of "
        "the bytes "
        f"acknowledged. {len(runs[_LONG, 'qcn'])} seeds; sizes are those of smcc-incast.",
    )
    return Outcome(
        (),
        _claims(long, ended),
        (
            Grid(
                f"15 long-lived flows, {end / 1e6:g} ms",
                ("law", "settled (ms)", "longest (kB)", "mean (kB)", "std (kB)", "empty", "Jain", "pauses"),
                [(name, *own.values()) for name, own in long.items()],
            ),
            Grid(
                "15 flows of mixed sizes",
                ("law", "all done (ms)", "slowdown, mean", "p99", "mean (kB)", "p99 (kB)", "empty", "pauses"),
                [(name, *own.values()) for name, own in ended.items()],
            ),
        ),
        notes,
        {"smcc-incast-100g": queues(drawn, 2.2, 4 * _TARGET, _TARGET)},
        {"queue": _csv({name: runs[_LONG, name][0][0] for name in LAWS})},
        {
            kind: {name: without_nan(own) for name, own in table.items()}
            for kind, table in ((_LONG, long), (_MIXED, ended))
        },
    )


def _long(runs: list[Seen], end: int) -> dict[str, float]:
    late = numbers(np.concatenate([own.fine(0.5 * end, end, TO_RECEIVER) for own in runs]))
    return {
        "settled_ms": response_ms(runs, TO_RECEIVER, _TARGET),
        "longest_kb": float(np.mean([own.queues[TO_RECEIVER].max() for own in runs])) / 1e3,
        "mean_kb": late.mean / 1e3,
        "std_kb": late.std / 1e3,
        "empty": late.empty,
        "jain": float(np.mean([jain_index(np.array(own.acked_bytes)) for own in runs])),
        "pauses": float(np.mean([own.pauses for own in runs])),
    }


def _ended(runs: list[Run]) -> dict[str, float]:
    shared = np.concatenate([own.fine(0, shared_until_ns(own.flow_ends_ns), TO_RECEIVER) for own, _ in runs])
    mean = {name: float(np.mean([own[name] for _, own in runs])) for name in _METRICS}
    return {
        "done_ms": float(np.mean([max(own.flow_ends_ns) for own, _ in runs])) / 1e6,
        "slowdown": mean["fct_slowdown_avg"],
        "slowdown_p99": mean["fct_slowdown_p99"],
        "mean_kb": float(shared.mean()) / 1e3,
        "p99_kb": float(np.percentile(shared, 99)) / 1e3,
        "empty": float((shared <= 0).mean()),
        "pauses": mean["pfc_frames"],
    }


def _claims(
    long: Mapping[str, Mapping[str, float]], ended: Mapping[str, Mapping[str, float]]
) -> tuple[Claim, ...]:
    def listed(table: Mapping[str, Mapping[str, float]], key: str, unit: str) -> str:
        return ", ".join(f"{name.upper()} {own[key]:.3g}{unit}" for name, own in table.items())

    return (
        Claim(
            "At 100 Gb/s, too, SMCC responds to the burst faster than QCN (of 5.5)",
            long["smcc"]["settled_ms"] < long["qcn"]["settled_ms"],
            listed({name: long[name] for name in _LAYER_2}, "settled_ms", " ms"),
        ),
        Claim(
            "At 100 Gb/s, too, QCN leaves the queue empty for longer than SMCC as flows end (of 5.5)",
            ended["qcn"]["empty"] > ended["smcc"]["empty"],
            listed(ended, "empty", ""),
        ),
    )


def _csv(runs: Mapping[str, Seen]) -> str:
    rows = [
        (name, round(i * run.fine_ns), round(length))
        for name, run in runs.items()
        for i, length in enumerate(run.queues[TO_RECEIVER])
    ]
    return csv_text(("law", "t_ns", "queue_bytes"), rows)


EXPERIMENT = Experiment(
    "smcc-incast-100g",
    "15 sources to one receiver at 100 Gb/s, beside DCQCN, HPCC and TIMELY",
    "Jiang 2015, Fig. 23, at another rate",
    1.0,
    "time, sizes, and of three seeds",
    run,
)
