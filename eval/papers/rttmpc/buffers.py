# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: rates, RTTs and losses by buffer size (Lynn et al. 2020, Table V, Figs. 5 to 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ns3_env.eval.metrics import without_nan
from ns3_env.eval.output.plots import OTHERS, styles
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Played, episodes, experiment
from ns3_env.eval.papers.outcome import Claim, Grid, Measured, Outcome, grid
from ns3_env.eval.papers.panels import curve, finished, level, panels
from ns3_env.eval.papers.rttmpc import bottleneck as net
from ns3_env.eval.papers.rttmpc.bottleneck import RATE, Path, Run, rttmpc
from ns3_env.eval.papers.seen import quartiles_apart
from ns3_env.simulator.results import Floats

FLOWS = (1, 2, 4, 8)
BUFFERS_BDP = tuple(2.0**power for power in range(-4, 5))
#: By flows, along the buffers: Table V.
THEIR_RATES: Mapping[int, tuple[float, ...]] = {
    1: (10.0, 10.0, 33.7, 39.9, 39.8, 39.7, 39.6, 39.4, 39.4),
    2: (10.0, 10.0, 23.7, 39.9, 39.8, 39.7, 39.6, 39.5, 39.7),
    4: (10.0, 10.0, 23.5, 40.0, 40.0, 39.8, 39.8, 39.7, 40.3),
    8: (10.0, 10.0, 24.0, 39.2, 40.0, 40.0, 40.0, 40.0, 39.9),
}
THEIR_RTTS: Mapping[int, tuple[float, ...]] = {
    1: (25.2, 25.2, 25.3, 25.8, 26.6, 26.9, 27.4, 28.6, 37.9),
    2: (25.2, 25.2, 25.3, 25.7, 26.7, 28.0, 28.4, 29.7, 39.2),
    4: (25.3, 25.3, 25.3, 25.7, 26.7, 28.7, 29.4, 30.6, 42.6),
    8: (25.3, 25.3, 25.4, 25.8, 26.9, 29.2, 30.4, 32.0, 53.5),
}
THEIR_LOSSES: Mapping[int, tuple[float, ...]] = {
    1: (3.2e-5, 3.1e-6, 9.9e-7, 6.4e-7, 2.8e-7, 2.0e-8, 1.0e-8, 2.0e-8, 2.0e-8),
    2: (3.3e-5, 1.1e-5, 4.1e-6, 2.5e-6, 2.1e-6, 6.3e-7, 7.0e-8, 1.0e-7, 8.0e-8),
    4: (4.2e-5, 2.7e-5, 1.1e-5, 7.0e-6, 5.9e-6, 3.9e-6, 2.0e-6, 2.5e-7, 2.1e-7),
    8: (1.0e-5, 7.7e-5, 2.7e-5, 1.7e-5, 1.6e-5, 1.2e-5, 7.4e-6, 5.0e-6, 7.7e-7),
}
#: 100,000,000 packets of 1500 B at 40 Gb/s (sec. 4.2).
SECONDS = 30.0
#: All flows together never send less (Fig. 5: 5 Gb/s each of two; Table V: 10.0 of any number).
FLOOR = 10 / RATE
#: Decay times of l_P and l_B, in RTTs, which the paper does not give; the first is the controller's default.
DECAYS_RTTS = (1000.0, 100.0, 30.0)
_DECAY_FLOWS, _DECAY_BDP = 2, (1.0, 16.0)
#: The figures' flows.
SHOWN = 2
#: Of Fig. 9, in BDPs, and how long it is looked at.
_RISING, _RISING_S = (0.25, 0.5, 1.0, 8.0), 8.0
_HALF, _ONE, _FOUR, _EIGHT = (BUFFERS_BDP.index(x) for x in (0.5, 1.0, 4.0, 8.0))
#: "The bottleneck's rate", "the floor of 10", "the same", in shares.
_FULL, _FLOOR, _ALIKE = 0.98, 1.1 * 10 / RATE, 0.05
_FIGURES_FLOWS = FLOWS.index(SHOWN)
_LABELS = tuple(f"1/{round(1 / x)}" if x < 1 else f"{x:g}" for x in BUFFERS_BDP)
#: Flows, buffer in BDPs, decay time in RTTs.
_Case = tuple[int, float, float]
#: Numbers by flows and buffer in BDPs.
Table = Mapping[tuple[int, float], Mapping[str, float]]


def paths(rate_bps: float) -> dict[_Case, Path]:
    """The paper's cases, and the decay times of others."""
    paper = [(flows, buffer, DECAYS_RTTS[0]) for flows in FLOWS for buffer in BUFFERS_BDP]
    others = [(_DECAY_FLOWS, buffer, decay) for buffer in _DECAY_BDP for decay in DECAYS_RTTS[1:]]
    return {case: Path(rate_bps, (net.RTT_NS,) * case[0], case[1]) for case in (*paper, *others)}


def cases(scale: float) -> dict[_Case, Any]:
    """36 cells, and some again with other decay times; ``scale`` of the link's rate."""
    return {
        case: net.episode(path, rttmpc(path, FLOOR / case[0], DecayRtts=case[2]), SECONDS)
        for case, path in paths(scale * net.RATE_BPS).items()
    }


def numbers(run: Run) -> dict[str, float]:
    """Of a whole run, as the paper's data points are: combined rates of 40, mean RTTs of the flows in ms, the
    share of packets lost, the time until the link's rate was reached. Spreads: of the quartiles."""
    rates, rtts = run.combined, run.mean_rtts_ms
    return {
        "rate": float(np.median(rates)),
        "rate_spread": quartiles_apart(rates),
        "rtt": float(np.median(rtts)),
        "rtt_spread": quartiles_apart(rtts),
        "rtt_p99": float(np.percentile(rtts, 99)),
        "lost": run.lost,
        "reached_s": run.reached_s,
    }


def along(table: Table, name: str) -> Floats:
    """A number of all cells: (flows, buffers)."""
    return np.array([[table[flows, buffer][name] for buffer in BUFFERS_BDP] for flows in FLOWS])


@experiment(
    "lynn-buffers",
    "1 to 8 flows and buffers from 1/16 to 16 BDP",
    "Lynn et al. 2020, Table V, Figs. 5 to 9",
    1e-3,
    "link's 40 Gb/s; RTT, buffers in BDPs, the least rate as a share and times stay",
    episodes(cases, net.run_of),
)
def outcome(played: Played[dict[_Case, Run]]) -> Outcome:
    """Table V, and the figures."""
    rate_bps = played.scale * net.RATE_BPS
    found = {case: numbers(own) for case, own in played.runs.items()}
    table = {case[:2]: own for case, own in found.items() if case[2] == DECAYS_RTTS[0]}
    pairs = {buffer: played.runs[SHOWN, buffer, DECAYS_RTTS[0]] for buffer in BUFFERS_BDP}
    notes = (
        f"The link has {rate_bps / 1e6:g} Mb/s in the place of 40 Gb/s, and rates are told as shares of it "
        f"times 40. A BDP has {Path(rate_bps).buffer_packets:,} packets of 1500 B in the place of "
        f"{Path(net.RATE_BPS).buffer_packets:,}, and 30 s have {round(played.scale * 1e8):,} packets in the "
        "place of 100,000,000: no loss is seen that is rarer than one in those. The smallest buffer holds "
        f"{Path(rate_bps, buffer_bdps=BUFFERS_BDP[0]).buffer_packets} packets. RTT, buffers in BDPs, time, "
        "and the floor of 10 Gb/s for all flows together, as a share, stay.",
        "Medians are over time, of the whole run; the paper's over packets. RTT: of a packet that joins the "
        "queue, without the paper's noise of 0.25 ms on average (2.5 ms at most) on each ACK.",
        "Losses: of 1e8 packets the paper's single flow loses 28 at a buffer of one BDP. Where an ACK takes "
        "25 ms, 40 Gb/s have 83,333 packets on their way before a sender hears of a full buffer: a rate 1 % "
        "too high has then lost 833. The paper's model must have told its senders at once.",
        "Until the link's rate is reached: 95 % of it, and for ten RTTs. A flow that starts grows by half "
        "per RTT, and overshoots; where that meets a small buffer, it begins anew from what it measured "
        "while it lost.",
        "Decay time: τ_d of eq. 3, which the paper does not give. Its medians at large buffers are far below "
        "halfway between the least and the largest RTT of the path, though the target is halfway (4.2): its "
        "l_B must have been forgotten soon. The law's default remembers it for 1000 RTTs.",
    )
    return Outcome(
        (),
        claims(table),
        (*_versus(table), _times(table), _decays(found)),
        notes,
        {
            "lynn-fig-5-6": _draw_boxes(pairs),
            "lynn-fig-7-8": _draw_losses_and_times(table),
            "lynn-fig-9": _draw_starts(pairs),
        },
        {
            "cells": csv_text(
                ("flows", "buffer_bdp", *table[1, 1.0]),
                ((*case, *own.values()) for case, own in table.items()),
            ),
            "two-flows": _series(pairs),
        },
        {"buffers": {f"{n} flows, {buffer:g} BDP": without_nan(own) for (n, buffer), own in table.items()}},
    )


def _versus(table: Table) -> list[Grid]:
    """The three parts of Table V, published above ours."""
    return [
        Grid(
            f"{title}, by flows and buffer (BDP)",
            ("flows", *_LABELS),
            [
                (f"{count}, {whose}", *values)
                for row, count in enumerate(FLOWS)
                for whose, values in (
                    ("published", published[count]),
                    ("ours", map(float, along(table, name)[row])),
                )
            ],
        )
        for title, published, name in (
            ("Median combined rate (Gb/s)", THEIR_RATES, "rate"),
            ("Median RTT (ms)", THEIR_RTTS, "rtt"),
            ("Losses (share of packets)", THEIR_LOSSES, "lost"),
        )
    ]


def _times(table: Table) -> Grid:
    """Figs. 5, 6 and 8, as numbers of ours."""
    rows = [
        (f"{what}, {count} flow{'s' * (count > 1)}", *map(float, along(table, name)[row]))
        for name, what in (
            ("rate_spread", "rate's quartiles apart (Gb/s)"),
            ("rtt_spread", "RTT's (ms)"),
            ("reached_s", "until 95 % of the link, held (s)"),
        )
        for row, count in enumerate(FLOWS)
        if count in (1, 2, 8)
    ]
    return Grid("Figs. 5, 6 and 8: ours, by buffer (BDP)", ("quantity", *_LABELS), rows)


def _decays(found: Mapping[_Case, Measured]) -> Grid:
    """Two flows with other decay times."""
    heads = ("median rate (Gb/s)", "median RTT (ms)", "quartiles apart (ms)", "lost")
    return grid(
        "Two flows by decay time τ_d",
        ("buffer", "τ_d (RTTs)", *heads),
        ("rate", "rtt", "rtt_spread", "lost"),
        (((f"{x:g} BDP", decay), found[_DECAY_FLOWS, x, decay]) for x in _DECAY_BDP for decay in DECAYS_RTTS),
    )


def claims(table: Table) -> tuple[Claim, ...]:
    """Verdicts on sec. 4.2."""
    return (*_of_rates(table), *_of_rtts(table), *_of_losses(table), *_of_times(table))


def _of_rates(table: Table) -> tuple[Claim, ...]:
    rates, spreads = along(table, "rate"), along(table, "rate_spread")[_FIGURES_FLOWS]
    return (
        Claim(
            "From 1/2 BDP on, the flows have the bottleneck's rate (Fig. 5, Table V; here: a median of 98 % "
            "at least)",
            bool((rates[:, _HALF:] >= _FULL * RATE).all()),
            f"{rates[:, _HALF:].min():.1f} at least",
        ),
        Claim(
            "With 1/8 BDP and less they stay at their least rate, a quarter of the link (Table V: 10.0)",
            bool((rates[:, : BUFFERS_BDP.index(0.125) + 1] <= _FLOOR * RATE).all()),
            f"{_range(rates[:, : BUFFERS_BDP.index(0.125) + 1])} Gb/s; 1/4 BDP: "
            f"{_range(rates[:, BUFFERS_BDP.index(0.25)])}, published 23.5 to 33.7",
        ),
        Claim(
            "The number of flows hardly changes the combined rate (Table V; here: by 5 % at most)",
            bool((np.ptp(rates, axis=0) <= _ALIKE * RATE).all()),
            f"{np.ptp(rates, axis=0).max():.1f} Gb/s apart at most",
        ),
        Claim(
            "Rates vary more as buffers grow beyond 1/2 BDP (4.2, Fig. 5; here: two flows' quartiles, 16 BDP "
            "against 1/2)",
            bool(spreads[-1] > spreads[_HALF]),
            ", ".join(f"{BUFFERS_BDP[i]:g} BDP {spreads[i]:.2f}" for i in range(_HALF, len(BUFFERS_BDP)))
            + " Gb/s",
        ),
    )


def _of_rtts(table: Table) -> tuple[Claim, ...]:
    rtts, spreads = along(table, "rtt"), along(table, "rtt_spread")[_FIGURES_FLOWS]
    slack = 1e-3 * net.RTT_NS / 1e6
    more = np.array([THEIR_RTTS[flows] for flows in FLOWS])
    return (
        Claim(
            "The median RTT grows with the buffer (Fig. 6; here: two flows', at no step shorter)",
            bool((np.diff(rtts[_FIGURES_FLOWS]) >= -slack).all()),
            f"{_list(rtts[_FIGURES_FLOWS])} ms, published {_list(more[_FIGURES_FLOWS])}; four flows "
            f"{_list(rtts[FLOWS.index(4)])}",
        ),
        Claim(
            "So does its range (Fig. 6; here: two flows' quartiles, each at least as far apart as with half "
            "the buffer)",
            bool((np.diff(spreads) >= -slack).all()),
            f"{_list(spreads)} ms",
        ),
        Claim(
            "More flows have longer RTTs (Table V; here: 8 against 1 from 1 BDP on)",
            bool((rtts[-1, _ONE:] > rtts[0, _ONE:]).all()),
            f"1 flow {_list(rtts[0, _ONE:])} ms, 8 flows {_list(rtts[-1, _ONE:])} ms",
        ),
    )


def _of_losses(table: Table) -> tuple[Claim, ...]:
    lost = along(table, "lost")
    return (
        Claim(
            "Larger buffers lose fewer packets (Fig. 7, Table V; here: at every step, for every number of "
            "flows)",
            bool((np.diff(lost, axis=1) <= 0).all()),
            f"two flows: {_list(lost[_FIGURES_FLOWS], '.1e')}",
        ),
        Claim(
            "More flows lose more packets (Table V; here: 8 against 1, wherever there are losses)",
            bool((lost[-1] >= lost[0]).all()),
            f"1 flow {_list(lost[0], '.1e')}; 8 flows {_list(lost[-1], '.1e')}",
        ),
        Claim(
            "From 4 BDP on losses are extremely rare (4.2: 7 to 10 of 1e8 packets)",
            bool((lost[:, _FOUR:] <= 1e-5).all()),
            f"{lost[:, _FOUR:].max():.1e} at most",
        ),
    )


def _of_times(table: Table) -> tuple[Claim, ...]:
    reached = along(table, "reached_s")[_FIGURES_FLOWS]
    rtt = net.RTT_NS / 1e9
    return (
        Claim(
            "Larger buffers reach the bottleneck's rate sooner (Figs. 8, 9; here: 1/2 BDP against 1 and 8)",
            bool(reached[_HALF] > reached[_ONE] >= reached[_EIGHT]),
            f"{_list(reached, '.2g')} s, published with 1/2 BDP about 5 s, with 1 BDP a fraction of a second",
        ),
        Claim(
            "At 8 BDP the time to reach it is the shortest there is, an RTT (Fig. 8; here: two RTTs at most)",
            bool(reached[_EIGHT] <= 2 * rtt),
            f"{reached[_EIGHT] / rtt:.0f} RTTs",
        ),
    )


def _range(values: Floats) -> str:
    return f"{values.min():.1f} to {values.max():.1f}"


def _list(values: Floats, form: str = ".1f") -> str:
    return ", ".join("–" if np.isnan(value) else format(float(value), form) for value in values)


def _draw_boxes(runs: Mapping[float, Run]) -> bytes:
    """Two flows' combined rates and mean RTTs as boxes with outliers beyond 1.5 of their height."""
    figure, (rates, rtts) = panels(["combined rate of two flows", "mean RTT of two flows"], 2, 3.2)
    outlier = {"marker": ".", "markersize": 2, "markeredgecolor": "#D55E00", "alpha": 0.4}
    middle = {"color": OTHERS[0], "linewidth": 1.6}
    for axes, values in (
        (rates, [run.combined[run.combined > 0] for run in runs.values()]),
        (rtts, [run.mean_rtts_ms for run in runs.values()]),
    ):
        axes.boxplot(values, whis=1.5, flierprops=outlier, medianprops=middle, widths=0.6)
        axes.set_xticks(range(1, len(_LABELS) + 1), _LABELS)
    level(rates, RATE, "the link")
    rates.set(xlabel="buffer (BDP)", ylabel="rate (Gb/s, of 40)", ylim=(0, 2 * RATE))
    rtts.set(xlabel="buffer (BDP)", ylabel="RTT (ms)")
    return finished(figure, rates)


def _draw_losses_and_times(table: Table) -> bytes:
    """Losses, and the time to 95 % of the link's rate, each against the buffer."""
    figure, (lost, reached) = panels(["losses", "until 95 % of the link's rate, held"], 2, 3.0)
    for row, (name, look) in enumerate(styles([f"{x} flow{'s' * (x > 1)}" for x in FLOWS]).items()):
        shares = along(table, "lost")[row]
        lost.plot(BUFFERS_BDP, np.where(shares > 0, shares, np.nan), label=name, **look.of_points)
        lost.plot(BUFFERS_BDP, THEIR_LOSSES[FLOWS[row]], color=look.colour, linewidth=0.7, alpha=0.6)
        reached.plot(BUFFERS_BDP, along(table, "reached_s")[row], **look.of_points)
    lost.set(yscale="log", ylabel="share of packets (thin: published)")
    level(reached, net.RTT_NS / 1e9)
    reached.set(yscale="log", ylabel="time (s); dashed: an RTT")
    for axes in (lost, reached):
        axes.set_xscale("log", base=2)
        axes.set_xticks(BUFFERS_BDP, _LABELS)
        axes.set_xlabel("buffer (BDP)")
    return finished(figure, lost)


def _draw_starts(runs: Mapping[float, Run]) -> bytes:
    """Two flows' combined rate from their start on."""
    figure, (axes,) = panels(["combined rate of two flows from their start"], 1, 3.2)
    names = {f"{_LABELS[BUFFERS_BDP.index(buffer)]} BDP": runs[buffer] for buffer in _RISING}
    for name, look in styles(names).items():
        own = names[name]
        kept = own.times_s <= _RISING_S
        curve(axes, own.times_s[kept], own.combined[kept], name, look, (1, 1), thin=True)
    level(axes, RATE)
    axes.set(xlabel="time (s)", ylabel="rate (Gb/s, of 40)", xlim=(0, _RISING_S), ylim=(0, 2 * RATE))
    return finished(figure, axes)


def _series(runs: Mapping[float, Run], each: int = 5) -> str:
    """Two flows' combined rates and mean RTTs, each ``each`` looks, as CSV."""
    columns = {buffer: (own.times_s, own.combined, own.mean_rtts_ms) for buffer, own in runs.items()}
    rows = [
        (buffer, f"{t:.4f}", f"{rate:.4g}", f"{rtt:.5g}")
        for buffer, own in columns.items()
        for t, rate, rtt in zip(*(x[::each] for x in own), strict=True)
    ]
    return csv_text(("buffer_bdp", "t_s", "rate_of_40", "rtt_ms"), rows)
