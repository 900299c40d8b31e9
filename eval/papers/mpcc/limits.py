# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments beyond MPCC's thesis: timeouts of its counter, rarer decisions, other costs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from ns3_env.eval.metrics import measure
from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers.experiment import Data, counted, episodes, experiment
from ns3_env.eval.papers.mpcc.link import Intervals, timed
from ns3_env.eval.papers.mpcc.open_loop import BOTTLENECK, RATE_BPS, SENDERS
from ns3_env.eval.papers.outcome import Outcome, grid
from ns3_env.eval.papers.panels import Drawing, Panel, bars, labels, marked
from ns3_env.eval.papers.runs import Shares
from ns3_env.eval.papers.verdicts import listed
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast, Joining
from ns3_env.simulator.results import Results

#: Timeouts of the flow counter, ns: from shorter than the 35 µs between two frames of one flow in four.
TIMEOUTS_NS = {
    "20 µs": 20_000,
    "100 µs": 100_000,
    "1 ms": 1_000_000,
    "10 ms": 10_000_000,
    "100 ms": 100_000_000,
}
EXACT = "exact"
#: Sizes of the four flows at scale 1: one ends after 256 ms, the next ones 192, 128 and 64 ms later.
SIZES_BYTES = (8_000_000, 16_000_000, 24_000_000, 32_000_000)
_BIN_NS, _SAMPLE_NS, _LIMIT_NS = 1_000_000, 50_007, 2_000_000_000


def timeout_cases(scale: float) -> dict[str, Scenario]:
    """Four flows at once at 1 Gb/s to their ends, ``scale`` times as large, by the counter's timeout."""
    base = Scenario(
        time_limit_ns=_LIMIT_NS,
        topology=Dumbbell(senders=SENDERS, rate_bps=RATE_BPS),
        traffic=Joining(sizes_bytes=[max(10_000, round(scale * x)) for x in SIZES_BYTES], interval_ns=1000),
        record=Record(queue_series_ns=_SAMPLE_NS, windows=False),
    )
    return {EXACT: base.under("mpcc"), **{name: timed(base, ns) for name, ns in TIMEOUTS_NS.items()}}


@experiment(
    "mpcc-timeouts",
    "Zheng 2024, section 5.3",
    counted(timeout_cases, BOTTLENECK, lambda scale: _BIN_NS),
    1.0,
    "sizes of the flows",
)
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
    delays_ms, swings = ({name: x[key] for name, x in numbers.items()} for key in ("taken", "swing"))
    waits = [delays_ms[name] for name in TIMEOUTS_NS]
    shortest, *_, longest = TIMEOUTS_NS
    columns = "link taken after the 1st end (ms) = taken_0; 2nd (ms) = taken_1; 3rd (ms) = taken_2; "
    columns += "queue of four (B) = settled; its deviation (B) = swing; all done (ms) = end"
    axes = labels("timeout (ms)", "ms, mean", xscale="log", yscale="log")
    points = [ns / 1e6 for ns in TIMEOUTS_NS.values()], waits, None, styles(["taken"])["taken"].of_points
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
        grids=(grid("After flows have ended", "timeout", columns, numbers),),
        pictures={"mpcc-timeouts": Drawing([Panel("until the link is taken again", [points], axes)], 1, 2.8)},
    )


#: ACKs from decision to decision (0: once per RTT), horizons, and µs of simulated time that a decision lasts.
ACKS, HORIZONS, TIMES_US = (1, 4, 16, 0), (1, 5, 10), (0, 1, 10)
_EACH = {1: "ACK", **{acks: f"{acks} ACKs" for acks in ACKS if acks > 1}, 0: "RTT"}
_FLOWS, _FLOW_BYTES, _SPREAD_NS = 8, 2_000_000, 100_000
#: Steps, horizon, time of a decision.
Case = tuple[str, int, int]
#: "Unharmed": at most this much more slowdown than deciding at each ACK at no cost.
UNHARMED = 0.01


def _eight(scale: float) -> Scenario:
    return Scenario(
        time_limit_ns=100_000_000,
        topology=Dumbbell(senders=_FLOWS),
        traffic=Incast(size_bytes=max(10_000, round(scale * _FLOW_BYTES)), spread_ns=_SPREAD_NS),
    )


def decision_cases(scale: float) -> dict[Case, Scenario]:
    """8-to-1 at 100 Gb/s of ``scale`` x 2 MB, by MPCC's decision rate, horizon, and the time that a decision
    needs; the idle time until the next decision is used, as in section 6.2."""
    base = _eight(scale)
    return {
        (_EACH[acks], horizon, us): base.under(
            "mpcc", {"AcksPerDecision": acks, "Horizon": horizon, "ComputationTime": f"{us}us"}
        )
        for acks in ACKS
        for horizon in HORIZONS
        for us in TIMES_US
    }


def keep(results: Results) -> dict[str, float]:
    """Numbers that 6.2 weighs: slowdown, queue, goodput, and the number of decisions."""
    numbers = measure(results, ("fct_slowdown_avg", "queue_avg_bytes", "queue_max_bytes", "goodput"))
    counters = results["counters"]
    decisions = float(counters["mpcc_decisions"])
    return {**numbers, "decisions": decisions, "by_qpoases": counters["qp_solves"] / decisions}


#: Columns of the result of :func:`keep`.
_COLUMNS = (
    "slowdown = fct_slowdown_avg; goodput = goodput; queue, mean (kB) = queue_avg_bytes/1e3; "
    "longest (kB) = queue_max_bytes/1e3; decisions = decisions"
)


@experiment(
    "mpcc-decisions", "Zheng 2024, section 6.2", episodes(decision_cases, keep), 1.0, "2 MB of each flow"
)
def decisions(data: Data[dict[Case, dict[str, float]]]) -> Outcome:
    """MPCC that decides less often, looks further, and needs time for it: the thesis's future work."""
    slowdown = {case: numbers["fct_slowdown_avg"] for case, numbers in data.runs.items()}
    best = slowdown["ACK", 5, 0]
    rare = {us: slowdown["RTT", 5, us] for us in TIMES_US}
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
        grids=(grid("8-to-1 by how MPCC decides", ("each", "P", "µs"), _COLUMNS, rows),),
        pictures={"mpcc-decisions": _draw(data.runs)},
    )


def _draw(runs: Mapping[Case, Mapping[str, float]]) -> Drawing:
    """Slowdown and mean queue over the time of a decision, at a horizon of 5."""
    panels = []
    for key, title, unit in (
        ("fct_slowdown_avg", "slowdown, mean", 1.0),
        ("queue_avg_bytes", "queue, mean (kB)", 1e3),
    ):
        heights = {
            f"each {steps}": [runs[steps, 5, us][key] / unit for us in TIMES_US] for steps in _EACH.values()
        }
        axes = {"xlabel": "a decision takes (µs)", "xscale": "symlog"}
        panels.append(Panel(title, marked(TIMES_US, heights), axes))
    return Drawing(panels, height=2.8)


#: Attributes of each cost; the first is the thesis's, eq. 4.5.
COSTS: Mapping[str, Mapping[str, float]] = {
    "eq. 4.5": {},
    "terminal weight 10": {"TerminalWeight": 10.0},
    "queue of 0.1 BDP wanted": {"QueueReference": 0.1},
    "queue of 0.3 BDP wanted": {"QueueReference": 0.3},
    "changes cost 10": {"WeightChange": 10.0},
    "changes cost 100": {"WeightChange": 100.0},
}


def cost_cases(scale: float) -> dict[str, Scenario]:
    """8-to-1 at 100 Gb/s of ``scale`` x 2 MB, by the cost that MPCC minimises."""
    return {name: _eight(scale).under("mpcc", attributes) for name, attributes in COSTS.items()}


@experiment(
    "mpcc-costs", "Zheng 2024, eqs. 4.4 and 4.5", episodes(cost_cases, keep), 1.0, "2 MB of each flow"
)
def costs(data: Data[dict[str, dict[str, float]]]) -> Outcome:
    """MPCC with a terminal weight, a queue that is wanted, a cost of changes: where qpOASES is needed."""
    runs = data.runs
    thesis = next(iter(COSTS))
    terminal = runs["terminal weight 10"]["fct_slowdown_avg"] / runs[thesis]["fct_slowdown_avg"]
    columns = f"{_COLUMNS}; by qpOASES = by_qpoases"
    heights = {name: [x["fct_slowdown_avg"], x["queue_avg_bytes"] / 1e4] for name, x in runs.items()}
    ticks = {"xticks": [0, 1], "xticklabels": ["slowdown", "queue, mean (10 kB)"]}
    return Outcome(
        claims={
            f"The terminal cost is not crucial (4.4; here: it changes slowdown by at most {UNHARMED:.0%})": (
                abs(terminal - 1) <= UNHARMED,
                f"slowdown {terminal:.4f} of that without",
            ),
        },
        grids=(grid("8-to-1 by the cost", "cost", columns, runs),),
        notes=(
            "Under eq. 4.5 the closed form is proven to be the optimum, and qpOASES is not called; where "
            "changes cost, each decision is qpOASES's.",
        ),
        pictures={"mpcc-costs": Drawing([Panel("8-to-1", bars(heights), ticks)], 1, 3.0)},
    )
