# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: two bottlenecks on one path, and which of them MPCC regulates (Zheng 2024, Fig. 3.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

import numpy as np

from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.mpcc.link import FRAME_BYTES
from ns3_env.eval.papers.outcome import Grid, Outcome
from ns3_env.eval.papers.panels import FREE, SWITCH, Drawing, Panel, curve, labels
from ns3_env.eval.papers.runs import Port, Run
from ns3_env.eval.papers.verdicts import listed
from ns3_env.simulator.results import Floats, Results

#: (node, port) of the queues of the bottlenecks by the switch's number, which is its place on flow 0's path.
BOTTLENECKS: Mapping[int, Port] = {1: (5, 2), 3: (7, 2)}
#: Shown, and from when on queues have settled.
_SHOWN_NS, _SETTLED_NS = 60_000, 100_000
#: "No underuse": at least this share of the link.
_USED = 0.99


def keep(results: Results) -> tuple[Run, Floats]:
    """The run, and the changes of flow 0's state switch: (changes, 2) time (ns) and hop, from 1."""
    states = [
        (t, hop) for t, flow, name, hop in results["controller_state"] if (flow, name) == (0, "StateHop")
    ]
    return Run(results), np.array(states, dtype=np.float64).reshape(-1, 2)


@experiment("mpcc-state-switch", keep)
def state_switch(data: Data[dict[str, tuple[Run, Floats]]]) -> Outcome:
    """Three flows over two bottlenecks: both queues, and whose of them is flow 0's state."""
    table = {name: _numbers(run) for name, (run, _) in data.runs.items()}
    peaks, rests, used = ({name: numbers[i] for name, numbers in table.items()} for i in range(3))
    states = {name: hops[:, 1] for name, (_, hops) in data.runs.items()}

    def words(values: Mapping[str, Iterable[float]], form: str) -> str:
        return "; ".join(f"{name}: {listed(x, form)}" for name, x in values.items())

    heads = [(f"switch {i}: longest (kB)", "settled (B)", "link used") for i in BOTTLENECKS]
    rows = [(name, *map(float, numbers.T.flat)) for name, numbers in table.items()]
    return Outcome(
        claims={
            "Three flows make both switch 1 and switch 3 bottlenecks (3.4)": (
                np.min([*peaks.values()]) > 3 * FRAME_BYTES / 1e3,
                f"longest queues, kB: {words(peaks, '.0f')}",
            ),
            "The longest queue's switch is the state, now one and now the other (3.4, Algorithm 1)": (
                all(set(hops) == set(BOTTLENECKS) for hops in states.values()),
                f"switch by switch: {words(states, 'g')}",
            ),
            "One state at a time takes both queues to zero, and neither link is underused (3.4)": (
                np.max([*rests.values()]) < FRAME_BYTES and np.min([*used.values()]) >= _USED,
                f"means once settled, B: {words(rests, '.0f')}; links used: {words(used, '.4f')}",
            ),
        },
        grids=(Grid("Two bottlenecks", ("flows", *chain(*heads)), rows),),
        pictures={"fig-3-6": _draw(data.runs)},
    )


def _numbers(run: Run) -> Floats:
    """The longest (kB) and the settled mean (B) of either queue, and the use of its link: (3, 2)."""
    late = run.times_ns >= _SETTLED_NS
    queues = [run.lengths[port] for port in BOTTLENECKS.values()]
    used = [run.used(port) for port in BOTTLENECKS.values()]
    return np.array([[x.max() / 1e3 for x in queues], [x[late].mean() for x in queues], used])


def _draw(runs: Mapping[str, tuple[Run, Floats]]) -> Drawing:
    """The queues while they settle, a panel for each run; a line above them while each is the state."""
    looks = dict(zip(BOTTLENECKS, (SWITCH, FREE), strict=True))
    several = []
    for name, (run, hops) in runs.items():
        top = 1.1 * max(run.lengths[port].max() for port in BOTTLENECKS.values()) / 1e3
        curves = [
            curve(run.times_ns, run.lengths[port], f"switch {i}", looks[i], (1e3, 1e3), until=_SHOWN_NS)
            for i, port in BOTTLENECKS.items()
        ]
        ends = np.append(hops[1:, 0], _SHOWN_NS).clip(max=_SHOWN_NS) / 1e3
        for (begin, hop), end in zip(hops, ends, strict=True):
            line = {**looks[int(hop)].of_line, "linewidth": 5.0, "solid_capstyle": "butt"}
            curves.append(((begin / 1e3, end), (top, top), None, line))
        axes = labels("time (µs)", "queue (kB)", xlim=(0, _SHOWN_NS / 1e3), ylim=(0, 1.05 * top))
        several.append(Panel(name, curves, axes))
    return Drawing(several, height=2.8)
