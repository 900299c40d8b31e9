# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: flows at a bottleneck under MPCC: weights, horizons, joining, leaving (Zheng 2024)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from ns3_env.eval.metrics.convergence import changes
from ns3_env.eval.output.plots import styles, time_unit
from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.experiment import Data, Setup, experiment, link_shares
from ns3_env.eval.papers.mpcc.open_loop import BOTTLENECK, RATE_BPS, SENDERS
from ns3_env.eval.papers.outcome import Grid, Outcome, Row, Verdict, grid
from ns3_env.eval.papers.panels import DASHED, Curve, Drawing, Panel, curve, labels, note
from ns3_env.eval.papers.runs import Run, Shares, count_shares, draw_shares, first
from ns3_env.eval.papers.verdicts import listed
from ns3_env.scenario import Record, Scenario
from ns3_env.simulator.results import Floats, Results

#: Settings whose throughput is measured, and horizons whose decisions are timed.
WEIGHTS, HORIZONS = ("1:1", "1:10", "1:100"), ("P = 3", "P = 5", "P = 10", "P = 20")
#: Throughput of each flow, and its sampling period (section 5.2.1).
SHARE, PERIOD_NS = 0.2464, 2_000_000
#: Frames of 1000 B of payload, 48 B of headers and 32 B of telemetry. A mean queue below one counts as empty.
FRAME_BYTES = 1080
_SAMPLE_NS, _LONG_NS = 100, 20_000_000
BENCHMARKS = 5
#: qpOASES on every decision, as in the thesis, and each decision timed.
_TIMED = {"Shortcut": False, "MeasureTime": True}
#: Results and each flow's shares in whole periods, by setting; duration of a decision (ns), by horizon.
Settings = tuple[dict[str, Results], dict[str, Floats], dict[str, float]]
#: Times (ns) and lengths (bytes).
_Queue = tuple[Floats, Floats]


def play_settings(setup: Setup) -> Settings:
    """Every weight ratio and horizon; throughput over ``scale`` x 20 ms."""
    runs: Settings = {}, {}, {}
    (results, share, solving), play = runs, setup.simulator.play
    cases = declared("mpcc-convergence").cases(setup.scale)

    def longer(name: str, until_ns: int) -> Scenario:
        record = Record(queue_series_ns=PERIOD_NS, windows=True)
        return cases[name].model_copy(update={"time_limit_ns": until_ns, "record": record})

    for name, scenario in cases.items():
        setup.progress(f"queue, {name}")
        results[name] = play(scenario)
    for name in WEIGHTS:
        setup.progress(f"throughput, {name}")
        long = longer(name, max(2 * PERIOD_NS, round(setup.scale * _LONG_NS)))
        shares = count_shares(setup.simulator, long, BOTTLENECK, PERIOD_NS)
        share[name] = shares.share[:, :-1]
    for name in HORIZONS:
        setup.progress(f"solver, {name}")
        measuring = longer(name, _LONG_NS).under("mpcc", _TIMED)
        times = [play(measuring)["counters"]["decision_us_mean"] for _ in range(BENCHMARKS)]
        solving[name] = 1e3 * float(min(times))  # other processes can only add
    return runs


@experiment("mpcc-convergence", play=play_settings)
def convergence(data: Data[Settings]) -> Outcome:
    """Four flows at once: weight ratios and horizons."""
    results, share, solving = data.runs
    runs = {name: Run(item) for name, item in results.items()}
    queues = {name: (item.times_ns, item.lengths[BOTTLENECK]) for name, item in runs.items()}
    fair = float(list(results.values())[-1]["windows"][0][2]) / SENDERS
    settings = {name: _of_setting(results[name], *queue) for name, queue in queues.items()}
    empty = {name: numbers["empty"] for name, numbers in settings.items()}
    columns = "1st ACK (B) = window 1; 2nd (B) = window 2; 3rd (B) = window 3; empty (ns) = empty; "
    columns += "2 frames from (ns) = settled; longest (B) = longest"
    title = f"Flow 0's windows, and the queue; the fair share is {fair:,.0f} B, a payload 1000 B"
    values = {f"zero {name}": empty[name] for name in (*WEIGHTS, *HORIZONS)}
    values |= {f"share {name}": float(x.mean()) for name, x in share.items()}
    values |= {f"solving {name}": x for name, x in solving.items()}
    return Outcome(
        rows=data.declared.compare(values),
        claims=_of_convergence(queues, empty, share, solving),
        grids=(grid(title, "setting", columns, settings),),
        pictures={"fig-5-2": _draw_settings(queues, share)},
    )


def _of_convergence(
    queues: Mapping[str, _Queue],
    empty: Mapping[str, float],
    share: Mapping[str, Floats],
    solving: Mapping[str, float],
) -> dict[str, Verdict]:
    weighted, horizons = [empty[name] for name in WEIGHTS], [empty[name] for name in HORIZONS]
    times, costs = listed(weighted, ",.0f"), [solving[name] for name in HORIZONS]
    slowest = declared("mpcc-convergence").rows["zero 1:100"].published or math.nan
    after = max(float(b[t >= empty[name]].max(initial=0.0)) for name in share for t, b in (queues[name],))
    spread = max(float(np.ptp(x.mean(axis=1)) / x.mean()) for x in share.values())
    return {
        "The queue converges to zero, in 140 to 176 µs at 1 Gb/s (5.2.1)": (
            max(weighted) <= slowest and after <= FRAME_BYTES,
            f"{times} ns for 1:1, 1:10, 1:100; no more than {after:,.0f} B from then on (a frame is 1080 B)",
        ),
        "The more the window weighs, the longer it takes (5.2.1)": (
            weighted[0] < weighted[1] < weighted[2],
            f"{times} ns",
        ),
        "Each flow has the same throughput, whatever the ratio (5.2.1)": (
            spread <= 0.01,
            f"flows differ by {100 * spread:.2f} % at most; a quarter of the wire is "
            f"{1000 / FRAME_BYTES / SENDERS:.4f} of payload",
        ),
        "A longer horizon changes nothing but the time to solve (5.2.2)": (
            float(np.ptp(horizons)) <= _SAMPLE_NS and costs[0] < costs[-1],
            f"{min(horizons):,.0f} to {max(horizons):,.0f} ns to zero; {costs[0]:,.0f} to "
            f"{costs[-1]:,.0f} ns a decision",
        ),
    }


def empty_ns(times: Floats, lengths: Floats) -> float:
    """The first time (ns) at which the queue is empty after its maximum; NaN if it never is."""
    peak = int(lengths.argmax())
    return first(times[peak:], lengths[peak:] == 0)


def _of_setting(results: Results, times: Floats, lengths: Floats) -> dict[str, float]:
    """Flow 0's windows after its first three ACKs, bytes; times (ns) at which the queue is empty, and from
    which on it is at most two frames long; its longest."""
    windows = [float(window) for _, flow, window, _ in results["windows"] if flow == 0][1:4]
    longer = np.flatnonzero(lengths > 2 * FRAME_BYTES)
    return {
        **{f"window {i}": window for i, window in enumerate(windows, 1)},
        "empty": empty_ns(times, lengths),
        "settled": float(times[min(longer[-1] + 1, len(times) - 1)]) if len(longer) else 0.0,
        "longest": float(lengths.max()),
    }


def _draw_settings(queues: Mapping[str, _Queue], share: Mapping[str, Floats]) -> Drawing:
    queue_curves: list[Curve] = []
    share_curves: list[Curve] = []
    for width, (name, look) in zip((4.0, 2.5, 1.2), styles(list(share)).items(), strict=True):
        line = {"color": look.colour, "linewidth": width}  # they lie over each other
        times, lengths = queues[name]
        queue_curves.append((times / 1e3, lengths / 1e3, f"W_Q:W_R = {name}", line))
        share_curves += [
            (np.arange(1, len(flow) + 1) * PERIOD_NS / 1e6, flow, None, line) for flow in share[name]
        ]
    bound = [(SHARE, None, {**DASHED, "color": "#555555"})]
    more = partial(note, words=f"thesis: {SHARE}", place=(0.98, SHARE - 0.01))
    queue = labels("time (µs)", "queue (kB)", xlim=(0, 300), ylim=(0, None))
    shares = labels("time (ms), means of 2 ms", "share of the link", xlim=(0, None), ylim=(0, 0.5))
    all_panels = [
        Panel("queue at switch 1", queue_curves, queue),
        Panel("throughput of each flow", share_curves, shares, bound, more=more),
    ]
    return Drawing(all_panels, height=2.9)


#: The thesis's two, which are drawn.
SHOWN = ("mpcc", "hpcc")
#: From start to start (section 5.3).
INTERVAL_NS = 10_000_000
#: The BDP that the thesis gives this network (section 5.3).
BDP_BYTES = 4344
#: Above this scale windows are not recorded: each ACK makes a row.
_RECORDED_SCALE = 1 / 30
#: More bins than this are merged in figures.
_POINTS = 500
_COLUMNS = (
    "flows = flows; fair (ms) = fair_ms; taken (ms) = taken_ms; unfairness = unfairness; link used = used; "
    "settled (B) = settled; its deviation (B) = swing; longest (B) = longest"
)
#: Numbers of each change, by controller.
Changes = Mapping[str, Sequence[Mapping[str, float]]]


class Intervals:
    """One controller's run, between the changes of the set of active flows.

    Attributes:
        shares: the flows' shares of the bottleneck.
        times_ns, queue_bytes: samples of switch 1's egress queue.
        moments: every change of the set of active flows that can be judged.
        intervals: (begin, end, active flows) between the changes, in ns, in order.
    """

    def __init__(self, shares: Shares) -> None:
        run = Run(shares.results)
        self.shares, self.times_ns, self.queue_bytes = shares, run.times_ns, run.lengths[BOTTLENECK]
        self.moments = changes(shares.results) if "windows" in shares.results else []
        starts, ends = run.flows["start_ns"], run.flow_ends_ns
        self.intervals = [
            (float(a), float(b), np.flatnonzero((starts <= a) & (ends > a)).tolist())
            for a, b in itertools.pairwise(np.unique(np.concatenate([starts, ends])))
        ]

    def numbers(self, begin: float, end: float, active: list[int]) -> dict[str, float]:
        """Numbers of an interval; NaN without a sample or a complete bin to compute it from.

        fair: time from the start until the shares are fair and stay so
        (``ns3_env.eval.metrics.convergence.changes``); taken: until all flows jointly have 95 % of what they
        have in the second half; unfairness: largest distance of an active flow's throughput from their mean,
        as a share of it, in the second half; used: share of the bottleneck's rate; settled, swing: mean queue
        in the second half, and its standard deviation; longest: of the queue.
        """
        middle, bin_ns = (begin + end) / 2, self.shares.bin_ns
        total = self.shares.between(begin, end).sum(axis=0)
        late = self.shares.between(middle, end)[active]
        means = late.mean(axis=1) if late.shape[1] else np.full(1, np.nan)
        enough = 0.95 * total[len(total) // 2 :].mean() if len(total) > 1 else np.inf
        ends_ns = (-(-round(begin) // bin_ns) + 1 + np.arange(len(total), dtype=np.float64)) * bin_ns
        queue, settled = (
            self.queue_bytes[(self.times_ns >= since) & (self.times_ns < end)] for since in (begin, middle)
        )
        fair_ns = next((change.after_ns for change in self.moments if change.at_ns == begin), math.nan)
        return {
            "flows": float(len(active)),
            "fair_ms": fair_ns / 1e6,
            "taken_ms": (first(ends_ns, total >= enough) - begin) / 1e6,
            "unfairness": float(np.abs(means - means.mean()).max() / means.mean()),
            "used": float(total.mean()) if len(total) else math.nan,
            "settled": float(settled.mean()) if len(settled) else math.nan,
            "swing": float(settled.std()) if len(settled) else math.nan,
            "longest": float(queue.max()) if len(queue) else math.nan,
        }

    def after(self, kind: Literal["joining", "leaving"]) -> list[dict[str, float]]:
        """Numbers of each interval that starts with a flow's start (or end)."""
        return [
            self.numbers(*now)
            for before, now in itertools.pairwise(self.intervals)
            if before[2] and now[2] and (len(now[2]) > len(before[2])) == (kind == "joining")
        ]


def _outcome(runs: Mapping[str, Intervals], table: Changes, until_ns: float, kind: str) -> dict[str, Any]:
    """The parts that both experiments have: settled queues next to the thesis's, zero and (N − 1) x 4344 B
    (5.3), both figures up to an instant."""
    pairs = {name: runs[name] for name in SHOWN}
    shares = {name: run.shares for name, run in pairs.items()}
    bin_ns = shares[SHOWN[0]].bin_ns
    together = 1 + int(until_ns // bin_ns) // _POINTS
    title = f"throughput, {{}} (means of {together * bin_ns / 1e6:g} ms)"
    flows = [f"flow {i}" for i in range(SENDERS)]
    rows = []
    for name, figure, each in zip(SHOWN, ("Fig. 5.4a", "Fig. 5.4b"), (0, BDP_BYTES), strict=True):
        for item in table[name]:
            what = f"{name.upper()}, queue with {item['flows']:g} flow{'s' * (item['flows'] > 1)}"
            rows.append(Row(what, "B", (item["flows"] - 1) * each, item["settled"], figure))
    return {
        "rows": rows,
        "pictures": {
            f"fig-5-3-{kind}": draw_shares(shares, until_ns, flows, title, together, 2.8, 1.2),
            f"fig-5-4-{kind}": _draw_queues(pairs, until_ns),
        },
    }


def _changes_grid(title: str, table: Changes) -> Grid:
    rows = [(name, item) for name, several in table.items() for item in several]
    return grid(title, "controller", _COLUMNS, rows)


def _draw_queues(runs: Mapping[str, Intervals], until_ns: float) -> Drawing:
    """Fig. 5.4: switch 1's queue, a panel for each controller, with the thesis's bound (eq. 4.3)."""
    unit, word = time_unit(until_ns)
    looks = styles(runs)
    highest = max(*(run.queue_bytes.max() for run in runs.values()), (SENDERS - 1) * BDP_BYTES) / 1e3
    time = labels(f"time ({word})", "queue (kB)", xlim=(0, until_ns / unit), ylim=(0, 1.05 * highest))
    several = []
    for name, run in runs.items():
        look = replace(looks[name], line="-")
        queue = curve(run.times_ns, run.queue_bytes, None, look, (unit, 1e3), until=until_ns)
        curves: list[Curve] = [(*queue[:3], {**queue[3], "linewidth": 0.8})]
        for begin, end, active in run.intervals:
            level, within = (len(active) - 1) * BDP_BYTES / 1e3, (begin / unit, min(end, until_ns) / unit)
            curves.append((within, (level, level), None, {**DASHED, "solid_capstyle": "butt"}))
        curves.append(([], [], "(N − 1) · 4344 B (section 5.3)", DASHED))
        several.append(Panel(f"queue, {name.upper()}", curves, time))
    return Drawing(several, height=2.8)


#: All four flows are active after 30 ms; the rest shows how they settle.
_UNTIL_NS = 5 * INTERVAL_NS
#: "At once": no longer than the thesis's sampling period of throughput (section 5.2).
AT_ONCE_MS = 2.0
#: Timeouts of the flow counter, by entry.
TIMEOUTS_NS = {"mpcc-20us": 20_000, "mpcc-1ms": 1_000_000}
EAGER = "hpcc-5%"


@experiment("mpcc-joining", every=link_shares(BOTTLENECK, lambda scale: 500_000))
def joining(data: Data[dict[str, Shares]]) -> Outcome:
    """Flows that join a link 10 ms apart, MPCC against HPCC."""
    runs = {name: Intervals(item) for name, item in data.runs.items()}
    table = {name: run.after("joining") for name, run in runs.items()}
    hpcc = data.runs["hpcc"]
    last = {flow: (window, rate) for _, flow, window, rate in hpcc.results.get("windows", ())}
    means = hpcc.share[:, -INTERVAL_NS // hpcc.bin_ns - 1 : -1].mean(axis=1)
    ends = [
        (f"flow {flow}", float(window), float(rate) / 1e6, float(means[flow]))
        for flow, (window, rate) in sorted(last.items())
    ]
    return Outcome(
        claims=_of_joining(table),
        grids=(
            _changes_grid("After a flow has joined", table),
            Grid("HPCC's flows at the end", ("flow", "window (B)", "rate (Mb/s)", "share"), ends),
        ),
        **_outcome(runs, table, _UNTIL_NS, "joining"),
    )


def _of_joining(table: Changes) -> dict[str, Verdict]:
    def column(name: str, key: str) -> list[float]:
        return [item[key] for item in table[name]]

    def words(values: list[float], form: str = ".2g") -> str:
        return listed(values, form, missing="never") or "no change seen"

    def by_name(values: Mapping[str, list[float]], form: str) -> str:
        return "; ".join(f"{name} {words(x, form)}" for name, x in values.items())

    (fair, queues), (hpcc_fair, hpcc_queues) = (
        [column(name, key) for key in ("fair_ms", "settled")] for name in SHOWN
    )
    swings, delays = ({x: column(x, key) for x in (*TIMEOUTS_NS, "mpcc")} for key in ("swing", "fair_ms"))
    short, long = TIMEOUTS_NS
    gaps_ns = [count * FRAME_BYTES * 8e9 / RATE_BPS for count in column(short, "flows")]
    pairs = zip(gaps_ns, swings[short], swings[long], strict=True)
    more = [a > b for gap_ns, a, b in pairs if gap_ns > TIMEOUTS_NS[short]]
    expected = [(count - 1) * BDP_BYTES for count in column("hpcc", "flows")]
    return {
        "Under MPCC a joining flow has its fair share at once (5.3)": (
            bool(fair) and all(x <= AT_ONCE_MS for x in fair),
            f"within 5 % after {words(fair)} ms",
        ),
        "Under HPCC it converges to the fair share, too (5.3)": (
            bool(hpcc_fair) and not np.isnan(hpcc_fair).any(),
            f"within 5 % after {words(hpcc_fair)} ms; unfairness {words(column('hpcc', 'unfairness'))}; "
            f"with the larger increase {words(column(EAGER, 'unfairness'))}",
        ),
        "MPCC takes the queue back to zero after each join (Fig. 5.4a)": (
            bool(queues) and max(queues) < FRAME_BYTES,
            f"means of {words(queues, '.0f')} B once settled: less than a frame",
        ),
        "HPCC's queue stays at (N − 1) x 4344 B (Fig. 5.4b)": (
            all(abs(x / y - 1) <= 0.5 for x, y in zip(hpcc_queues, expected, strict=True)),
            f"means of {words(hpcc_queues, '.0f')} B against {words(expected, '.0f')} B",
        ),
        "A shorter timeout of the flow counter increases the oscillation of MPCC's queue (5.3; here: one "
        "shorter than from frame to frame)": (
            all(more) if more else None,
            f"standard deviation once settled, B, with 2, 3, 4 flows: {by_name(swings, '.0f')}; frames are "
            f"{listed([x / 1e3 for x in gaps_ns], '.0f')} µs apart",
        ),
        "A longer one slows the convergence (5.3; here: when flows join)": (
            all(b > a for a, b in zip(delays[short], delays[long], strict=True)) if fair else None,
            f"within 5 % after, ms: {by_name(delays, '.2g')}",
        ),
    }


#: Sampling period of throughput (section 5.2).
_BIN_NS = 2_000_000


def leaving_cases(scale: float) -> dict[str, Scenario]:
    """The declared cases."""
    return {
        name: x.model_copy(
            update={"record": x.record.model_copy(update={"windows": scale <= _RECORDED_SCALE})}
        )
        for name, x in declared("mpcc-leaving").cases(scale).items()
    }


@experiment("mpcc-leaving", cases=leaving_cases, every=link_shares(BOTTLENECK, lambda scale: _BIN_NS))
def leaving(data: Data[dict[str, Shares]]) -> Outcome:
    """Flows that end one after the other, MPCC against HPCC."""
    runs = {name: Intervals(item) for name, item in data.runs.items()}
    table = {name: run.after("leaving") for name, run in runs.items()}
    ends = {name: float(item.results["totals"]["end_ns"]) for name, item in data.runs.items()}
    delays_ms, unfair, queues = (
        [x[key] for x in table["mpcc"]] for key in ("taken_ms", "unfairness", "settled")
    )
    needed = ", ".join(f"{end / 1e6:,.0f} ms under {name}" for name, end in ends.items())
    unknown = "Windows of so many ACKs are not recorded: when the shares became fair is not known here."
    return Outcome(
        claims={
            "When a flow ends, those that remain take its bandwidth at once, and fairly (5.3)": (
                bool(delays_ms) and all(x <= 2 * _BIN_NS / 1e6 for x in delays_ms) and max(unfair) <= 0.05,
                f"MPCC: link taken within {np.max(delays_ms, initial=0):.3g} ms (bins of 2 ms), unfairness "
                f"{np.max(unfair, initial=0):.2g} at most",
            ),
            "MPCC holds the queue at zero while flows leave (Fig. 5.4a)": (
                bool(queues) and max(queues) < FRAME_BYTES,
                f"means of {listed(queues, '.0f')} B: less than a frame",
            ),
        },
        grids=(_changes_grid("After a flow has left", table),),
        notes=(
            f"The flows need {needed}.",
            *(() if any(item.moments for item in runs.values()) else (unknown,)),
        ),
        **_outcome(runs, table, max(ends.values()), "leaving"),
    )
