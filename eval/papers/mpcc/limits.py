# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments beyond MPCC's thesis: timeouts of its counter, rarer decisions, other costs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from ns3_env.eval.metrics import measure
from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers.experiment import Data, experiment, link_shares
from ns3_env.eval.papers.mpcc.link import Intervals
from ns3_env.eval.papers.mpcc.open_loop import BOTTLENECK, SENDERS
from ns3_env.eval.papers.outcome import Outcome, column
from ns3_env.eval.papers.panels import Drawing, Panel, bars, labels, marked
from ns3_env.eval.papers.runs import Shares
from ns3_env.eval.papers.verdicts import listed
from ns3_env.simulator.results import Results

#: Bins of the shares.
_BIN_NS = 1_000_000


@experiment("mpcc-timeouts", every=link_shares(BOTTLENECK, lambda scale: _BIN_NS))
def timeouts(data: Data[dict[str, Shares]]) -> Outcome:
    """Flows that end one after the other, by the timeout with which switches count flows."""
    numbers = {}
    for name, shares in data.runs.items():
        run = Intervals(shares)
        after = run.after("leaving")
        numbers[name] = {
            **run.numbers(*next(x for x in run.intervals if len(x[2]) == SENDERS)),
            **{f"taken_{i}": x["taken_ms"] for i, x in enumerate(after)},
            "taken": float(np.mean([x["taken_ms"] for x in after])) if after else float("nan"),
            "end": float(shares.results["totals"]["end_ns"]) / 1e6,
        }
    delays_ms, swings = column(numbers, "taken"), column(numbers, "swing")
    _, shortest, *_, longest = numbers
    waits = list(delays_ms.values())[1:]
    timeouts_ms = [data.scenario(name).switch.flow_timeout_ns / 1e6 for name in list(numbers)[1:]]
    axes = labels("timeout (ms)", "ms, mean", xscale="log", yscale="log")
    points = timeouts_ms, waits, None, styles(["taken"])["taken"].of_points
    return Outcome(
        claims={
            "A longer timeout of the flow counter slows the convergence (5.3; here: when flows end)": (
                all(after >= before - _BIN_NS / 1e6 for before, after in pairwise(waits))
                and waits[-1] > waits[0] + _BIN_NS / 1e6,
                f"until 95 % of the link is taken, mean, ms (bins of 1 ms): {listed(delays_ms, '.3g')}",
            ),
            "A shorter one increases the oscillation of the queue (5.3)": (
                swings[shortest] > swings[longest],
                f"standard deviation with four flows, B: {listed(swings, '.3g')}",
            ),
        },
        grids=data.declared.grids(numbers),
        pictures={"mpcc-timeouts": Drawing([Panel("until the link is taken again", [points], axes)], 1, 2.8)},
    )


#: Steps, horizon, time of a decision.
Case = tuple[str, int, int]
#: "Unharmed": at most this much more slowdown than deciding at each ACK at no cost.
UNHARMED = 0.01


def keep(results: Results) -> dict[str, float]:
    """Numbers that 6.2 weighs: slowdown, queue, goodput, and the number of decisions."""
    numbers = measure(results, ("fct_slowdown_avg", "queue_avg_bytes", "queue_max_bytes", "goodput"))
    counters = results["counters"]
    decisions = float(counters["mpcc_decisions"])
    return {**numbers, "decisions": decisions, "by_qpoases": counters["qp_solves"] / decisions}


@experiment("mpcc-decisions", keep)
def decisions(data: Data[dict[Case, dict[str, float]]]) -> Outcome:
    """MPCC that decides less often, looks further, and needs time for it: the thesis's future work."""
    slowdown = column(data.runs, "fct_slowdown_avg")
    best = slowdown["ACK", 5, 0]
    rare = {us: slowdown["RTT", 5, us] for us in (0, 1, 10)}
    far = {steps: slowdown[steps, 10, 0] / slowdown[steps, 1, 0] for steps in ("ACK", "16 ACKs", "RTT")}
    rows = [((steps, f"{p}", f"{us}"), numbers) for (steps, p, us), numbers in data.runs.items()]
    return Outcome(
        claims={
            f"Fewer decisions do no harm (6.2; here: one per RTT, at most {UNHARMED:.0%} more slowdown)": (
                rare[0] <= (1 + UNHARMED) * best,
                f"slowdown {best:.3f} with one at each ACK, {rare[0]:.3f} with one per RTT",
            ),
            "The horizon matters again where decisions are rare (6.2; here: slowdown of P = 10 over P = 1)": (
                abs(far["RTT"] - 1) > UNHARMED > abs(far["ACK"] - 1),
                listed(far, ".4f"),
            ),
            "With one decision per RTT the time to decide does no harm (6.2; here: 1 µs)": (
                rare[1] <= (1 + UNHARMED) * rare[0],
                "slowdown by µs: " + listed(rare, ".3f"),
            ),
        },
        grids=data.declared.grids(rows),
        pictures={"mpcc-decisions": _draw(data.runs)},
    )


def _draw(runs: Mapping[Case, Mapping[str, float]]) -> Drawing:
    """Slowdown and mean queue over the time of a decision, at a horizon of 5."""
    panels, times = [], (0, 1, 10)
    for key, title, unit in (
        ("fct_slowdown_avg", "slowdown, mean", 1.0),
        ("queue_avg_bytes", "queue, mean (kB)", 1e3),
    ):
        heights = {
            f"each {steps}": [runs[steps, 5, us][key] / unit for us in times]
            for steps in dict.fromkeys(steps for steps, _, _ in runs)
        }
        axes = {"xlabel": "a decision takes (µs)", "xscale": "symlog"}
        panels.append(Panel(title, marked(times, heights), axes))
    return Drawing(panels, height=2.8)


@experiment("mpcc-costs", keep)
def costs(data: Data[dict[str, dict[str, float]]]) -> Outcome:
    """MPCC with a terminal weight, a queue that is wanted, a cost of changes: where qpOASES is needed."""
    runs = data.runs
    terminal = runs["terminal weight 10"]["fct_slowdown_avg"] / runs["eq. 4.5"]["fct_slowdown_avg"]
    heights = {name: [x["fct_slowdown_avg"], x["queue_avg_bytes"] / 1e4] for name, x in runs.items()}
    ticks = {"xticks": [0, 1], "xticklabels": ["slowdown", "queue, mean (10 kB)"]}
    return Outcome(
        claims={
            f"The terminal cost is not crucial (4.4; here: it changes slowdown by at most {UNHARMED:.0%})": (
                abs(terminal - 1) <= UNHARMED,
                f"slowdown {terminal:.4f} of that without",
            ),
        },
        grids=data.declared.grids(runs),
        notes=(
            "Under eq. 4.5 the closed form is proven to be the optimum, and qpOASES is not called; where "
            "changes cost, each decision is qpOASES's.",
        ),
        pictures={"mpcc-costs": Drawing([Panel("8-to-1", bars(heights), ticks)], 1, 3.0)},
    )
