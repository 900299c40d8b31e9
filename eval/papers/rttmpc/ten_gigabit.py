# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: RTT-driven MPC on a long path of 10 Gb/s, beside others (Lynn et al. 2020, Table III)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ns3_env.eval.metrics.fairness import jain_index
from ns3_env.eval.papers.experiment import Data, episodes, experiment
from ns3_env.eval.papers.outcome import Outcome, Row, Verdict, grid
from ns3_env.eval.papers.rttmpc import bottleneck as net
from ns3_env.eval.papers.rttmpc.bottleneck import RATE, Entry, Flows, Path, rttmpc

#: Of the paths of sec. 3.2, and frames of science networks: the paper does not say which it had.
RATE_BPS, RTT_NS, MTU_BYTES = 10e9, 26_500_000, 9000
#: Time that is played, and the share of it from which numbers count.
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
_COLUMNS = (
    "goodput (Gb/s) = goodput; Jain = jain; RTT, mean = rtt; std = rtt_std; p99 = rtt_p99; lost = lost; "
    "timeouts = timeouts"
)


def path(scale: float) -> Path:
    """Two flows, a buffer of a BDP and ``scale`` of the RTT."""
    rtt = round(scale * RTT_NS)
    return Path(RATE_BPS, (rtt, rtt), 1.0, MTU_BYTES, rtt)


def entries(link: Path) -> dict[str, Entry]:
    """Laws that play."""
    return {
        UNCAPPED: rttmpc(link, _LEAST),
        CAPPED: rttmpc(link, _LEAST, [cap * 1e9 / RATE_BPS for cap in CAPS]),
        "cubic": Entry("cubic"),
        "bbr": Entry("bbr"),
        "dctcp": Entry("dctcp", marked_from=MARKED_FROM),
    }


def cases(scale: float) -> dict[str, Any]:
    """Two flows under each entry; ``scale`` of RTT and time."""
    link = path(scale)
    return {name: net.episode(link, entry, scale * SECONDS) for name, entry in entries(link).items()}


def numbers(run: Flows, base_ms: float) -> dict[str, float]:
    """Goodput (Gb/s), fairness, losses, and RTTs as multiples of the path's."""
    return {
        "goodput": float(run.goodputs.sum()) * _GBPS,
        "jain": float(jain_index(run.goodputs)),
        "rtt": float(run.rtts_ms.mean()) / base_ms,
        "rtt_std": float(run.rtts_ms[0].std()) / base_ms,
        "rtt_p99": float(np.percentile(run.rtts_ms, 99)) / base_ms,
        "lost": run.lost,
        "timeouts": run.timeouts,
    }


@experiment(
    "lynn-10g",
    "Lynn et al. 2020, Table III, and beyond",
    episodes(cases, net.measure),
    0.1,
    "RTT of 26.5 ms and of 20 s; the rate stays",
)
def ten_gigabit(data: Data[dict[str, Flows]]) -> Outcome:
    """Two flows at 10 Gb/s: RTT-driven MPC beside DCTCP, CUBIC and BBR."""
    runs, seconds, base_ms = data.runs, data.scale * SECONDS, path(data.scale).base_ns / 1e6
    late = {name: run.after(FROM * seconds) for name, run in runs.items()}
    table = {name: numbers(run, base_ms) for name, run in late.items()}
    rows = [
        Row(f"{what} of flow {i + 1}, {name}", "Gb/s", printed[i], float(simulated[i]) * _GBPS, "Table III")
        for name, (means, stds) in PUBLISHED.items()
        for what, printed, simulated in (
            ("rate", means, late[name].rates.mean(axis=1)),
            ("rate, std", stds, late[name].rates.std(axis=1)),
        )
        for i in range(2)
    ]
    notes = (
        f"The RTT is {base_ms:g} ms, not 26.5 ms, the buffer a BDP ({path(data.scale).buffer_packets:,} "
        f"packets of 9000 B), the time {seconds:g} s ({seconds / base_ms * 1e3:.0f} RTTs); numbers from the "
        "middle on, goodput of all. CUBIC, which counts in seconds, grows more slowly per RTT than with "
        "26.5 ms.",
        "DCTCP's queue marks from its published threshold on, 65 packets at 10 Gb/s.",
    )
    plotted_runs = {name: run for name, run in runs.items() if name != CAPPED}
    title = f"Two flows at 10 Gb/s; RTTs as multiples of {base_ms:g} ms"
    return Outcome(
        rows,
        claims(late, table),
        (grid(title, "law", _COLUMNS, table.items()),),
        notes,
        {"lynn-10g": net.draw_over_time(plotted_runs, seconds, RATE_BPS / 1e9, "Gb/s")},
    )


def claims(late: Mapping[str, Flows], table: Mapping[str, Mapping[str, float]]) -> dict[str, Verdict]:
    """Verdicts on Table III's claims, and on RTT and throughput beside CUBIC."""
    stds, totals = ({name: row[key] for name, row in table.items()} for key in ("rtt_std", "goodput"))
    rates, caps = (late[name].rates.mean(axis=1) * _GBPS for name in (UNCAPPED, CAPPED))
    return {
        "Two uncapped flows share 10 Gb/s approximately (3.2, Table III; here: within 10 %)": (
            abs(rates[0] / rates.mean() - 1) <= 0.1,
            f"{rates[0]:.1f} and {rates[1]:.1f} Gb/s, published 4.7 and 4.5",
        ),
        "Two capped ones keep 3.0 and 6.4 Gb/s (3.2, Table III; here: within 5 %)": (
            np.all(np.abs(caps / np.array(CAPS) - 1) <= 0.05),
            f"{caps[0]:.2f} and {caps[1]:.2f} Gb/s, published 2.9 and 6.4",
        ),
        "Its RTT varies less than that of loss-based control (1, 6; here: CUBIC)": (
            stds[UNCAPPED] < stds["cubic"],
            ", ".join(f"{name} {std:.3f}" for name, std in stds.items()) + " RTTs",
        ),
        "Its throughput is that of CUBIC (3.2; here: within 5 %)": (
            abs(totals[UNCAPPED] / totals["cubic"] - 1) <= 0.05,
            ", ".join(f"{name} {total:.2f}" for name, total in totals.items()) + " Gb/s",
        ),
    }
