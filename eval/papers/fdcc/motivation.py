# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: why FDCC has a window and looks for fairness (Zhang 2023, Figs. 3.3 and 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ns3_env.eval.metrics import measure
from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Measured, Outcome, Verdict
from ns3_env.eval.papers.panels import Drawing, Panel, bars, curve, labels
from ns3_env.eval.papers.runs import Run
from ns3_env.eval.papers.verdicts import Comparison, listed
from ns3_env.scenario import Scenario
from ns3_env.simulator.results import Floats

#: Flows of Figs. 3.3 and 4.1.
FOUR, MANY = 4, 64
#: Rate-based controllers of Table 6.2, without a window and with one of a BDP (section 5.3).
RATE_BASED = ("dcqcn", "timely")
CONTROLLERS = (*RATE_BASED, "hpcc", "mpcc")
WINDOWS = {"rate alone": False, "with a window": True}
#: Flows, controller, and whether a rate-based one has a window.
Case = tuple[int, str, str]


def cases(scale: float) -> dict[Case, Scenario]:
    """The declared networks under each controller."""
    bases = declared("fdcc-motivation").cases(scale)
    scenarios = {
        (FOUR, name, ""): bases[FOUR].under(name, {"BdpWindow": True} if name in RATE_BASED else {})
        for name in CONTROLLERS
    }
    for name in RATE_BASED:
        for words, window in WINDOWS.items():
            scenarios[MANY, name, words] = bases[MANY].under(name, {"BdpWindow": window})
    return scenarios


def keep(results: dict[str, Any]) -> tuple[Run, dict[str, float]]:
    """The run's columns, and its longest queue and pauses."""
    return Run(results), measure(results, ("queue_max_bytes", "queue_avg_bytes", "pfc_frames"))


@experiment("fdcc-motivation", keep, cases=cases)
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
    return Outcome(
        claims=claims(apart, queues),
        grids=data.declared.grids(times, queues),
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
            Comparison((without,), ">", (with_window,), "queue_max_bytes").tally(queues).verdict
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
