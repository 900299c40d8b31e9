# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: 15-to-1 incasts, long-lived and of mixed sizes (Jiang 2015, Fig. 23)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ns3_env.eval.metrics.fairness import jain_index
from ns3_env.eval.papers.experiment import Data, experiment, repeated
from ns3_env.eval.papers.outcome import Outcome, grid
from ns3_env.eval.papers.runs import Run, mean
from ns3_env.eval.papers.smcc import network, numbers
from ns3_env.eval.papers.smcc.network import BCN, ENTRIES, QCN, SMCC, STANDARD, TO_RECEIVER, TWO_STAGES
from ns3_env.eval.papers.verdicts import listed
from ns3_env.scenario import Scenario
from ns3_env.simulator.results import Floats

#: Long-lived flows are observed for this time; mixed ones until the last one's end, or this.
_SECONDS, _LIMIT_S = 2.0, 20.0
#: "Held": a mean this near to the target in the second half.
_HELD_BYTES = 16e3
#: Kinds of flows.
LONG, MIXED = "long-lived", "mixed sizes"
_SHOWN = (TWO_STAGES, QCN, STANDARD, SMCC, BCN)
_Case = tuple[str, str]


def cases(scale: float) -> dict[_Case, Scenario | Callable[[int], Scenario]]:
    """15 to 1, long-lived and mixed; ``scale`` of the time, the sizes and of five seeds."""
    end, limit = network.shorter(scale, _SECONDS), network.shorter(scale, _LIMIT_S)
    to_one = partial(network.scenario, topology=network.TREE, buffer_bytes=None)  # never full

    def mixed(name: str, seed: int) -> Scenario:
        return to_one(ENTRIES[name], limit, network.mixed(seed, scale)).with_seed(seed)

    both: dict[_Case, Scenario | Callable[[int], Scenario]] = {}
    for name in _SHOWN:
        both[LONG, name] = to_one(ENTRIES[name], end, network.endless((i, 0) for i in network.SENDERS))
        both[MIXED, name] = partial(mixed, name)
    return both


@experiment(
    "smcc-incast", "Jiang 2015, Fig. 23", repeated(cases, Run, 5), 1.0, "time, sizes, and of five seeds"
)
def incast(data: Data[dict[_Case, list[Run]]]) -> Outcome:
    """15 sources to one receiver, long-lived and of mixed sizes."""
    runs, end = data.runs, network.shorter(data.scale, _SECONDS)
    long = {name: _of_long(runs[LONG, name], end) for name in _SHOWN}
    ended = {name: _of_mixed(runs[MIXED, name]) for name in _SHOWN}
    all_panels: list[numbers.Panel] = [
        (f"{name}, long-lived", runs[LONG, name][0], 0, end, TO_RECEIVER) for name in _SHOWN[:2]
    ]
    for name in _SHOWN[:2]:
        run = runs[MIXED, name][0]
        all_panels.append((f"{name}, mixed", run, 0, run.end_ns, TO_RECEIVER))
    spread = "mean (kB) = mean; std (kB) = std; empty = empty"
    long_columns = f"settled (ms) = settled; longest (kB) = longest; {spread}; Jain = jain; lost = lost"
    ended_columns = (
        "empty (ms) = empty_ms; empty = empty; all done (s) = done/1e9; mean (kB) = mean; lost = lost"
    )
    means = {name: long[name]["mean"] for name in (TWO_STAGES, QCN)}
    settled = {name: long[name]["settled"] for name in _SHOWN}
    empty = {name: ended[name]["empty_ms"] for name in _SHOWN}
    target = network.TARGET_BYTES / 1e3
    return Outcome(
        claims={
            "Long-lived flows: both hold the queue at its target (5.5; here: a mean within 16 kB of it)": (
                all(abs(x - target) <= _HELD_BYTES / 1e3 for x in means.values()),
                listed(means, ".1f", " kB"),
            ),
            "SMCC responds to the burst faster than QCN (5.5)": (
                settled[TWO_STAGES] < settled[QCN],
                listed(settled, ".0f", " ms", "nan"),
            ),
            "Mixed sizes: QCN leaves the buffer empty for longer than SMCC as flows end (5.5)": (
                empty[QCN] > empty[TWO_STAGES],
                listed(empty, ".0f", " ms"),
            ),
        },
        grids=(
            grid("15 long-lived flows", "law", long_columns, long.items()),
            grid("15 flows of mixed sizes", "law", ended_columns, ended.items()),
        ),
        notes=(f"{len(runs[LONG, QCN])} seeds; the paper has one.",),
        pictures={"smcc-fig-23": numbers.draw_queues(all_panels)},
    )


def _of_long(runs: list[Run], end_ns: float) -> dict[str, float]:
    """Numbers of the second half, when the queue had settled (ms), the longest one (kB), lost packets and
    Jain's index of rates on average."""
    rates = [run.mean_rates(0.5 * end_ns, end_ns, 1000) for run in runs]
    return {
        **numbers.numbers(numbers.fine(runs, 0.5 * end_ns, end_ns, TO_RECEIVER)),
        "settled": numbers.response_ms(runs, TO_RECEIVER),
        "longest": mean(run.lengths[TO_RECEIVER].max() for run in runs) / 1e3,
        "lost": mean(run.lost for run in runs),
        "jain": mean(float(jain_index(record)) for record in rates),
    }


def _of_mixed(runs: list[Run]) -> dict[str, float]:
    """Numbers of the receiver's queue while two or more flows share it; then only the last affects it."""
    shared: list[Floats] = [run.queue(TO_RECEIVER, 0, float(sorted(run.flow_ends_ns)[-2])) for run in runs]
    return {
        "empty_ms": mean(float((record <= 0).sum()) * network.FINE_NS / 1e6 for record in shared),
        "empty": numbers.empty(np.concatenate(shared)),
        "done": mean(max(record.flow_ends_ns) for record in runs),
        "mean": float(np.concatenate(shared).mean()) / 1e3,
        "lost": mean(record.lost for record in runs),
    }
