# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: RTT-driven MPC on a long path of 10 Gb/s, beside others (Lynn et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ns3_env.eval.metrics import without_nan
from ns3_env.eval.metrics.fairness import jain_index
from ns3_env.eval.papers.experiment import Played, episodes, experiment
from ns3_env.eval.papers.outcome import Claim, Outcome, Row, grid
from ns3_env.eval.papers.rttmpc import bottleneck as net
from ns3_env.eval.papers.rttmpc.bottleneck import RATE, Entry, Path, Run, rttmpc

#: Of the paths of sec. 3.2, and frames of science networks: the paper does not say which it had.
RATE_BPS, RTT_NS, MTU_BYTES = 10e9, 26_500_000, 9000
#: Played, and looked at from then on, as a share.
SECONDS, FROM = 20.0, 0.5
#: DCTCP's published threshold at 10 Gb/s, packets.
MARKED_FROM = 65
#: Gb/s (Table III).
CAPS = (3.0, 6.4)
_LEAST = 1 / 100
UNCAPPED, CAPPED = "rttmpc", "rttmpc, capped"
#: Mean and standard deviation of two flows' rates (Gb/s): Table III.
PUBLISHED: Mapping[str, tuple[tuple[float, float], tuple[float, float]]] = {
    UNCAPPED: ((4.7, 4.5), (1.2, 1.2)),
    CAPPED: ((2.9, 6.4), (0.1, 0.2)),
}
#: From the paper's unit to Gb/s.
_GBPS = RATE_BPS / 1e9 / RATE


def path(scale: float) -> Path:
    """Of two flows, with a buffer of a BDP and ``scale`` of the RTT."""
    rtt = round(scale * RTT_NS)
    return Path(RATE_BPS, (rtt, rtt), 1.0, MTU_BYTES, rtt)


def entries(path: Path) -> dict[str, Entry]:
    """Who plays."""
    return {
        UNCAPPED: rttmpc(path, _LEAST),
        CAPPED: rttmpc(path, _LEAST, [cap * 1e9 / RATE_BPS for cap in CAPS]),
        "cubic": Entry("cubic"),
        "bbr": Entry("bbr"),
        "dctcp": Entry("dctcp", marked_from=MARKED_FROM),
    }


def cases(scale: float) -> dict[str, Any]:
    """Two flows under each; ``scale`` of RTT and time."""
    own = path(scale)
    return {name: net.episode(own, entry, scale * SECONDS) for name, entry in entries(own).items()}


@experiment(
    "lynn-10g",
    "Two flows at 10 Gb/s: RTT-driven MPC beside DCTCP, CUBIC and BBR",
    "Lynn et al. 2020, Table III, and beyond",
    0.1,
    "RTT of 26.5 ms and of 20 s; the rate stays",
    episodes(cases, net.run_of),
)
def outcome(played: Played[dict[str, Run]]) -> Outcome:
    """Table III, and beyond."""
    runs, seconds = played.runs, played.scale * SECONDS
    late = {name: own.after(FROM * seconds) for name, own in runs.items()}
    rows = [
        Row(
            f"{what} of flow {i + 1}, {name}",
            "Gb/s",
            published[kind][i],
            float(values[i]) * _GBPS,
            "Table III",
        )
        for name, published in PUBLISHED.items()
        for kind, what, values in (
            (0, "rate", late[name].rates.mean(axis=1)),
            (1, "rate, std", late[name].rates.std(axis=1)),
        )
        for i in range(2)
    ]
    base = path(played.scale).rtts_ns[0] / 1e6
    table = {
        name: {
            "goodput_gbps": float(own.goodputs.sum()) * _GBPS,
            "jain": float(jain_index(own.goodputs)),
            "rtt": float(own.rtts_ms.mean()) / base,
            "rtt_std": float(own.rtts_ms[0].std()) / base,
            "lost": own.lost,
        }
        for name, own in late.items()
    }
    more = {
        name: {"rtt_p99": float(np.percentile(own.rtts_ms, 99)) / base, "timeouts": own.timeouts}
        for name, own in late.items()
    }
    heads = ("law", "goodput (Gb/s)", "Jain", "RTT, mean", "std", "p99", "lost", "timeouts")
    names = ("goodput_gbps", "jain", "rtt", "rtt_std", "rtt_p99", "lost", "timeouts")
    notes = (
        "Not in the paper, but for RTT-driven MPC, which it ran between Davis and Denver (Table III: RTTs of "
        "27.1 ± 0.4 ms, capped 26.6 ± 0.1 ms) on a path with other queues.",
        f"Two flows at 10 Gb/s, an RTT of {base:g} ms in the place of 26.5 ms, a buffer of a BDP "
        f"({path(played.scale).buffer_packets:,} packets of 9000 B), {seconds:g} s, which are "
        f"{seconds / base * 1e3:.0f} RTTs; numbers from the middle on, goodput of all. RTT, time and the "
        "least RTO (8 RTTs) are scaled together: laws that count in RTTs see no difference, CUBIC, which "
        "counts in seconds, grows more slowly per RTT.",
        "DCTCP's queue marks from its published threshold on, 65 packets at 10 Gb/s.",
    )
    drawn = {name: own for name, own in runs.items() if name != CAPPED}
    return Outcome(
        rows,
        _claims(late, table),
        (
            grid(
                f"Two flows at 10 Gb/s; RTTs as multiples of {base:g} ms",
                heads,
                names,
                ((name, {**own, **more[name]}) for name, own in table.items()),
            ),
        ),
        notes,
        {"lynn-10g": net.over_time(drawn, seconds, RATE_BPS / 1e9, "Gb/s")},
        {"flows": net.rates_csv(runs, 0.1 * played.scale)},
        {"10g": {name: without_nan(own) for name, own in table.items()}},
    )


def _claims(late: Mapping[str, Run], table: Mapping[str, Mapping[str, float]]) -> tuple[Claim, ...]:
    stds, totals = ({name: own[key] for name, own in table.items()} for key in ("rtt_std", "goodput_gbps"))
    rates, caps = (late[name].rates.mean(axis=1) * _GBPS for name in (UNCAPPED, CAPPED))
    return (
        Claim(
            "Two uncapped flows share 10 Gb/s approximately (3.2, Table III; here: within 10 %)",
            bool(abs(rates[0] / rates.mean() - 1) <= 0.1),
            f"{rates[0]:.1f} and {rates[1]:.1f} Gb/s, published 4.7 and 4.5",
        ),
        Claim(
            "Two capped ones keep 3.0 and 6.4 Gb/s (3.2, Table III; here: within 5 %)",
            bool(np.all(np.abs(caps / np.array(CAPS) - 1) <= 0.05)),
            f"{caps[0]:.2f} and {caps[1]:.2f} Gb/s, published 2.9 and 6.4",
        ),
        Claim(
            "Its RTT varies less than that of loss-based control (1, 6; here: CUBIC)",
            stds[UNCAPPED] < stds["cubic"],
            ", ".join(f"{name} {std:.3f}" for name, std in stds.items()) + " RTTs",
        ),
        Claim(
            "Its throughput is that of CUBIC (3.2; here: within 5 %)",
            abs(totals[UNCAPPED] / totals["cubic"] - 1) <= 0.05,
            ", ".join(f"{name} {total:.2f}" for name, total in totals.items()) + " Gb/s",
        ),
    )
