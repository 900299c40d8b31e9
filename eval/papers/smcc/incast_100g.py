# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: layer 2's controllers at 100 Gb/s beside RDMA's, beyond Jiang 2015, Fig. 23."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ns3_env.eval.metrics import measure, without_nan
from ns3_env.eval.metrics.fairness import jain_index
from ns3_env.eval.papers.experiment import Played, experiment, repeated
from ns3_env.eval.papers.outcome import Claim, Outcome, grid
from ns3_env.eval.papers.seen import Seen, queues_csv
from ns3_env.eval.papers.smcc import network, queues
from ns3_env.eval.papers.smcc.network import LONG, MIXED, TO_RECEIVER, Entry
from ns3_env.scenario import Scenario
from ns3_env.simulator.results import Results

_RATE_BPS = 100e9
#: Bytes of layer 2's entries (q0, samples, cycles, T₁) are ten times the paper's, and times so a tenth: in
#: units of q0 and C the plane is the same. A hundredfold would need queues of 6.4 MB.
_BYTES = 10
_TARGET = _BYTES * network.TARGET_BYTES
_POINTS = {"target_bytes": _TARGET, "sample_bytes": _BYTES * network.SAMPLE_BYTES, "adaptive_sampling": False}
_BOTH = {**_POINTS, "feedback": "both"}
ENTRIES: Mapping[str, Entry] = {
    "qcn": Entry(
        "qcn",
        {"ByteReset": _BYTES * 150e3, "TimeReset": "150ms"},
        {"target_bytes": _TARGET, "sample_bytes": _BYTES * 150e3},
    ),
    "bcn": Entry("bcn", {"Target": _TARGET}, _BOTH),
    "smcc": Entry("smcc", {"Target": _TARGET, "DeltaThreshold": _BYTES * 8e3}, _BOTH),
    "dcqcn": Entry("dcqcn"),
    "hpcc": Entry("hpcc"),
    "timely": Entry("timely"),
}
_LAYER_2 = ("qcn", "bcn", "smcc")
_FINE_NS, _LONG_NS, _LIMIT_NS = 5_000, 40_000_000, 400_000_000
_SEEDS = 3
_METRICS = ("fct_slowdown_avg", "fct_slowdown_p99", "unfinished_flows", "pfc_frames")
Run = tuple[Seen, Mapping[str, float]]
_Case = tuple[str, str]
Table = Mapping[str, Mapping[str, float]]


def _end_ns(scale: float) -> int:
    return max(round(0.03 * _LONG_NS), round(scale * _LONG_NS))


def cases(scale: float) -> dict[_Case, Scenario | Callable[[int], Scenario]]:
    """15 to 1, long-lived and mixed; ``scale`` of the time, the sizes and of three seeds."""
    found: dict[_Case, Scenario | Callable[[int], Scenario]] = {}
    for name, entry in ENTRIES.items():
        more: dict[str, Any] = {
            "rate_bps": _RATE_BPS,
            "each_ns": _FINE_NS,
            "pfc": True,
            "windows": name in _LAYER_2,
        }
        found[LONG, name] = network.incast(entry, network.endless(), _end_ns(scale), **more)
        found[MIXED, name] = network.mixed_incast(scale, entry, _LIMIT_NS, **more)
    return found


def _keep(results: Results) -> Run:
    return Seen(results), measure(results, _METRICS)


@experiment(
    "smcc-incast-100g",
    "15 sources to one receiver at 100 Gb/s, beside DCQCN, HPCC and TIMELY",
    "Jiang 2015, Fig. 23, at another rate",
    1.0,
    "time, sizes, and of three seeds",
    repeated(cases, _keep, _SEEDS),
)
def outcome(played: Played[dict[_Case, list[Run]]]) -> Outcome:
    """As at 1 Gb/s, and slowdowns."""
    runs, end = played.runs, _end_ns(played.scale)
    first = {name: runs[LONG, name][0][0] for name in ENTRIES}
    long = {name: _long([x for x, _ in runs[LONG, name]], end) for name in ENTRIES}
    ended = {name: _ended(runs[MIXED, name]) for name in ENTRIES}
    notes = (
        "Not in the paper. The tree of smcc-incast with links of 100 Gb/s, PFC, buffers of 32 MiB. Rates of "
        "the laws are shares of the line rate; bytes (q0, samples, QCN's cycles, T₁) are ten times those at "
        "1 Gb/s, so that every time is a tenth. SMCC has two stages, QCN is the standard's; the others are "
        "as published.",
        "Settled: until the queue stays within a quarter of 640 kB from it for 2.5 ms. Jain's index: of the "
        f"bytes acknowledged. {len(runs[LONG, 'qcn'])} seeds; sizes are those of smcc-incast.",
    )
    heads = ("law", "settled (ms)", "longest (kB)", "mean (kB)", "std (kB)", "empty", "Jain", "pauses")
    names = ("settled_ms", "longest_kb", "mean_kb", "std_kb", "empty", "jain", "pauses")
    slowdowns = ("slowdown, mean", "p99")
    ended_heads = ("law", "all done (ms)", *slowdowns, "mean (kB)", "p99 (kB)", "empty", "pauses")
    ended_names = ("done_ms", "slowdown", "slowdown_p99", "mean_kb", "p99_kb", "empty", "pauses")
    drawn = [(name, own, 0, end, TO_RECEIVER) for name, own in first.items()]
    return Outcome(
        (),
        _claims(long, ended),
        (
            grid(f"15 long-lived flows, {end / 1e6:g} ms", heads, names, long.items()),
            grid("15 flows of mixed sizes", ended_heads, ended_names, ended.items()),
        ),
        notes,
        {"smcc-incast-100g": queues.draw_queues(drawn, 2.2, 4 * _TARGET, _TARGET)},
        {
            "queue": queues_csv(
                ("law", "t_ns", "queue_bytes"),
                {name: (own.times_ns, own.lengths[TO_RECEIVER]) for name, own in first.items()},
            )
        },
        {
            kind: {name: without_nan(own) for name, own in table.items()}
            for kind, table in ((LONG, long), (MIXED, ended))
        },
    )


def _long(runs: list[Seen], end: int) -> dict[str, float]:
    own = queues.of_burst(runs, end, _TARGET)
    return {
        "settled_ms": own["settled"],
        **{f"{key}_kb": own[key] for key in ("longest", "mean", "std")},
        "empty": own["empty"],
        "jain": float(np.mean([jain_index(run.flows["acked_bytes"]) for run in runs])),
        "pauses": own["pauses"],
    }


def _ended(runs: list[Run]) -> dict[str, float]:
    shared = np.concatenate([queues.while_shared(own) for own, _ in runs])
    mean = {name: float(np.mean([own[name] for _, own in runs])) for name in _METRICS}
    return {
        "done_ms": float(np.mean([max(own.flow_ends_ns) for own, _ in runs])) / 1e6,
        "slowdown": mean["fct_slowdown_avg"],
        "slowdown_p99": mean["fct_slowdown_p99"],
        "mean_kb": float(shared.mean()) / 1e3,
        "p99_kb": float(np.percentile(shared, 99)) / 1e3,
        "empty": queues.empty(shared),
        "pauses": mean["pfc_frames"],
    }


def _claims(long: Table, ended: Table) -> tuple[Claim, ...]:
    def listed(table: Table, key: str, unit: str) -> str:
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
