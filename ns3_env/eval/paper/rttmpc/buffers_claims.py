# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims of Lynn et al. 2020, sec. 4.2, tested."""

from __future__ import annotations

import numpy as np

from ns3_env.eval.paper.outcome import Claim
from ns3_env.eval.paper.rttmpc.buffers_numbers import BUFFERS_BDP, FLOWS, THEIR_RTTS, Table, along
from ns3_env.eval.paper.rttmpc.path import RATE, RTT_NS
from ns3_env.eval.paper.rttmpc.seen import Floats

_HALF, _ONE, _FOUR, _EIGHT = (BUFFERS_BDP.index(x) for x in (0.5, 1.0, 4.0, 8.0))
#: "The bottleneck's rate", "the floor of 10", "the same", in shares.
_FULL, _FLOOR, _ALIKE = 0.98, 1.1 * 10 / RATE, 0.05
_FIGURES_FLOWS = FLOWS.index(2)


def claims(table: Table) -> tuple[Claim, ...]:
    """Verdicts."""
    return (*_of_rates(table), *_of_rtts(table), *_of_losses(table), *_of_times(table))


def _of_rates(table: Table) -> tuple[Claim, ...]:
    rates, spreads = along(table, "rate"), along(table, "rate_spread")[_FIGURES_FLOWS]
    return (
        Claim(
            "From 1/2 BDP on, the flows have the bottleneck's rate (Fig. 5, Table V; here: a median of 98 "
            "% at least)",
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
            "Rates vary more as buffers grow beyond 1/2 BDP (4.2, Fig. 5; here: two flows' quartiles, 16 "
            "BDP against 1/2)",
            bool(spreads[-1] > spreads[_HALF]),
            ", ".join(f"{BUFFERS_BDP[i]:g} BDP {spreads[i]:.2f}" for i in range(_HALF, len(BUFFERS_BDP)))
            + " Gb/s",
        ),
    )


def _of_rtts(table: Table) -> tuple[Claim, ...]:
    rtts, spreads = along(table, "rtt"), along(table, "rtt_spread")[_FIGURES_FLOWS]
    slack = 1e-3 * RTT_NS / 1e6
    more = np.array([THEIR_RTTS[flows] for flows in FLOWS])
    return (
        Claim(
            "The median RTT grows with the buffer (Fig. 6; here: two flows', at no step shorter)",
            bool((np.diff(rtts[_FIGURES_FLOWS]) >= -slack).all()),
            f"{_list(rtts[_FIGURES_FLOWS])} ms, published {_list(more[_FIGURES_FLOWS])}; four flows "
            f"{_list(rtts[FLOWS.index(4)])}",
        ),
        Claim(
            "So does its range (Fig. 6; here: two flows' quartiles, each at least as far apart as with "
            "half the buffer)",
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
    rtt = RTT_NS / 1e9
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
