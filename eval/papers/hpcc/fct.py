# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: FB_Hadoop between 320 hosts, by flow size, with pauses and latency (Li 2019, Fig. 11)."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import LogLocator, NullLocator

from ns3_env.eval.output.plots import styles
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Played, entered, experiment
from ns3_env.eval.papers.hpcc import network
from ns3_env.eval.papers.hpcc.claims import claims
from ns3_env.eval.papers.hpcc.measured import LABELS, SHORT, Runs, Seen, best, measure
from ns3_env.eval.papers.hpcc.network import BUSY, ENTRIES, INCAST, PAPER
from ns3_env.eval.papers.outcome import Outcome, Row, defined, grid
from ns3_env.eval.papers.panels import finished, panels
from ns3_env.scenario import Scenario

#: A million flows at 30 %, as the paper's are said to be.
_DURATION_NS, _LEAST_NS = 100_000_000, 20_000
#: Printed: the 95th percentile of latency at 50 % (µs), and what HPCC's headroom costs long flows there.
LATENCY_US, LONGER = 19.8, 1.24
#: Under DCQCN: read off panels a and c by a reader, and what the published simulator gave him.
READ_OFF, PLAYED = {INCAST: 65.0, BUSY: 5.0}, {INCAST: 120.0, BUSY: 8.0}


def cases(scale: float) -> dict[str, Scenario]:
    """Either load; ``scale`` x 100 ms of arrivals, then as long as the flows need."""
    return network.cases(max(_LEAST_NS, round(scale * _DURATION_NS)))


@experiment(
    "hpcc-fct",
    "FB_Hadoop between 320 hosts, with and without incasts, by flow size",
    "Li 2019, Fig. 11",
    0.005,
    "100 ms in which flows arrive",
    entered(ENTRIES, cases, measure),
    trained=True,
)
def outcome(played: Played[dict[str, dict[str, Seen]]]) -> Outcome:
    """Slowdowns by size, pauses and latency, under the paper's six and under others."""
    runs = played.runs
    heads = ("load", "under", *LABELS)
    slowdowns = [
        ((case, name), {label: own.slowdowns[label]["p95"] for label in LABELS})
        for case, by_name in runs.items()
        for name, own in by_name.items()
    ]
    others = [((case, name), own.numbers) for case, by_name in runs.items() for name, own in by_name.items()]
    grids = (
        grid("FCT slowdown by size up to (B), 95th percentile", heads, LABELS, slowdowns),
        grid(
            "Latency (µs), links paused (share of time), pause frames, flows without an end",
            ("load", "under", "median", "95 %", "99 %", "paused", "pauses", "unfinished"),
            ("latency_p50_us", "latency_p95_us", "latency_p99_us", "paused", "pauses", "unfinished"),
            others,
        ),
    )
    flows = ", ".join(f"{next(iter(by_name.values())).flows:,} at {case}" for case, by_name in runs.items())
    notes = (
        f"{played.scale * _DURATION_NS / 1e6:g} ms of arrivals, one seed, the same flows for all: {flows}, "
        "beside the incasts, which are in no slowdown, as in the authors' analysis. A flow without an end "
        "pays for what is left. The network is empty at first.",
        "The paper itself was not at hand: its network, settings and analysis are those of the authors' "
        "published files, its statements and numbers those that others cite (docs/sources/baselines.md, Li "
        "2019). DCQCN's slowdowns are a reader's of the figure, who read off 60 to 70 and 5, and got "
        "120 and a little more than 8 from the published simulator.",
        "A slowdown is over the completion time alone with the same headers, HPCC's 42 bytes among them; "
        "the authors' is over that without. Latency is that of a packet and its ACK, over the flows "
        "that are one packet: what arrivals at random see. Paused is the share of time and links.",
        *played.notes,
    )
    return Outcome(
        _rows(runs),
        claims(runs),
        grids,
        notes,
        {"hpcc-fig-11-slowdown": _draw_slowdowns(runs), "hpcc-fig-11-latency": _draw_latency(runs)},
        {"slowdown": _csv(runs)},
        {
            case: {n: {k: defined(x) for k, x in own.numbers.items()} for n, own in r.items()}
            for case, r in runs.items()
        },
    )


def _rows(runs: Runs) -> list[Row]:
    """Ours beside the few numbers there are."""
    busy = runs[BUSY]["hpcc"].numbers
    longer = busy["long"] / best(runs[BUSY], "long")
    tails = [
        (f"DCQCN, 95 % slowdown of {SHORT[0]} B, {case}", "", x, runs[case]["dcqcn"].p95(SHORT[0]), where)
        for case in (INCAST, BUSY)
        for x, where in (
            (READ_OFF[case], "Fig. 11, read off"),
            (PLAYED[case], "published simulator, a reader's run"),
        )
    ]
    latency = (f"HPCC, 95 % latency, {BUSY}", "µs", LATENCY_US, busy["latency_p95_us"], "5.3")
    flows = f"flows above 120 kB under HPCC over the best of the paper's others, {BUSY}"
    return [Row(*row) for row in (*tails, latency, (flows, "", LONGER, longer, "5.3, predicted"))]


def _csv(runs: Runs) -> str:
    rows = [
        (case, name, label, *(f"{x:.5g}" for x in statistics.values()))
        for case, by_name in runs.items()
        for name, own in by_name.items()
        for label, statistics in own.slowdowns.items()
    ]
    return csv_text(("load", "under", "bytes_up_to", "avg", "p50", "p95", "p99"), rows)


def _draw_slowdowns(runs: Runs) -> bytes:
    """The figure's panels a and c; below them HPCC beside entries that the paper has not."""
    every = list(dict.fromkeys(name for by_name in runs.values() for name in by_name))
    rows = (PAPER.names, ["hpcc", *(name for name in every if name not in PAPER.names)])
    titles = [f"{case}, {whose}" for whose in ("the paper's six", "others") for case in runs]
    figure, several = panels(titles, 2, 3.2)
    looks = styles(every)
    for axes, (shown, by_name) in zip(
        several, ((row, own) for row in rows for own in runs.values()), strict=True
    ):
        for name in (x for x in shown if x in by_name):
            tails = [by_name[name].p95(label) for label in LABELS]
            axes.plot(range(len(LABELS)), tails, label=name, **looks[name].of_points)
        axes.set(yscale="log", ylabel="FCT slowdown, 95 %", xlabel="flow size up to (B)")
        axes.set_xticks(range(len(LABELS)), LABELS, fontsize=8)
        axes.set_ylim(bottom=0.95)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.yaxis.set_minor_locator(NullLocator())
        axes.legend(fontsize=7.5, ncols=2, frameon=False)
    return finished(figure, None)


def _draw_latency(runs: Runs) -> bytes:
    """Bars by entry: latency, its median and 95th percentile, and how long links were paused."""
    figure, several = panels(
        [f"{case}: {what}" for case in runs for what in ("latency (µs)", "links paused (% of time)")], 2, 3.0
    )
    for i, by_name in enumerate(runs.values()):
        latency, paused = several[2 * i : 2 * i + 2]
        places = np.arange(len(by_name))
        for offset, key, words, colour in (
            (-0.2, "latency_p50_us", "median", "#9DB7D5"),
            (0.2, "latency_p95_us", "95 %", "#1F4E86"),
        ):
            latency.bar(
                places + offset,
                [own.numbers[key] for own in by_name.values()],
                0.4,
                label=words,
                color=colour,
            )
        latency.set(yscale="log", ylim=(5, None))
        latency.yaxis.set_major_formatter("{x:,g}")
        latency.legend(fontsize=8, frameon=False)
        shares = [100 * own.numbers["paused"] for own in by_name.values()]
        paused.bar(places, shares, 0.6, color="#1F4E86")
        paused.set_ylim(0, 1.1 * max(shares) or 1)
        if not any(shares):
            paused.text(0.5, 0.5, "no link was paused", transform=paused.transAxes, ha="center")
        for axes in (latency, paused):
            axes.set_xticks(places, list(by_name), rotation=40, ha="right", fontsize=8)
    return finished(figure, None)
