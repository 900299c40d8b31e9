# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: sending rates of three sources under SMCC, QCN and BCN (Jiang 2015, Fig. 17)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ns3_env.eval.episodes.flow_series import flow_colours
from ns3_env.eval.metrics.fairness import jain_index
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Played, experiment, repeated
from ns3_env.eval.papers.outcome import Claim, Grid, Outcome
from ns3_env.eval.papers.panels import finished, panels
from ns3_env.eval.papers.seen import Seen
from ns3_env.eval.papers.smcc import network
from ns3_env.eval.papers.smcc.network import BCN, QCN, QCN_SHORT, RATE_BPS, SMCC, SOURCES, TWO_STAGES
from ns3_env.eval.papers.smcc.queues import TARGET
from ns3_env.scenario import Scenario

#: The paper gives no length, and one run.
_SECONDS, _SEEDS = 10.0, 3
#: Fair: no source further from its share than this, on average over the last quarter.
_FAIR = 0.1
_SHOWN = (SMCC, TWO_STAGES, QCN, QCN_SHORT, BCN)


def cases(scale: float) -> dict[str, Scenario]:
    """Three flows from line rate on; ``scale`` of the time and of three seeds."""
    end, flows = network.shorter(scale, _SECONDS), network.side_by_side(SOURCES)
    return {name: network.scenario(network.ENTRIES[name], end, flows) for name in _SHOWN}


@experiment(
    "smcc-fairness",
    "Sending rates of three sources",
    "Jiang 2015, Fig. 17",
    1.0,
    "time (10 s), and of three seeds",
    repeated(cases, Seen, _SEEDS),
)
def outcome(played: Played[dict[str, list[Seen]]]) -> Outcome:
    """How near each source comes to its share."""
    runs, end = played.runs, network.shorter(played.scale, _SECONDS)
    shares, early = (
        {name: np.array([own.mean_rates(*span) for own in several]) for name, several in runs.items()}
        for span in ((0.75 * end, end), (0, 0.25 * end))
    )
    index, before = (
        {name: float(np.mean([jain_index(one) for one in own])) for name, own in found.items()}
        for found in (shares, early)
    )
    worst = {name: float(np.abs(own / (RATE_BPS / SOURCES) - 1).max()) for name, own in shares.items()}
    rows = [
        (name, before[name], index[name], worst[name], *(float(x) / 1e6 for x in np.sort(shares[name][0])))
        for name in _SHOWN
    ]
    columns = ("law", "Jain, first quarter", "last", "furthest from the share", "least (Mb/s)", "", "most")
    steps, ratio = max((_decreases(own) for own in runs[SMCC]), key=lambda pair: pair[1])
    claims = (
        Claim(
            "Under SMCC each source reaches its fair share (5.3.1; here: within 10 % over the last quarter)",
            worst[SMCC] <= _FAIR,
            f"at most {100 * worst[SMCC]:.1f} % off in {len(runs[SMCC])} runs of {end / 1e9:g} s; Jain's "
            f"index {index[SMCC]:.4f}",
        ),
        Claim(
            "SMCC's law is additive increase and multiplicative decrease, thus fair (4.2)",
            steps > math.sqrt(ratio),
            f"in the most uneven run the source of the highest rate sends {ratio:.1f} times what that of the "
            f"lowest does, and loses {steps:.2f} times as much by a decrease: up and down alike a step is as "
            "large whatever the rate, and samples come in proportion to it, so that ratios of rates stay as "
            "they are, on average",
        ),
        Claim(
            "QCN is unfair (5.3.1, as others have found; here: less fair than SMCC)",
            index[QCN] < index[SMCC],
            f"Jain's index {index[QCN]:.4f} against {index[SMCC]:.4f}; BCN {index[BCN]:.4f}",
        ),
    )
    notes = (
        f"{len(runs[SMCC])} seeds; the figure has the first, of which the rates of the last quarter are in "
        "the table. The paper does not say how long Fig. 17 is, and leaves QCN out.",
    )
    first = {name: own[0] for name, own in runs.items()}
    return Outcome(
        (),
        claims,
        (Grid("Rates of three sources", columns, rows),),
        notes,
        {"smcc-fig-17": _draw(first, end)},
        {"rates": _csv(first, end)},
    )


def _draw(runs: Mapping[str, Seen], end_ns: float) -> bytes:
    """Each source's sending rate over time, a panel for each name."""
    figure, several = panels(list(runs), 2, 2.3)
    for axes, run in zip(several, runs.values(), strict=True):
        times = np.linspace(0, end_ns, 600)
        for number, (own, colour) in enumerate(
            zip(run.rates_at(times), flow_colours(SOURCES), strict=True), 1
        ):
            axes.plot(times / 1e9, own / 1e6, color=colour, linewidth=1.0, label=f"source {number}")
        axes.axhline(RATE_BPS / SOURCES / 1e6, color=TARGET, linestyle="--", linewidth=1, label="fair share")
        axes.set(xlabel="time (s)", ylabel="rate (Mb/s)", xlim=(0, end_ns / 1e9), ylim=(0, 1050))
    return finished(figure, several[0])


def _decreases(run: Seen) -> tuple[float, float]:
    """How many times as large a decrease is of the source that sends most as of the one that sends least, on
    average over the second half, and how many times as large its rate is."""
    half = run.end_ns / 2
    rates = run.mean_rates(half, run.end_ns)
    most, least = int(rates.argmax()), int(rates.argmin())
    mean = []
    for flow in (most, least):
        own = run.changes[(run.changes[:, 1] == flow) & (run.changes[:, 0] >= half), 2]
        changes = np.diff(own)
        mean.append(float(-changes[changes < 0].mean()) if (changes < 0).any() else math.nan)
    return mean[0] / mean[1], float(rates[most] / rates[least])


def _csv(runs: dict[str, Seen], end: int) -> str:
    times = np.linspace(0, end, 1001)
    rows = [
        (name, round(t), *(round(x) for x in own))
        for name, run in runs.items()
        for t, own in zip(times, run.rates_at(times).T, strict=True)
    ]
    return csv_text(("law", "t_ns", *(f"source_{i + 1}_bps" for i in range(SOURCES))), rows)
