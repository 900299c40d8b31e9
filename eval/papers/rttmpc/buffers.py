# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: rates, RTTs and losses by buffer size (Lynn et al. 2020, Table V, Figs. 5 to 9)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ns3_env.eval.output.plots import OTHERS, styles
from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Grid, Measured, Outcome, Verdict
from ns3_env.eval.papers.panels import Curve, Drawing, Panel, curve, labels
from ns3_env.eval.papers.rttmpc import bottleneck as net
from ns3_env.eval.papers.rttmpc.bottleneck import LEVEL, RATE, Flows, Path, rttmpc
from ns3_env.eval.papers.verdicts import listed
from ns3_env.simulator.results import Floats

FLOWS = (1, 2, 4, 8)
BUFFERS_BDP = tuple(2.0**power for power in range(-4, 5))
#: Table V: rates, RTTs (ms) and losses by flows, along the buffers.
PUBLISHED = declared("lynn-buffers").printed
SECONDS = 30.0
#: All flows together never send less (Fig. 5: 5 Gb/s each of two; Table V: 10.0 of any number).
FLOOR = 10 / RATE
#: Decay times of l_P and l_B, in RTTs, which the paper does not give; the first is the controller's default.
DECAYS_RTTS = (1000.0, 100.0, 30.0)
_DECAY_FLOWS, _DECAY_BDP = 2, (1.0, 16.0)
#: The figures' flows.
SHOWN = 2
#: Buffers of Fig. 9, in BDPs, and its length.
_RISING, _RISING_S = (0.25, 0.5, 1.0, 8.0), 8.0
_HALF, _ONE, _FOUR, _EIGHT = (BUFFERS_BDP.index(x) for x in (0.5, 1.0, 4.0, 8.0))
#: "The bottleneck's rate", "the floor of 10", "the same", in shares.
_FULL, _FLOOR, _ALIKE = 0.98, 1.1 * 10 / RATE, 0.05
_TWO = FLOWS.index(SHOWN)
_LABELS = tuple(f"1/{round(1 / x)}" if x < 1 else f"{x:g}" for x in BUFFERS_BDP)
#: Flows, buffer in BDPs, decay time in RTTs.
_Case = tuple[int, float, float]
#: Each number of the paper's cases: (flows, buffers).
Table = Mapping[str, Floats]


def paths(rate_bps: float) -> dict[_Case, Path]:
    """The paper's cases, and those with other decay times."""
    paper = [(flows, buffer, DECAYS_RTTS[0]) for flows in FLOWS for buffer in BUFFERS_BDP]
    others = [(_DECAY_FLOWS, buffer, decay) for buffer in _DECAY_BDP for decay in DECAYS_RTTS[1:]]
    return {
        case: Path(rate_bps, (net.RTT_NS,) * case[0], case[1], ack_noise=net.NOISE)
        for case in (*paper, *others)
    }


def cases(scale: float) -> dict[_Case, Any]:
    """36 cells, and some again with other decay times; ``scale`` of the link's rate."""
    return {
        case: net.episode(path, rttmpc(path, FLOOR / case[0], DecayRtts=case[2]), SECONDS)
        for case, path in paths(scale * net.RATE_BPS).items()
    }


def numbers(run: Flows) -> dict[str, float]:
    """Numbers of a whole run, as the paper's data points are: combined rates of 40, mean RTTs of the flows in
    ms, the share of packets lost, the time until the link's rate was reached. Spreads: of the quartiles."""
    rates, rtts = run.combined, run.mean_rtts_ms
    spreads = (float(np.subtract(*np.percentile(x, (75, 25)))) for x in (rates, rtts))
    return {
        "rate": float(np.median(rates)),
        "rate_spread": next(spreads),
        "rtt": float(np.median(rtts)),
        "rtt_spread": next(spreads),
        "lost": run.lost,
        "reached_s": run.reached_s,
    }


@experiment("lynn-buffers", net.measure, cases=cases)
def buffers(data: Data[dict[_Case, Flows]]) -> Outcome:
    """1 to 8 flows and buffers from 1/16 to 16 BDP."""
    rate_bps = data.scale * net.RATE_BPS
    results = {case: numbers(record) for case, record in data.runs.items()}
    table = {
        name: np.array([[results[n, buffer, DECAYS_RTTS[0]][name] for buffer in BUFFERS_BDP] for n in FLOWS])
        for name in ("rate", "rate_spread", "rtt", "rtt_spread", "lost", "reached_s")
    }
    pairs = {buffer: data.runs[SHOWN, buffer, DECAYS_RTTS[0]] for buffer in BUFFERS_BDP}
    return Outcome(
        claims=claims(table),
        grids=(*_versus(table), _times(table), *data.declared.grids(_decays(results))),
        notes=(
            f"The link has {rate_bps / 1e6:g} Mb/s. A BDP has {Path(rate_bps).buffer_packets:,} packets of "
            f"1500 B, not {Path(net.RATE_BPS).buffer_packets:,}, the smallest buffer "
            f"{Path(rate_bps, buffer_bdps=BUFFERS_BDP[0]).buffer_packets}, and 30 s have "
            f"{round(data.scale * 1e8):,}, not 100,000,000: rarer losses are not seen.",
        ),
        pictures={
            "lynn-fig-5-6": _draw_boxes(pairs),
            "lynn-fig-7-8": _draw_losses_and_times(table),
            "lynn-fig-9": _draw_starts(pairs),
        },
    )


def _versus(table: Table) -> list[Grid]:
    """The three parts of Table V, published above ours."""
    grids = []
    for title, name in (
        ("Median combined rate (Gb/s)", "rate"),
        ("Median RTT (ms)", "rtt"),
        ("Losses (share of packets)", "lost"),
    ):
        rows: list[tuple[object, ...]] = []
        for count, simulated in zip(FLOWS, table[name], strict=True):
            rows += [
                (f"{count}, published", *PUBLISHED[name][count]),
                (f"{count}, ours", *map(float, simulated)),
            ]
        grids.append(Grid(f"{title}, by flows and buffer (BDP)", ("flows", *_LABELS), rows))
    return grids


def _times(table: Table) -> Grid:
    """Figs. 5, 6 and 8, as numbers of ours."""
    rows = [
        (f"{what}, {count} flow{'s' * (count > 1)}", *map(float, table[name][row]))
        for name, what in (
            ("rate_spread", "rate's quartiles apart (Gb/s)"),
            ("rtt_spread", "RTT's (ms)"),
            ("reached_s", "until 95 % of the link, held (s)"),
        )
        for row, count in enumerate(FLOWS)
        if count in (1, 2, 8)
    ]
    return Grid("Figs. 5, 6 and 8: ours, by buffer (BDP)", ("quantity", *_LABELS), rows)


def _decays(results: Mapping[_Case, Measured]) -> dict[tuple[str, float], Measured]:
    """Two flows with other decay times."""
    cells = [(buffer, decay) for buffer in _DECAY_BDP for decay in DECAYS_RTTS]
    return {(f"{x:g} BDP", decay): results[_DECAY_FLOWS, x, decay] for x, decay in cells}


def claims(table: Table) -> dict[str, Verdict]:
    """Verdicts on sec. 4.2."""
    rates, rtts, lost = table["rate"], table["rtt"], table["lost"]
    rate_spreads, rtt_spreads, reached = (
        table[name][_TWO] for name in ("rate_spread", "rtt_spread", "reached_s")
    )
    low, quarter = rates[:, : BUFFERS_BDP.index(0.125) + 1], rates[:, BUFFERS_BDP.index(0.25)]
    slack, rtt_s = 1e-3 * net.RTT_NS / 1e6, net.RTT_NS / 1e9
    by_buffer = {f"{BUFFERS_BDP[i]:g} BDP": rate_spreads[i] for i in range(_HALF, len(BUFFERS_BDP))}
    apart = np.ptp(rates, axis=0).max()
    return {
        "From 1/2 BDP on, the flows have the bottleneck's rate (Fig. 5, Table V; here: a median of 98 % at "
        "least)": (
            (rates[:, _HALF:] >= _FULL * RATE).all(),
            f"{rates[:, _HALF:].min():.1f} at least",
        ),
        "With 1/8 BDP and less they stay at their least rate, a quarter of the link (Table V: 10.0)": (
            (low <= _FLOOR * RATE).all(),
            f"{_range(low)} Gb/s; 1/4 BDP: {_range(quarter)}, published 23.5 to 33.7",
        ),
        "The number of flows hardly changes the combined rate (Table V; here: by 5 % at most)": (
            apart <= _ALIKE * RATE,
            f"{apart:.1f} Gb/s apart at most",
        ),
        "Rates vary more as buffers grow beyond 1/2 BDP (4.2, Fig. 5; here: two flows' quartiles, 16 BDP "
        "against 1/2)": (
            rate_spreads[-1] > rate_spreads[_HALF],
            f"{listed(by_buffer, '.2f')} Gb/s",
        ),
        "The median RTT grows with the buffer (Fig. 6; here: two flows', at no step shorter)": (
            (np.diff(rtts[_TWO]) >= -slack).all(),
            f"{listed(rtts[_TWO])} ms, published {listed(PUBLISHED['rtt'][SHOWN])}; four flows "
            f"{listed(rtts[FLOWS.index(4)])}",
        ),
        "So does its range (Fig. 6; here: two flows' quartiles, each at least as far apart as with half the "
        "buffer)": (
            (np.diff(rtt_spreads) >= -slack).all(),
            f"{listed(rtt_spreads)} ms",
        ),
        "More flows have longer RTTs (Table V; here: 8 against 1 from 1 BDP on)": (
            (rtts[-1, _ONE:] > rtts[0, _ONE:]).all(),
            f"1 flow {listed(rtts[0, _ONE:])} ms, 8 flows {listed(rtts[-1, _ONE:])} ms",
        ),
        "Larger buffers lose fewer packets (Fig. 7, Table V; here: at every step, for every number of "
        "flows)": (
            (np.diff(lost, axis=1) <= 0).all(),
            f"two flows: {listed(lost[_TWO], '.1e')}",
        ),
        "More flows lose more packets (Table V; here: 8 against 1, wherever there are losses)": (
            (lost[-1] >= lost[0]).all(),
            f"1 flow {listed(lost[0], '.1e')}; 8 flows {listed(lost[-1], '.1e')}",
        ),
        "From 4 BDP on losses are extremely rare (4.2: 7 to 10 of 1e8 packets)": (
            (lost[:, _FOUR:] <= 1e-5).all(),
            f"{lost[:, _FOUR:].max():.1e} at most",
        ),
        "Larger buffers reach the bottleneck's rate sooner (Figs. 8, 9; here: 1/2 BDP against 1 and 8)": (
            reached[_HALF] > reached[_ONE] >= reached[_EIGHT],
            f"{listed(reached, '.2g')} s, published with 1/2 BDP about 5 s, with 1 BDP a fraction of a "
            "second",
        ),
        "At 8 BDP the time to reach it is the shortest there is, an RTT (Fig. 8; here: two RTTs at most)": (
            reached[_EIGHT] <= 2 * rtt_s,
            f"{reached[_EIGHT] / rtt_s:.0f} RTTs",
        ),
    }


def _range(values: Floats) -> str:
    return f"{values.min():.1f} to {values.max():.1f}"


def _draw_boxes(runs: Mapping[float, Flows]) -> Drawing:
    """Two flows' combined rates and mean RTTs as boxes with outliers beyond 1.5 of their height."""
    outlier = {"marker": ".", "markersize": 2, "markeredgecolor": "#D55E00", "alpha": 0.4}
    middle = {"color": OTHERS[0], "linewidth": 1.6}

    def panel(title: str, values: list[Floats], axes: dict[str, Any], *levels: Any) -> Panel:
        look: dict[str, Any] = {"whis": 1.5, "flierprops": outlier, "medianprops": middle, "widths": 0.6}
        boxes = partial(Axes.boxplot, x=values, tick_labels=_LABELS, **look)
        return Panel(title, (), {"xlabel": "buffer (BDP)", **axes}, levels, more=boxes)

    rate = {"ylabel": "rate (Gb/s, of 40)", "ylim": (0, 2 * RATE)}
    rates = [run.combined[run.combined > 0] for run in runs.values()]
    rtts = [run.mean_rtts_ms for run in runs.values()]
    all_panels = (
        panel("combined rate of two flows", rates, rate, (RATE, "the link", LEVEL)),
        panel("mean RTT of two flows", rtts, {"ylabel": "RTT (ms)"}),
    )
    return Drawing(all_panels, height=3.2)


def _draw_losses_and_times(table: Table) -> Drawing:
    """Losses, and the time to 95 % of the link's rate, each against the buffer."""
    lost: list[Curve] = []
    reached: list[Curve] = []
    for row, (name, look) in enumerate(styles([f"{x} flow{'s' * (x > 1)}" for x in FLOWS]).items()):
        shares, thin = table["lost"][row], {"color": look.colour, "linewidth": 0.7, "alpha": 0.6}
        lost.append((BUFFERS_BDP, np.where(shares > 0, shares, np.nan), name, look.of_points))
        lost.append((BUFFERS_BDP, PUBLISHED["lost"][FLOWS[row]], None, thin))
        reached.append((BUFFERS_BDP, table["reached_s"][row], None, look.of_points))
    rtt = [(net.RTT_NS / 1e9, None, LEVEL)]
    share, time = (
        labels("buffer (BDP)", y, yscale="log")
        for y in ("share of packets (thin: published)", "time (s); dashed: an RTT")
    )

    def more(axes: Axes) -> None:
        axes.set_xscale("log", base=2)
        axes.set_xticks(BUFFERS_BDP, _LABELS)

    all_panels = (
        Panel("losses", lost, share, more=more),
        Panel("until 95 % of the link's rate, held", reached, time, rtt, more=more),
    )
    return Drawing(all_panels, height=3.0)


def _draw_starts(runs: Mapping[float, Flows]) -> Drawing:
    """Two flows' combined rate from their start on."""
    names = {f"{_LABELS[BUFFERS_BDP.index(buffer)]} BDP": runs[buffer] for buffer in _RISING}
    curves = [
        curve(names[name].times_s, names[name].combined, name, look, thin=True, until=_RISING_S)
        for name, look in styles(names).items()
    ]
    axes = labels("time (s)", "rate (Gb/s, of 40)", xlim=(0, _RISING_S), ylim=(0, 2 * RATE))
    title = "combined rate of two flows from their start"
    return Drawing([Panel(title, curves, axes, [(RATE, None, LEVEL)])], 1, 3.2)
