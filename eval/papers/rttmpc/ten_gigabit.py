# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: RTT-driven MPC and others on a long path of 10 Gb/s (Lynn et al. 2020, sec. 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ns3_env.eval.metrics.convergence import jain_index
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Measured, Outcome, Row, Verdict, grid
from ns3_env.eval.papers.rttmpc import bottleneck as net
from ns3_env.eval.papers.rttmpc.bottleneck import RATE, Entry, Flows, Path, rttmpc
from ns3_env.eval.papers.verdicts import listed

#: Parameters of the path of sec. 3.2.
RATE_BPS, RTT_NS = 10e9, 26_500_000
#: From the paper's unit to Gb/s.
_GBPS = RATE_BPS / 1e9 / RATE
_LEAST = 1 / 100

#: Numbers cover the last two thirds.
ONE_FLOW_SECONDS, ONE_FLOW_FROM = 60.0, 1 / 3
MPC, NOISY, CUBIC = "rttmpc", "rttmpc, late ACKs", "cubic"
#: "All of the rate", "stable".
_FULL, _LOW = 0.02, 0.05


def one_flow_path(scale: float) -> Path:
    """One flow, a buffer of a BDP and ``scale`` of the rate."""
    return Path(scale * RATE_BPS, (RTT_NS,), base_ns=RTT_NS)


def one_flow_cases(scale: float) -> dict[str, Any]:
    """The law, the law with ACKs that come late at random, and CUBIC; ``scale`` of the rate."""
    link = one_flow_path(scale)
    noisy = replace(link, ack_noise=net.NOISE)
    entries = {MPC: (link, rttmpc(link, _LEAST)), NOISY: (noisy, rttmpc(noisy, _LEAST))}
    entries[CUBIC] = link, Entry("cubic")
    return {name: net.episode(path, entry, ONE_FLOW_SECONDS) for name, (path, entry) in entries.items()}


@experiment("lynn-one-flow", net.measure, cases=one_flow_cases)
def one_flow(data: Data[dict[str, Flows]]) -> Outcome:
    """One flow at 10 Gb/s: rate and RTT, with noise and without, beside CUBIC."""
    link, begin_s = one_flow_path(data.scale), ONE_FLOW_FROM * ONE_FLOW_SECONDS
    # 10 Gb/s without headers
    possible = RATE_BPS / 1e9 * link.payload_rate(1.0) / link.rate_bps
    table = {}
    for name, run in data.runs.items():
        late, each = run.after(begin_s), run.after(begin_s).of_each
        table[name] = {
            "goodput": float(run.goodputs[0]) / RATE * possible,
            "rate_std": float(each["rate_std"][0]) * _GBPS if late.rates.any() else float("nan"),
            "rtt": float(each["rtt"][0]),
            "rtt_std": float(each["rtt_std"][0]),
            "lost": run.lost,
        }
    return Outcome(
        rows=data.declared.compare(table[MPC]),
        claims=one_flow_claims(table, possible),
        grids=data.declared.grids(table),
        notes=(
            f"The link has {link.rate_bps / 1e6:g} Mb/s, rates are shown as of 10 Gb/s; "
            f"{ONE_FLOW_SECONDS:g} s, numbers from {begin_s:g} s on, goodput of all. Headers leave "
            f"{possible:.2f} Gb/s here, and 9.41 where frames are Ethernet's and TCP has timestamps.",
        ),
        pictures={"lynn-fig-4": net.draw_over_time(data.runs, begin_s, RATE_BPS / 1e9, "Gb/s")},
    )


def one_flow_claims(table: Mapping[str, Mapping[str, float]], possible: float) -> dict[str, Verdict]:
    """Verdicts on sec. 3.2 and Fig. 4; ``possible``: the link's rate without headers, Gb/s."""
    goodputs, stds, lost = (
        {name: row[key] for name, row in table.items()} for key in ("goodput", "rtt_std", "lost")
    )
    return {
        "One flow has what headers leave of 10 Gb/s, and so has CUBIC (3.2: 9.4; here: within 2 %)": (
            all(abs(goodputs[name] / possible - 1) <= _FULL for name in (MPC, CUBIC)),
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
        "It loses nothing (Fig. 4)": (lost[MPC] == 0, listed(lost, ".1e")),
        "Noise makes the RTT vary slightly more (Fig. 4; here: the queue's, without the noise itself)": (
            np.isfinite(stds[NOISY]) and stds[NOISY] > stds[MPC],
            f"± {listed({name: stds[name] for name in (MPC, NOISY)}, '.2f')} ms",
        ),
    }


#: Frames of science networks: the paper does not give its frame size.
MTU_BYTES = 9000
#: Duration, and the share of it after which numbers count.
SECONDS, FROM = 20.0, 0.5
#: DCTCP's published threshold at 10 Gb/s, packets.
MARKED_FROM = 65
#: Gb/s (Table III).
CAPS = (3.0, 6.4)
UNCAPPED, CAPPED = "rttmpc", "rttmpc, capped"
_COLUMNS = (
    "goodput (Gb/s) = goodput; Jain = jain; RTT, mean = rtt; std = rtt_std; p99 = rtt_p99; lost = lost; "
    "timeouts = timeouts"
)


def path(scale: float) -> Path:
    """Two flows, a buffer of a BDP and ``scale`` of the RTT."""
    rtt = round(scale * RTT_NS)
    return Path(RATE_BPS, (rtt, rtt), 1.0, MTU_BYTES, rtt)


def cases(scale: float) -> dict[str, Any]:
    """Two flows under each entry; ``scale`` of RTT and time."""
    link = path(scale)
    entries = {
        UNCAPPED: rttmpc(link, _LEAST),
        CAPPED: rttmpc(link, _LEAST, [cap * 1e9 / RATE_BPS for cap in CAPS]),
        "cubic": Entry("cubic"),
        "bbr": Entry("bbr"),
        "dctcp": Entry("dctcp", marked_from=MARKED_FROM),
    }
    return {name: net.episode(link, entry, scale * SECONDS) for name, entry in entries.items()}


@experiment("lynn-10g", net.measure, cases=cases)
def ten_gigabit(data: Data[dict[str, Flows]]) -> Outcome:
    """Two flows at 10 Gb/s: RTT-driven MPC beside DCTCP, CUBIC and BBR."""
    runs, seconds, link = data.runs, data.scale * SECONDS, path(data.scale)
    base_ms = link.base_ns / 1e6
    late = {name: run.after(FROM * seconds) for name, run in runs.items()}
    # goodput in Gb/s, RTTs as multiples of the path's
    table: dict[str, Measured] = {
        name: {
            "goodput": float(run.goodputs.sum()) * _GBPS,
            "jain": float(jain_index(run.goodputs)),
            "rtt": float(run.rtts_ms.mean()) / base_ms,
            "rtt_std": float(run.rtts_ms[0].std()) / base_ms,
            "rtt_p99": float(np.percentile(run.rtts_ms, 99)) / base_ms,
            "lost": run.lost,
            "timeouts": run.timeouts,
        }
        for name, run in late.items()
    }
    rows = [
        Row(f"{what} of flow {i + 1}, {name}", "Gb/s", x, float(simulated[i]) * _GBPS, "Table III")
        for name, published in data.declared.printed.items()
        for what, simulated in (
            ("rate", late[name].rates.mean(axis=1)),
            ("rate, std", late[name].rates.std(axis=1)),
        )
        for i, x in enumerate(published[what])
    ]
    notes = (
        f"The RTT is {base_ms:g} ms, not 26.5 ms, the buffer a BDP ({link.buffer_packets:,} packets of 9000 "
        f"B), the time {seconds:g} s ({seconds / base_ms * 1e3:.0f} RTTs); numbers from the middle on, "
        "goodput of all. CUBIC, which counts in seconds, grows more slowly per RTT than with 26.5 ms.",
        "DCTCP's queue marks from its published threshold on, 65 packets at 10 Gb/s.",
    )
    single = {name: run for name, run in runs.items() if name != CAPPED}
    title = f"Two flows at 10 Gb/s; RTTs as multiples of {base_ms:g} ms"
    return Outcome(
        rows,
        claims(late, table),
        (grid(title, "law", _COLUMNS, table),),
        notes,
        {"lynn-10g": net.draw_over_time(single, seconds, RATE_BPS / 1e9, "Gb/s")},
    )


def claims(late: Mapping[str, Flows], table: Mapping[str, Measured]) -> dict[str, Verdict]:
    """Verdicts on Table III's claims, and on RTT and throughput compared with CUBIC."""
    stds, totals = ({name: row[key] or 0.0 for name, row in table.items()} for key in ("rtt_std", "goodput"))
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
            f"{listed(stds, '.3f')} RTTs",
        ),
        "Its throughput is that of CUBIC (3.2; here: within 5 %)": (
            abs(totals[UNCAPPED] / totals["cubic"] - 1) <= 0.05,
            f"{listed(totals, '.2f')} Gb/s",
        ),
    }
