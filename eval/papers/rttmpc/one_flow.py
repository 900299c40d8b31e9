# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: rate and RTT of one flow on a long path of 10 Gb/s (Lynn et al. 2020, Fig. 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ns3_env.eval.papers.experiment import Data, episodes, experiment
from ns3_env.eval.papers.outcome import Outcome, Row, Verdict, grid
from ns3_env.eval.papers.rttmpc import bottleneck as net
from ns3_env.eval.papers.rttmpc.bottleneck import RATE, Entry, Flows, Path, rttmpc
from ns3_env.eval.papers.verdicts import listed

#: Of the path of sec. 3.2.
RATE_BPS, RTT_NS = 10e9, 26_500_000
#: Achieved (sec. 3.2): what Ethernet's headers leave.
PUBLISHED_GBPS = 9.4
#: The paper does not say how long it looked: here 2300 RTTs, and numbers from a third on.
SECONDS, FROM = 60.0, 1 / 3
_LEAST = 1 / 100
MPC, NOISY, CUBIC = "rttmpc", "rttmpc, late ACKs", "cubic"
#: "All of the rate", "stable".
_FULL, _LOW = 0.02, 0.05
_COLUMNS = "goodput (Gb/s) = goodput; rate, std = rate_std; RTT, mean (ms) = rtt; std = rtt_std; lost = lost"


def path(scale: float) -> Path:
    """One flow, a buffer of a BDP and ``scale`` of the rate."""
    return Path(scale * RATE_BPS, (RTT_NS,), base_ns=RTT_NS)


def cases(scale: float) -> dict[str, Any]:
    """The law, the law with ACKs that come late at random, and CUBIC; ``scale`` of the rate."""
    link = path(scale)
    noisy = replace(link, ack_noise=net.NOISE)
    return {
        MPC: net.episode(link, rttmpc(link, _LEAST), SECONDS),
        NOISY: net.episode(noisy, rttmpc(noisy, _LEAST), SECONDS),
        CUBIC: net.episode(link, Entry("cubic"), SECONDS),
    }


def possible_gbps(link: Path) -> float:
    """Payload rate that headers leave of a link of 10 Gb/s."""
    return RATE_BPS / 1e9 * link.payload_rate(1.0) / link.rate_bps


def numbers(run: Flows, link: Path) -> dict[str, float]:
    """Goodput of payload and the pacing rate's standard deviation, as of a link of 10 Gb/s; RTTs; losses."""
    gbps = RATE_BPS / 1e9 / RATE
    late = run.after(FROM * SECONDS)
    return {
        "goodput": float(run.goodputs[0]) / RATE * possible_gbps(link),
        "rate_std": float(late.rates[0].std()) * gbps if late.rates.any() else float("nan"),
        "rtt": float(late.rtts_ms[0].mean()),
        "rtt_std": float(late.rtts_ms[0].std()),
        "lost": run.lost,
    }


@experiment(
    "lynn-one-flow",
    "Lynn et al. 2020, Fig. 4",
    episodes(cases, net.measure),
    0.01,
    "link's 10 Gb/s; RTT, buffer in BDPs and times stay",
)
def one_flow(data: Data[dict[str, Flows]]) -> Outcome:
    """One flow at 10 Gb/s: rate and RTT, with noise and without, beside CUBIC."""
    link = path(data.scale)
    table = {name: numbers(run, link) for name, run in data.runs.items()}
    possible = possible_gbps(link)
    return Outcome(
        rows=[Row("rate of one flow, rttmpc", "Gb/s", PUBLISHED_GBPS, table[MPC]["goodput"], "Fig. 4")],
        claims=claims(table, possible),
        grids=(grid("One flow, RTT 26.5 ms, a buffer of a BDP", "law", _COLUMNS, table.items()),),
        notes=(
            f"The link has {link.rate_bps / 1e6:g} Mb/s, rates are shown as of 10 Gb/s; {SECONDS:g} s, "
            f"numbers from {FROM * SECONDS:g} s on, goodput of all. Headers leave {possible:.2f} Gb/s here, "
            "and 9.41 where frames are Ethernet's and TCP has timestamps.",
        ),
        pictures={"lynn-fig-4": net.draw_over_time(data.runs, FROM * SECONDS, RATE_BPS / 1e9, "Gb/s")},
    )


def claims(table: Mapping[str, Mapping[str, float]], possible: float) -> dict[str, Verdict]:
    """Verdicts on what sec. 3.2 and Fig. 4 say; ``possible``: what headers leave of the link, Gb/s."""
    goodputs = {name: row["goodput"] for name, row in table.items()}
    stds = {name: row["rtt_std"] for name, row in table.items()}

    def fills(name: str) -> bool:
        return abs(goodputs[name] / possible - 1) <= _FULL

    return {
        "One flow has what headers leave of 10 Gb/s, and so has CUBIC (3.2: 9.4; here: within 2 %)": (
            fills(MPC) and fills(CUBIC),
            f"{listed(goodputs, '.2f')} of {possible:.2f} Gb/s",
        ),
        "Its RTT shows no sawtooth, other than AIMD's (3.2, Fig. 4; here: it varies less than CUBIC's)": (
            stds[MPC] < stds[CUBIC],
            f"± {listed(stds, '.2f')} ms",
        ),
        "Its rate is stable (3.2, Fig. 4; here: a standard deviation of 5 % at most, probes among it)": (
            table[MPC]["rate_std"] <= _LOW * RATE_BPS / 1e9,
            f"± {table[MPC]['rate_std']:.2f} Gb/s",
        ),
        "It loses nothing (Fig. 4)": (
            table[MPC]["lost"] == 0,
            f"{listed({name: row['lost'] for name, row in table.items()}, '.1e')}",
        ),
        "Noise makes the RTT vary slightly more (Fig. 4; here: the queue's, without the noise itself)": (
            np.isfinite(stds[NOISY]) and stds[NOISY] > stds[MPC],
            f"± {listed({name: stds[name] for name in (MPC, NOISY)}, '.2f')} ms",
        ),
    }
