# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment of our own: T-DCTCP and RTT-driven MPC beside other laws on a fat-tree at 10 Gb/s."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.metrics import without_nan
from ns3_env.eval.paper.outcome import Claim, Experiment, Grid, Outcome, Progress
from ns3_env.eval.paper.smcc.network import seeds
from ns3_env.eval.paper.smcc.seen import grouped, play_with
from ns3_env.eval.paper.tdctcp.fat_tree import PUBLISHED, SPREAD_NS, Law, endless, scenario
from ns3_env.eval.paper.tdctcp.figures import completions
from ns3_env.eval.paper.tdctcp.flows import SIZES, means_by_size, traffic
from ns3_env.eval.paper.tdctcp.seen import Seen, seen
from ns3_env.eval.plots.table import csv_text
from ns3_env.simulator import Simulator

RATE_BPS = 10e9
#: T_low and T_high are those of 100 Mb/s over a hundred. RTT-driven MPC starts at a tenth of the fair share.
LAWS: Mapping[str, Law] = {
    "dctcp": Law("dctcp"),
    "tdctcp": Law("tdctcp", {"LineRate": "10Gbps"}),
    "rttmpc": Law("rttmpc", {"InitialRate": "66Mbps", "MinRate": "10Mbps"}),
    "cubic": Law("cubic"),
    "bbr": Law("bbr"),
}
#: RTOs and delayed ACKs of data centres, where an RTT has some tens of µs.
TCP = {"min_rto_ns": 10_000_000, "initial_rto_ns": 10_000_000, "delayed_ack_timeout_ns": 1_000_000}
_LONG_S, _MIXED_LIMIT_S, _SEEDS = 0.2, 2.0, 2
_SPREAD_NS = SPREAD_NS // 100
_LONG, _MIXED = "long-lived", "four sizes"


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """15 to 1, long-lived and of four sizes; ``scale`` of time, sizes, and two seeds."""
    seconds = scale * _LONG_S
    played = {}
    for name, law in LAWS.items():
        played[_LONG, name, 1] = scenario(law, PUBLISHED, endless(), seconds, 1, RATE_BPS, **TCP)
        for seed in seeds(scale, _SEEDS):
            played[_MIXED, name, seed] = scenario(
                law, PUBLISHED, traffic(seed, scale, _SPREAD_NS), _MIXED_LIMIT_S, seed, RATE_BPS, **TCP
            )
    runs = grouped(play_with(simulator, played, seen, progress), lambda case: case[:2])
    long = {name: runs[_LONG, name][0] for name in LAWS}
    fcts = {name: np.concatenate([own.fcts_ms for own in runs[_MIXED, name]]) for name in LAWS}
    means = {name: means_by_size(own) for name, own in fcts.items()}
    notes = (
        "Not in the papers. The fat-tree of tdctcp-incast with links of 10 Gb/s, ports of 1 MB, DCTCP's "
        "threshold of 65 packets for the laws that declare one; least RTO 10 ms. Long-lived flows for "
        f"{seconds:g} s, {len(runs[_MIXED, 'dctcp'])} seeds of the sizes.",
        "T-DCTCP's thresholds are divided by 100, as the rate is multiplied: T_low = 50 µs, T_high = 500 "
        "µs. RTT-driven MPC is as by default, but for its rates: from 66 Mb/s, a tenth of the fair share, "
        "and no less than 10 Mb/s; neither law was made for this.",
    )
    return Outcome(
        (),
        _claims(long, means),
        (
            Grid(
                f"15 long-lived flows, {seconds:g} s",
                ("law", "Gb/s", "Jain", "RTT, mean (µs)", "p50", "p99", "queue (kB)", "lost", "timeouts"),
                [
                    (
                        name,
                        own.throughput_mbps / 1e3,
                        own.jain,
                        1e3 * own.rtt_mean_ms,
                        1e3 * own.rtt_p50_ms,
                        1e3 * own.rtt_p99_ms,
                        own.queue_kb,
                        own.lost,
                        own.timeouts,
                    )
                    for name, own in long.items()
                ],
            ),
            Grid(
                "60 flows of four sizes: completion times (ms)",
                ("law", *(f"{size}, mean" for size in SIZES), "last", "not done"),
                [
                    (name, *means[name], float(np.nanmax(own)), int(np.isnan(own).sum()))
                    for name, own in fcts.items()
                ],
            ),
        ),
        notes,
        {"tdctcp-10g": completions(fcts, means, list(SIZES))},
        {"rtts": _csv(long)},
        {
            _LONG: {name: without_nan(own.table()) for name, own in long.items()},
            _MIXED: {name: without_nan(dict(zip(SIZES, own, strict=True))) for name, own in means.items()},
        },
    )


def _claims(long: Mapping[str, Seen], means: Mapping[str, list[float]]) -> tuple[Claim, ...]:
    tdctcp, dctcp, rttmpc, cubic = (long[name] for name in ("tdctcp", "dctcp", "rttmpc", "cubic"))
    return (
        Claim(
            "At 10 Gb/s, too, T-DCTCP's mean RTT is below DCTCP's at much the same throughput (of Liang "
            "2018, 4.2)",
            tdctcp.rtt_mean_ms < dctcp.rtt_mean_ms and tdctcp.throughput_mbps > 0.98 * dctcp.throughput_mbps,
            f"{1e3 * tdctcp.rtt_mean_ms:.0f} against {1e3 * dctcp.rtt_mean_ms:.0f} µs, "
            f"{tdctcp.throughput_mbps / 1e3:.2f} against {dctcp.throughput_mbps / 1e3:.2f} Gb/s",
        ),
        Claim(
            "Its 99 % RTT is, too (of Liang 2018, 4.2)",
            tdctcp.rtt_p99_ms < dctcp.rtt_p99_ms,
            f"{1e3 * tdctcp.rtt_p99_ms:.0f} against {1e3 * dctcp.rtt_p99_ms:.0f} µs",
        ),
        Claim(
            "T-DCTCP does not starve flows (of Liang 2018, 5; here: a Jain index of 0.9 at least, of what "
            "long-lived flows got)",
            tdctcp.jain >= 0.9,
            f"{tdctcp.jain:.2f}, DCTCP {dctcp.jain:.2f}",
        ),
        Claim(
            "At 10 Gb/s, too, flows of 50 kB and 1 MB complete earlier under T-DCTCP than under DCTCP (of "
            "Liang 2018, 4.2)",
            all(ours < other for ours, other in zip(means["tdctcp"][1:3], means["dctcp"][1:3], strict=True)),
            ", ".join(
                f"{size}: {ours / other:.2f} of the time"
                for size, ours, other in zip(SIZES, means["tdctcp"], means["dctcp"], strict=True)
            ),
        ),
        Claim(
            "In an incast, too, RTT-driven MPC shares equally without a queue as CUBIC's (of Lynn et al. "
            "2020, 3.3; here: a Jain index of 0.9 at least, and a shorter mean RTT)",
            rttmpc.jain >= 0.9 and rttmpc.rtt_mean_ms < cubic.rtt_mean_ms,
            f"Jain {rttmpc.jain:.2f}, RTT {1e3 * rttmpc.rtt_mean_ms:.0f} µs; CUBIC {cubic.jain:.2f}, "
            f"{1e3 * cubic.rtt_mean_ms:.0f} µs",
        ),
    )


def _csv(long: Mapping[str, Seen]) -> str:
    rows = [
        (name, percent, f"{1e3 * rtt:.6g}")
        for name, own in long.items()
        for percent, rtt in enumerate(own.rtts_ms, 1)
    ]
    return csv_text(("law", "percent", "rtt_us"), rows)


EXPERIMENT = Experiment(
    "tdctcp-10g",
    "15 servers to one client at 10 Gb/s: T-DCTCP and RTT-driven MPC beside DCTCP, CUBIC and BBR",
    "Liang 2018 and Lynn et al. 2020, at another rate",
    1.0,
    "time, sizes, and of two seeds",
    run,
)
