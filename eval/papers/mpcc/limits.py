# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: the fat-tree of Zheng 2024; and beyond the thesis timeouts, rare decisions, costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from ns3_env.eval.metrics import measure
from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers import workloads
from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.experiment import Data, experiment, link_shares
from ns3_env.eval.papers.mpcc.link import Intervals
from ns3_env.eval.papers.mpcc.open_loop import BOTTLENECK, SENDERS
from ns3_env.eval.papers.outcome import Outcome, Verdict, column
from ns3_env.eval.papers.panels import Drawing, Panel, bars, labels, marked
from ns3_env.eval.papers.runs import Shares
from ns3_env.eval.papers.verdicts import below_one, in_every_case, listed
from ns3_env.eval.papers.workloads import SIZES, Case, Load, Loads
from ns3_env.scenario import Scenario
from ns3_env.simulator.results import Results
from ns3_env.tasks.anchors import geometric_mean

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
_Case = tuple[str, int, int]
#: "Unharmed": at most this much more slowdown than deciding at each ACK at no cost.
UNHARMED = 0.01


def keep(results: Results) -> dict[str, float]:
    """Numbers that 6.2 weighs: slowdown, queue, goodput, and the number of decisions."""
    numbers = measure(results, ("fct_slowdown_avg", "queue_avg_bytes", "queue_max_bytes", "goodput"))
    counters = results["counters"]
    decisions = float(counters["mpcc_decisions"])
    return {**numbers, "decisions": decisions, "by_qpoases": counters["qp_solves"] / decisions}


@experiment("mpcc-decisions", keep)
def decisions(data: Data[dict[_Case, dict[str, float]]]) -> Outcome:
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


def _draw(runs: Mapping[_Case, Mapping[str, float]]) -> Drawing:
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


#: The thesis's five (section 5.1.2).
FIVE = ("mpcc", "hpcc", "dctcp", "dcqcn", "timely")
#: The thesis parts "relatively smaller" from "larger" flows without a number: here at 100 kB and 1 MB.
SMALL, LARGE = ("to_10kB", "to_100kB"), "over_1MB"
#: "Comparable": at most this share above the better of the other controllers.
COMPARABLE = 0.1


def cases(scale: float) -> dict[Case, Scenario]:
    """The declared cases."""
    scenarios: dict[tuple[str, float], Scenario] = declared("mpcc-fat-tree").cases(scale)
    return {
        Case(workload.partition(",")[0], load, "," in workload): scenario
        for (workload, load), scenario in scenarios.items()
    }


@experiment("mpcc-fat-tree", workloads.measure, cases=cases)
def fat_tree(data: Data[dict[Case, dict[str, Load]]]) -> Outcome:
    """WebSearch and FB_Hadoop on a fat-tree, five controllers and FDCC."""
    loads = data.runs
    pictures = {}
    for sizes, first in (("websearch", 6), ("fb_hadoop", 8)):
        item = {case: by_name for case, by_name in loads.items() if case.sizes == sizes}
        pictures[f"fig-5-{first}"] = workloads.draw_queues(item)
        pictures[f"fig-5-{first + 1}"] = workloads.draw_slowdowns(item)
    return Outcome(
        claims=claims(loads),
        grids=workloads.grids(loads),
        notes=(workloads.arrivals(loads, data.scale * 10e6), *data.notes),
        pictures=pictures,
    )


def claims(loads: Loads) -> dict[str, Verdict]:
    """One for each sentence of section 5.4 that numbers can decide."""
    slow = "MPCC has less slowdown than TIMELY and DCQCN, always (5.4; here: "
    return {
        "MPCC has the least queue of all, always (5.4, Figs. 5.6 and 5.8)": _least_queue(loads),
        f"{slow}over all flows)": _below(loads, ("timely", "dcqcn"), ("",)),
        f"{slow}at every size)": _below(loads, ("timely", "dcqcn"), tuple(SIZES)),
        "MPCC has less slowdown than DCTCP and HPCC for small flows (5.4; here: up to 100 kB)": _below(
            loads, ("dctcp", "hpcc"), SMALL
        ),
        "MPCC's slowdown of large flows is comparable to DCTCP's and HPCC's (5.4; here: at most "
        f"{COMPARABLE:.0%} above the better of them)": _comparable(loads),
    }


def _least_queue(loads: Loads) -> Verdict:
    evidence, holds = [], True
    for what, key in (("mean", "qlen_avg"), ("p99", "qlen_p99")):
        least = [min(FIVE, key=lambda name: item[name].numbers[key]) for item in loads.values()]
        others = sorted(set(least) - {"mpcc"})
        rest = f", else {', '.join(others)}" if others else ""
        evidence.append(f"least {what} in {least.count('mpcc')} of {len(loads)} cases{rest}")
        holds = holds and not others
    return holds, "; ".join(evidence)


def _below(loads: Loads, others: Sequence[str], buckets: Sequence[str]) -> Verdict:
    """Judges MPCC's mean slowdown over that of each other, in every case and bucket that has flows."""
    ratios = {
        (f"{case.title}{f' {SIZES[bucket]}' if bucket else ''} ({other.upper()})", other): (
            item["mpcc"].mean(bucket) / item[other].mean(bucket)
        )
        for case, item in loads.items()
        for bucket in buckets
        for other in others
    }
    means = []
    for name in others:
        defined = [x for (_, other), x in ratios.items() if other == name and not math.isnan(x)]
        if defined:
            means.append(f"{geometric_mean(defined):.2f} of {name.upper()}'s")
    places = {place: x for (place, _), x in ratios.items()}
    return below_one(
        places, "less in", f" (in the mean {', '.join(means)})", "no flows of these sizes finished"
    )


def _comparable(loads: Loads) -> Verdict:
    ratios = {
        case.title: item["mpcc"].mean(LARGE) / min(item[other].mean(LARGE) for other in ("dctcp", "hpcc"))
        for case, item in loads.items()
    }
    more = {title: 100 * (x - 1) for title, x in ratios.items() if not math.isnan(x)}
    words, none = "at worst {:+.0f} %", "no flow above 1 MB finished"
    return in_every_case(more, lambda x: x <= 100 * COMPARABLE, max, words, none)
