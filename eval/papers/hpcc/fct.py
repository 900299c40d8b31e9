# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: FB_Hadoop between 320 hosts, by flow size, with pauses and latency (Li 2019, Fig. 11)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ns3_env.eval.metrics.queues import pfc_pause_ns
from ns3_env.eval.metrics.slowdown import statistics_of
from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Outcome, Verdict, flat
from ns3_env.eval.papers.panels import Curve, Drawing, Panel, few_log_ticks
from ns3_env.eval.papers.verdicts import below_one
from ns3_env.scenario.topology import FatTree3, Graph, Topology
from ns3_env.simulator.results import Results, charged_slowdowns, flow_column
from ns3_env.tasks.anchors import geometric_mean

_PODS, _TORS, _AGGREGATION, _CORES, _HOSTS = 5, 4, 4, 16, 16
#: Size of each flow of an incast.
INCAST_BYTES = 500_000
#: In the order of the figure's panels.
INCAST, BUSY = "30 % and 60-to-1 incasts", "50 %"
#: The paper's six.
PAPER = ("dcqcn", "dcqcn+window", "timely", "timely+window", "dctcp", "hpcc")
#: A controller, and itself with a window.
WINDOWS = {"dcqcn": "dcqcn+window", "timely": "timely+window"}
#: Links, each in both directions.
DIRECTIONS = 2 * (_PODS * _TORS * (_HOSTS + _AGGREGATION) + _PODS * _CORES)


def topology() -> Topology:
    """Five pods of four top-of-rack and four aggregation switches, the i-th of which has the i-th four of the
    16 cores: nothing is oversubscribed (docs/sources/baselines.md, "Li 2019")."""
    whole = FatTree3(
        pods=_PODS,
        tors_per_pod=_TORS,
        aggregation_per_pod=_AGGREGATION,
        cores=_CORES,
        hosts_per_tor=_HOSTS,
        rate_bps=100e9,
        fabric_bps=400e9,
        delay_ns=1000,
    ).build()  # whose aggregation switches have all cores
    cores, each = len(whole.nodes) - _CORES, _CORES // _AGGREGATION
    links = [x for x in whole.links if x.b < cores or x.a % _AGGREGATION == (x.b - cores) // each]
    return Graph.model_validate({"nodes": whole.nodes, "links": [asdict(link) for link in links]})


#: Every tenth percentile of FB_Hadoop: the figure's sizes. Each bin is above the one before, up to its own.
SIZES = (324, 400, 500, 600, 700, 1000, 7000, 46_000, 120_000, 10_000_000)
LABELS = [
    f"{size / 1e6:g}M" if size >= 1e6 else f"{size / 1e3:g}k" if size >= 1e3 else f"{size}" for size in SIZES
]
#: Payload: six flows of ten are one packet.
PACKET_BYTES = 1000
#: "Shorter than 120 kB" (5.3): nine of ten flows; the last bin is of the longer ones.
SHORT, LONG = LABELS[:-1], LABELS[-1]


@dataclass(frozen=True)
class Tails:
    """One entry under one load.

    Attributes:
        flows: number of flows of the workload, without incasts.
        p95: 95 % slowdown by label of ``SIZES``; an unfinished flow is charged for its remaining bytes.
        numbers: "short" and "long" (95 % slowdowns of flows up to, and above 120 kB); "latency_p50_us",
            "latency_p95_us" and "latency_p99_us" of a packet and its ACK, over the flows that are one packet;
            "paused", the share of links and time; "pauses" (frames); "unfinished".
    """

    flows: int
    p95: Mapping[str, float]
    numbers: Mapping[str, float]


def measure(results: Results) -> Tails:
    """Measures a run. Flows with exactly an incast's size count as part of one."""
    sizes, fct = flow_column(results, "size_bytes"), flow_column(results, "fct_ns")
    slow = charged_slowdowns(results)
    ordinary = sizes != INCAST_BYTES
    places = np.searchsorted(SIZES, sizes)
    p95 = {label: statistics_of(slow[ordinary & (places == i)])["p95"] for i, label in enumerate(LABELS)}
    single = fct[ordinary & (sizes <= PACKET_BYTES) & (fct >= 0)] / 1e3
    numbers = {
        "short": statistics_of(slow[ordinary & (sizes <= SIZES[-2])])["p95"],
        "long": p95[LONG],
        **{f"latency_{name}_us": x for name, x in statistics_of(single).items()},
        "paused": pfc_pause_ns(results) / (results["totals"]["end_ns"] * DIRECTIONS),
        "pauses": float(results["totals"]["pfc_frames"]),
        "unfinished": float((fct < 0).sum()),
    }
    return Tails(int(ordinary.sum()), p95, numbers)


#: Runs by load and entry.
Runs = Mapping[str, Mapping[str, Tails]]


def best(by_name: Mapping[str, Tails], key: str) -> float:
    """The minimum of a number under the paper's controllers but HPCC."""
    return min(by_name[name].numbers[key] for name in PAPER if name != "hpcc")


@experiment("hpcc-fct", measure)
def fct(data: Data[dict[str, dict[str, Tails]]]) -> Outcome:
    """FB_Hadoop between 320 hosts, with and without incasts, by flow size."""
    runs = data.runs
    entries = dict(flat(runs, 2))
    flows = ", ".join(f"{next(iter(by_name.values())).flows:,} at {case}" for case, by_name in runs.items())
    return Outcome(
        rows=data.declared.compare(_ours(runs)),
        claims=claims(runs),
        grids=data.declared.grids(
            {place: record.p95 for place, record in entries.items()},
            {place: record.numbers for place, record in entries.items()},
        ),
        notes=(
            f"{data.scale * 100:g} ms of arrivals, one seed, the same flows for all: {flows}, "
            "beside the incasts.",
            *data.notes,
        ),
        pictures={"hpcc-fig-11-slowdown": _draw_slowdowns(runs), "hpcc-fig-11-latency": _draw_latency(runs)},
    )


def _ours(runs: Runs) -> dict[str, float]:
    """Our numbers next to the few published ones."""
    busy = runs[BUSY]["hpcc"].numbers
    incast_tail, busy_tail = (runs[case]["dcqcn"].p95[SHORT[0]] for case in (INCAST, BUSY))
    return {
        **dict.fromkeys(("incast read off", "incast played"), incast_tail),
        **dict.fromkeys(("busy read off", "busy played"), busy_tail),
        "latency": busy["latency_p95_us"],
        "longer": busy["long"] / best(runs[BUSY], "long"),
    }


def claims(runs: Runs) -> dict[str, Verdict]:
    """One for each statement of section 5.3 that is known here."""
    both, loads = (INCAST, BUSY), (INCAST,)
    longer = {case: record["hpcc"].numbers["long"] / best(record, "long") for case, record in runs.items()}

    def compared(
        pairs: Mapping[str, str], key: str, holds: Callable[[float], bool], loads: Iterable[str]
    ) -> Verdict:
        """A number of each pair's second over that of its first; undecided if the first has none."""
        ratios = {
            (case, f"{second} over {first}"): runs[case][second].numbers[key] / runs[case][first].numbers[key]
            for case in loads
            for first, second in pairs.items()
            if runs[case][first].numbers[key] > 0
        }
        return _verdict(ratios, holds), _list_by_load(ratios, ".3g") or "0 without them"

    def bounded(
        names: Iterable[str], key: str, holds: Callable[[float], bool], loads: Iterable[str]
    ) -> Verdict:
        """A number of each entry under each load."""
        numbers = {(case, name): runs[case][name].numbers[key] for case in loads for name in names}
        return _verdict(numbers, holds), _list_by_load(numbers, ".4g")

    dctcp = {"dcqcn": "dctcp", "timely": "dctcp"}
    return {
        "Flows below 120 kB have the shortest tail under HPCC (5.3; here: 95 %, at each size)": _shortest(
            runs
        ),
        "Windows shorten the tail of DCQCN and TIMELY (5.3; here: 95 % of flows up to 120 kB)": compared(
            WINDOWS, "short", lambda x: x < 1, both
        ),
        "Windows all but end pauses (5.3; here: a tenth of the time, with incasts)": compared(
            WINDOWS, "paused", lambda x: x <= 0.1, loads
        ),
        "HPCC pauses nothing, with and without incasts (5.3)": bounded(
            ("hpcc",), "pauses", lambda x: x == 0, both
        ),
        "DCQCN and TIMELY pause links, with incasts (5.3)": bounded(
            WINDOWS, "pauses", lambda x: x > 0, loads
        ),
        "HPCC's 95 % latency is below 20 µs (5.3)": bounded(
            ("hpcc",), "latency_p95_us", lambda x: x < 20, both
        ),
        "HPCC's latency is less than half of DCTCP's (5.3; here: 95 %)": compared(
            {"dctcp": "hpcc"}, "latency_p95_us", lambda x: x < 0.5, both
        ),
        "DCTCP is better than DCQCN and TIMELY (5.3; here: 95 % of flows up to 120 kB)": compared(
            dctcp, "short", lambda x: x < 1, both
        ),
        "HPCC's long flows are slower than the best of the others' (5.3; here: 95 % of those above 120 kB)": (
            _verdict(longer, lambda x: x > 1),
            " · ".join(f"{case}: {x:.2f} times" for case, x in longer.items()),
        ),
    }


def _list_by_load(numbers: Mapping[tuple[str, str], float], form: str) -> str:
    """Lists numbers by load and name: "50 %: hpcc 20.42, dctcp 38.8 · ..."."""
    by_case: dict[str, list[str]] = {}
    for (case, name), x in numbers.items():
        by_case.setdefault(case, []).append(f"{name} {x:{form}}")
    return " · ".join(f"{case}: {', '.join(words)}" for case, words in by_case.items())


def _verdict(numbers: Mapping[Any, float], holds: Callable[[float], bool]) -> bool | None:
    """None if any number is missing, or all are."""
    defined = numbers and not any(map(math.isnan, numbers.values()))
    return all(map(holds, numbers.values())) if defined else None


def _shortest(runs: Runs) -> Verdict:
    """HPCC's tail over that of each other of the paper's, at each size."""
    ratios = {
        f"{case}, {name} at {label} B": by_name["hpcc"].p95[label] / by_name[name].p95[label]
        for case, by_name in runs.items()
        for name in PAPER
        for label in SHORT
        if name != "hpcc"
    }
    defined = [x for x in ratios.values() if not math.isnan(x)]
    mean = f"; in the mean {geometric_mean(defined):.2f} times" if defined else ""
    return below_one(ratios, "in", mean, "no flows of these sizes")


def _draw_slowdowns(runs: Runs) -> Drawing:
    """The figure's panels a and c; below them HPCC compared with entries that the paper lacks."""
    every = list(dict.fromkeys(name for by_name in runs.values() for name in by_name))
    others = ["hpcc", *(name for name in every if name not in PAPER)]
    looks, sizes = styles(every), range(len(LABELS))
    axes = {"yscale": "log", "ylabel": "FCT slowdown, 95 %", "xlabel": "flow size up to (B)"}
    all_panels = [
        Panel(
            f"{case}, {whose}",
            [
                (sizes, [by_name[name].p95[label] for label in LABELS], name, looks[name].of_points)
                for name in names
                if name in by_name
            ],
            {**axes, "ylim": (0.95, None)},
            ticks=(sizes, LABELS, {"fontsize": 8}),
            legend={"fontsize": 7.5, "ncols": 2},
            more=lambda axes: few_log_ticks(axes, (1, 2, 3, 5)),
        )
        for names, whose in ((PAPER, "the paper's six"), (others, "others"))
        for case, by_name in runs.items()
    ]
    return Drawing(all_panels, 2, 3.2, None)


_BAR: dict[str, Any] = {"kind": "bar", "width": 0.6, "color": "#1F4E86"}


def _draw_latency(runs: Runs) -> Drawing:
    """Bars by entry: latency, its median and 95th percentile, and the time that links were paused."""
    all_panels = []
    for case, by_name in runs.items():
        numbers, places = [record.numbers for record in by_name.values()], np.arange(len(by_name))
        names = (places, list(by_name), {"rotation": 40, "ha": "right", "fontsize": 8})
        latency: list[Curve] = [
            (
                places + offset,
                [record[key] for record in numbers],
                words,
                {**_BAR, "width": 0.4, "color": colour},
            )
            for key, words, offset, colour in (
                ("latency_p50_us", "median", -0.2, "#9DB7D5"),
                ("latency_p95_us", "95 %", 0.2, _BAR["color"]),
            )
        ]
        shares = [100 * record["paused"] for record in numbers]
        all_panels += [
            Panel(
                f"{case}: latency (µs)",
                latency,
                {"yscale": "log", "ylim": (5, None)},
                ticks=names,
                legend={"fontsize": 8},
                more=lambda axes: axes.yaxis.set_major_formatter("{x:,g}"),
            ),
            Panel(
                f"{case}: links paused (% of time)",
                [(places, shares, None, _BAR)],
                {"ylim": (0, 1.1 * max(shares) or 1)},
                ticks=names,
                more=_nothing_paused if not any(shares) else lambda axes: None,
            ),
        ]
    return Drawing(all_panels, 2, 3.0, None)


def _nothing_paused(axes: Axes) -> None:
    axes.text(0.5, 0.5, "no link was paused", transform=axes.transAxes, ha="center")
