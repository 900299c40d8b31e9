# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment of our own: T-DCTCP and RTT-driven MPC beside others on a fat-tree at 10 Gb/s."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.metrics import without_nan
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Played, episodes, experiment, seeds
from ns3_env.eval.papers.outcome import Claim, Grid, Outcome
from ns3_env.eval.papers.seen import Seen
from ns3_env.eval.papers.tdctcp import fat_tree
from ns3_env.eval.papers.tdctcp.fat_tree import PUBLISHED, SIZES
from ns3_env.scenario import Scenario

RATE_BPS = 10e9
#: T_low and T_high are those of 100 Mb/s over a hundred. RTT-driven MPC starts at a tenth of the fair share.
CONTROLLERS: Mapping[str, Mapping[str, str]] = {
    "dctcp": {},
    "tdctcp": {"LineRate": "10Gbps"},
    "rttmpc": {"InitialRate": "66Mbps", "MinRate": "10Mbps"},
    "cubic": {},
    "bbr": {},
}
#: RTOs and delayed ACKs of data centres, where an RTT has some tens of µs.
TCP = {"min_rto_ns": 10_000_000, "initial_rto_ns": 10_000_000, "delayed_ack_timeout_ns": 1_000_000}
_LONG_S, _MIXED_LIMIT_S, _SEEDS = 0.2, 2.0, 2
_SPREAD_NS = fat_tree.SPREAD_NS // 100
_LONG, _MIXED = "long-lived", "four sizes"
_Case = tuple[str, str, int]


def cases(scale: float) -> dict[_Case, Scenario]:
    """15 to 1, long-lived and of four sizes; ``scale`` of time, sizes, and two seeds."""
    played = {
        (_LONG, 1): fat_tree.scenario(PUBLISHED, fat_tree.endless(), scale * _LONG_S, 1, RATE_BPS, **TCP)
    }
    for seed in seeds(scale, _SEEDS):
        flows = fat_tree.four_sizes(seed, scale, _SPREAD_NS)
        played[_MIXED, seed] = fat_tree.scenario(PUBLISHED, flows, _MIXED_LIMIT_S, seed, RATE_BPS, **TCP)
    return {
        (kind, name, seed): base.under(name, attributes)
        for name, attributes in CONTROLLERS.items()
        for (kind, seed), base in played.items()
    }


@experiment(
    "tdctcp-10g",
    "15 servers to one client at 10 Gb/s: T-DCTCP and RTT-driven MPC beside DCTCP, CUBIC and BBR",
    "Liang 2018 and Lynn et al. 2020, at another rate",
    1.0,
    "time, sizes, and of two seeds",
    episodes(cases, Seen),
)
def outcome(played: Played[dict[_Case, Seen]]) -> Outcome:
    """RTTs of long-lived flows, completion times of those of four sizes."""
    seconds = played.scale * _LONG_S
    first = {name: played.runs[_LONG, name, 1] for name in CONTROLLERS}
    mixed = {
        name: [own for (kind, who, _), own in played.runs.items() if (kind, who) == (_MIXED, name)]
        for name in CONTROLLERS
    }
    long = {name: fat_tree.numbers(own) for name, own in first.items()}
    fcts = {name: np.concatenate([own.fcts_ms for own in mixed[name]]) for name in mixed}
    means = {name: fat_tree.means_by_size(own) for name, own in fcts.items()}
    notes = (
        "Not in the papers. The fat-tree of tdctcp-incast with links of 10 Gb/s, ports of 1 MB, DCTCP's "
        "threshold of 65 packets for the laws that declare one; least RTO 10 ms. Long-lived flows for "
        f"{seconds:g} s, {len(mixed['dctcp'])} seeds of the sizes.",
        "T-DCTCP's thresholds are divided by 100, as the rate is multiplied: T_low = 50 µs, T_high = 500 µs. "
        "RTT-driven MPC is as by default, but for its rates: from 66 Mb/s, a tenth of the fair share, and no "
        "less than 10 Mb/s; neither law was made for this.",
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
                        own["throughput_mbps"] / 1e3,
                        own["jain"],
                        *(1e3 * own[key] for key in ("rtt_mean_ms", "rtt_p50_ms", "rtt_p99_ms")),
                        *(own[key] for key in ("queue_kb", "lost", "timeouts")),
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
        {"tdctcp-10g": fat_tree.draw_completions(fcts, means)},
        {
            "rtts": csv_text(
                ("law", "percent", "rtt_us"),
                (
                    (name, percent, f"{1e3 * rtt:.6g}")
                    for name, own in first.items()
                    for percent, rtt in enumerate(fat_tree.rtts_ms(own), 1)
                ),
            )
        },
        {
            _LONG: {name: without_nan(own) for name, own in long.items()},
            _MIXED: {name: without_nan(dict(zip(SIZES, own, strict=True))) for name, own in means.items()},
        },
    )


def _claims(long: Mapping[str, Mapping[str, float]], means: Mapping[str, list[float]]) -> tuple[Claim, ...]:
    us = {name: (1e3 * own["rtt_mean_ms"], 1e3 * own["rtt_p99_ms"]) for name, own in long.items()}
    gbps = {name: own["throughput_mbps"] / 1e3 for name, own in long.items()}
    jain = {name: own["jain"] for name, own in long.items()}
    pairs = list(zip(SIZES, means["tdctcp"], means["dctcp"], strict=True))
    return (
        Claim(
            "At 10 Gb/s, too, T-DCTCP's mean RTT is below DCTCP's at much the same throughput (of Liang "
            "2018, 4.2)",
            us["tdctcp"][0] < us["dctcp"][0] and gbps["tdctcp"] > 0.98 * gbps["dctcp"],
            f"{us['tdctcp'][0]:.0f} against {us['dctcp'][0]:.0f} µs, {gbps['tdctcp']:.2f} against "
            f"{gbps['dctcp']:.2f} Gb/s",
        ),
        Claim(
            "Its 99 % RTT is, too (of Liang 2018, 4.2)",
            us["tdctcp"][1] < us["dctcp"][1],
            f"{us['tdctcp'][1]:.0f} against {us['dctcp'][1]:.0f} µs",
        ),
        Claim(
            "T-DCTCP does not starve flows (of Liang 2018, 5; here: a Jain index of 0.9 at least, of what "
            "long-lived flows got)",
            jain["tdctcp"] >= 0.9,
            f"{jain['tdctcp']:.2f}, DCTCP {jain['dctcp']:.2f}",
        ),
        Claim(
            "At 10 Gb/s, too, flows of 50 kB and 1 MB complete earlier under T-DCTCP than under DCTCP (of "
            "Liang 2018, 4.2)",
            all(ours < other for _, ours, other in pairs[1:3]),
            ", ".join(f"{size}: {ours / other:.2f} of the time" for size, ours, other in pairs),
        ),
        Claim(
            "In an incast, too, RTT-driven MPC shares equally without a queue as CUBIC's (of Lynn et al. "
            "2020, 3.3; here: a Jain index of 0.9 at least, and a shorter mean RTT)",
            jain["rttmpc"] >= 0.9 and us["rttmpc"][0] < us["cubic"][0],
            f"Jain {jain['rttmpc']:.2f}, RTT {us['rttmpc'][0]:.0f} µs; CUBIC {jain['cubic']:.2f}, "
            f"{us['cubic'][0]:.0f} µs",
        ),
    )
