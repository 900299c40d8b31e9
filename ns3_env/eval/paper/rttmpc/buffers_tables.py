# SPDX-License-Identifier: GPL-2.0-or-later
"""Table V of Lynn et al. 2020, published above ours, and tables of other decay times."""

from __future__ import annotations

from collections.abc import Mapping

from ns3_env.eval.paper.outcome import Grid
from ns3_env.eval.paper.rttmpc.buffers_numbers import (
    BUFFERS_BDP,
    FLOWS,
    THEIR_LOSSES,
    THEIR_RATES,
    THEIR_RTTS,
    Cell,
    Table,
    along,
)

_HEADS = tuple(f"1/{round(1 / x)}" if x < 1 else f"{x:g}" for x in BUFFERS_BDP)


def versus(table: Table) -> tuple[Grid, ...]:
    """The three parts of Table V."""
    return tuple(
        Grid(
            f"{title}, by flows and buffer (BDP)",
            ("flows", *_HEADS),
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
    )


def times(table: Table) -> Grid:
    """Figs. 5, 6 and 8, as numbers of ours."""
    rows: list[tuple[str | float, ...]] = [
        (f"{what}, {count} flow{'s' * (count > 1)}", *map(float, along(table, name)[row]))
        for name, what in (
            ("rate_spread", "rate's quartiles apart (Gb/s)"),
            ("rtt_spread", "RTT's (ms)"),
            ("reached_s", "until 95 % of the link, held (s)"),
        )
        for row, count in enumerate(FLOWS)
        if count in (1, 2, 8)
    ]
    return Grid("Figs. 5, 6 and 8: ours, by buffer (BDP)", ("quantity", *_HEADS), rows)


def decays(found: Mapping[tuple[float, float], Cell]) -> Grid:
    """Two flows with other decay times, by (buffer, decay time)."""
    rows: list[tuple[str | float, ...]] = [
        (f"{buffer:g} BDP", decay, own.rate, own.rtt, own.rtt_spread, own.lost)
        for (buffer, decay), own in sorted(found.items(), key=lambda x: (x[0][0], -x[0][1]))
    ]
    return Grid(
        "Two flows by decay time τ_d",
        ("buffer", "τ_d (RTTs)", "median rate (Gb/s)", "median RTT (ms)", "quartiles apart (ms)", "lost"),
        rows,
    )
