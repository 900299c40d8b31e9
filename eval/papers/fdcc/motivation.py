# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: why FDCC has a window and looks for fairness (Zhang 2023, Figs. 3.3 and 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from operator import gt
from typing import Any

import numpy as np

from ns3_env.eval.metrics import measure
from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers.experiment import Data, episodes, experiment
from ns3_env.eval.papers.fdcc.incasts import SIZE_BYTES, SWITCH
from ns3_env.eval.papers.outcome import Measured, Outcome, Verdict, grid
from ns3_env.eval.papers.panels import Drawing, Panel, bars, curve, labels
from ns3_env.eval.papers.runs import Run
from ns3_env.eval.papers.verdicts import Comparison, listed
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator.results import Floats

#: Flows of Figs. 3.3 and 4.1, and the time in which those of 4.1 start; observation time of the queue.
FOUR, MANY, START_NS, LOOK_NS = 4, 64, 1_000, 1_000_000
#: Rate-based controllers of Table 6.2, without a window and with one of a BDP (section 5.3).
RATE_BASED = ("dcqcn", "timely")
CONTROLLERS = (*RATE_BASED, "hpcc", "mpcc")
WINDOWS = {"rate alone": False, "with a window": True}
_SAMPLES = 1_000
#: Flows, controller, and whether a rate-based one has a window.
Case = tuple[int, str, str]


def cases(scale: float) -> dict[Case, Scenario]:
    """4-to-1 of ``scale`` x 20 MB at once; 64-to-1 within 1 µs, observed for 1 ms."""
    size = max(10_000, round(scale * SIZE_BYTES))
    four = Scenario(
        time_limit_ns=round(3 * FOUR * size * 8 / 100) + 2_000_000,
        topology=Dumbbell(senders=FOUR),
        traffic=Incast(size_bytes=size),
        switch=SWITCH,
    )
    many = Scenario(
        time_limit_ns=LOOK_NS,
        topology=Dumbbell(senders=MANY),
        traffic=Incast(size_bytes=SIZE_BYTES, spread_ns=START_NS),
        switch=SWITCH,
        record=Record(queue_series_ns=LOOK_NS // _SAMPLES),
    )
    scenarios = {
        (FOUR, name, ""): four.under(name, {"BdpWindow": True} if name in RATE_BASED else {})
        for name in CONTROLLERS
    }
    for name in RATE_BASED:
        for words, window in WINDOWS.items():
            scenarios[MANY, name, words] = many.under(name, {"BdpWindow": window})
    return scenarios


def keep(results: dict[str, Any]) -> tuple[Run, dict[str, float]]:
    """The run's columns, and its longest queue and pauses."""
    return Run(results), measure(results, ("queue_max_bytes", "queue_avg_bytes", "pfc_frames"))


@experiment(
    "fdcc-motivation",
    "Zhang 2023, Figs. 3.3 and 4.1",
    episodes(cases, keep),
    1.0,
    "20 MB of each of four flows",
)
def motivation(data: Data[dict[Case, tuple[Run, dict[str, float]]]]) -> Outcome:
    """Four flows that end apart, and 64 at once with and without a window."""
    four = {name: run.fcts_ms for (flows, name, _), (run, _) in data.runs.items() if flows == FOUR}
    many = {(name, words): (run, x) for (n, name, words), (run, x) in data.runs.items() if n == MANY}
    queues = {key: numbers for key, (_, numbers) in many.items()}
    apart = {name: float(np.ptp(fct) / fct.mean()) for name, fct in four.items()}
    times = {
        name: {**{f"flow {i}": float(x) for i, x in enumerate(np.sort(fct))}, "apart": apart[name]}
        for name, fct in four.items()
    }
    columns = "; ".join(f"{i + 1}. (ms) = flow {i}" for i in range(FOUR)) + "; last less first / mean = apart"
    of_queues = "longest queue (kB) = queue_max_bytes/1e3; mean (kB) = queue_avg_bytes/1e3; "
    of_queues += "pause frames = pfc_frames"
    title = "64-to-1 within 1 µs: the first millisecond"
    return Outcome(
        claims=claims(apart, queues),
        grids=(
            grid("4-to-1: completion times", "under", columns, times),
            grid(title, ("under", "window"), of_queues, queues.items()),
        ),
        pictures={
            "fdcc-fig-3-3": _draw_times(four),
            "fdcc-fig-4-1": _draw_queues({key: run for key, (run, _) in many.items()}),
        },
    )


def claims(apart: Mapping[str, float], many: Mapping[tuple[str, str], Measured]) -> dict[str, Verdict]:
    """Claims that Figs. 3.3 and 4.1 illustrate."""
    without, with_window = WINDOWS
    queues = {name: {words: many[name, words] for words in WINDOWS} for name in RATE_BASED}
    pauses = {f"{name}, {words}": numbers["pfc_frames"] or 0 for (name, words), numbers in many.items()}
    return {
        "Four flows that start together end apart under HPCC (3.4; here: by more than under any other)": (
            max(apart, key=lambda name: apart[name]) == "hpcc",
            "last less first, of the mean: " + listed(apart, ".2g"),
        ),
        "Without a window the buffer becomes full, with one the queue stays shorter (4.2)": (
            Comparison((without,), gt, (with_window,), "queue_max_bytes").tally(queues).verdict
        ),
        "Without a window PFC may be triggered, with one it is not (4.2, Fig. 4.1)": (
            any(many[name, without]["pfc_frames"] for name in RATE_BASED)
            and not any(many[name, with_window]["pfc_frames"] for name in RATE_BASED),
            "pause frames: " + listed(pauses, ".0f"),
        ),
    }


def _draw_times(four: Mapping[str, Floats]) -> Drawing:
    """Fig. 3.3: each flow's completion time, the shortest first."""
    places = {"xticks": np.arange(FOUR), "xticklabels": [f"{i + 1}." for i in range(FOUR)]}
    axes = labels("flow, in the order of their ends", "ms", **places)
    return Drawing(
        [Panel("completion time, 4-to-1", bars({name: np.sort(fct) for name, fct in four.items()}), axes)],
        1,
        2.8,
    )


def _draw_queues(many: Mapping[tuple[str, str], Run]) -> Drawing:
    """Fig. 4.1: the longest queue over the first millisecond."""
    panels = []
    for name in RATE_BASED:
        curves = []
        for words, look in styles(WINDOWS).items():
            run = many[name, words]
            queue = max(run.lengths.values(), key=lambda lengths: float(lengths.max()))
            curves.append(curve(run.times_ns, queue, words, look, (1e3, 1e3)))
        panels.append(Panel(f"64-to-1, {name}", curves, labels("µs", "queue (kB)")))
    return Drawing(panels, height=2.8)
