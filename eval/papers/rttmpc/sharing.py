# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: flows share a bottleneck, capped or not (Lynn et al. 2020, Tables I, II, Fig. 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Grid, Outcome, Row, Verdict
from ns3_env.eval.papers.rttmpc import bottleneck as net
from ns3_env.eval.papers.rttmpc.bottleneck import RATE, Entry, Flows, Path, rttmpc
from ns3_env.eval.papers.verdicts import listed
from ns3_env.simulator.results import Floats

SAME, SAME_CAPPED = "one RTT", "one RTT, capped"
DIFFERENT, DIFFERENT_CAPPED = "four RTTs", "four RTTs, capped"
NEAR_P, NEAR_B = "four RTTs, target near l_P", "four RTTs, target near l_B"
ALONE, CUBIC, BBR = "one flow", "one flow of CUBIC", "one flow of BBR"
#: Mean and standard deviation of rate and RTT (ms) of each flow, as printed.
PUBLISHED = declared("lynn-sharing").printed
_TABLES = {SAME: "Table I", SAME_CAPPED: "Table I", DIFFERENT: "Table II", DIFFERENT_CAPPED: "Table II"}
#: In units of which the link has 40 (sec. 3.1).
CAPS: Mapping[str, tuple[float, ...]] = {SAME_CAPPED: (3, 7, 10, 20), DIFFERENT_CAPPED: (10,) * 4}
#: Numbers cover the last two thirds.
SECONDS, FROM = 60.0, 1 / 3
#: A flow's least rate, and its first, as a share of the link.
_LEAST = 1 / 100
#: "Close to" l_P and l_B.
_NEAR_P, _NEAR_B = 0.1, 0.9
#: Meanings of "equal", "its cap" and "low": shares of the fair rate, of the cap, of the mean.
_EQUAL, _KEPT, _LOW = 0.1, 0.05, 0.05
#: One flow "dominates" with this much more than its fair share.
_DOMINATES = 1.5
#: For each case: mean and standard deviation of rate and RTT (``Flows.of_each``).
Results = Mapping[str, Mapping[str, Floats]]


def entries(rate_bps: float) -> dict[str, tuple[Path, Entry]]:
    """Paths and entries by the name of their case."""
    one = Path(rate_bps, ack_noise=net.NOISE)
    four = replace(one, rtts_ns=(net.RTT_NS,) * 4)
    apart = replace(one, rtts_ns=tuple(net.RTT_NS + 10_000_000 * i for i in range(4)))
    caps = {case: [cap / RATE for cap in record] for case, record in CAPS.items()}
    return {
        SAME: (four, rttmpc(four, _LEAST)),
        SAME_CAPPED: (four, rttmpc(four, _LEAST, caps[SAME_CAPPED])),
        DIFFERENT: (apart, rttmpc(apart, _LEAST)),
        DIFFERENT_CAPPED: (apart, rttmpc(apart, _LEAST, caps[DIFFERENT_CAPPED])),
        NEAR_P: (apart, rttmpc(apart, _LEAST, target=_NEAR_P)),
        NEAR_B: (apart, rttmpc(apart, _LEAST, target=_NEAR_B)),
        ALONE: (one, rttmpc(one, _LEAST)),
        CUBIC: (one, Entry("cubic")),
        BBR: (one, Entry("bbr")),
    }


def cases(scale: float) -> dict[str, Any]:
    """Four flows, and one; ``scale`` of the link's rate."""
    return {
        name: net.episode(path, record, SECONDS)
        for name, (path, record) in entries(scale * net.RATE_BPS).items()
    }


@experiment("lynn-sharing", net.measure, cases=cases)
def sharing(data: Data[dict[str, Flows]]) -> Outcome:
    """Four flows at a bottleneck, capped or not, with one RTT or four; one flow beside CUBIC and BBR."""
    runs, rate_bps = data.runs, data.scale * net.RATE_BPS
    results = {name: run.after(FROM * SECONDS).of_each for name, run in runs.items()}
    single = {name: runs[name] for name in (ALONE, CUBIC, BBR)}
    return Outcome(
        rows=rows(results),
        claims=claims(results),
        grids=_grids(runs, results),
        notes=(
            f"The link has {rate_bps / 1e6:g} Mb/s, and a BDP {Path(rate_bps).buffer_packets:,} packets of "
            f"1500 B, not {Path(net.RATE_BPS).buffer_packets:,}. {SECONDS:g} s, numbers from "
            f"{FROM * SECONDS:g} s on.",
        ),
        pictures={"lynn-fig-3": net.draw_over_time(single, FROM * SECONDS)},
    )


def rows(results: Results) -> tuple[Row, ...]:
    """Rates, published and ours."""
    return tuple(
        Row(f"rate of flow {i + 1}, {case}", "", rate, float(results[case]["rate"][i]), _TABLES[case])
        for case, published in PUBLISHED.items()
        for i, rate in enumerate(published["rate"])
    )


def _grids(runs: Mapping[str, Flows], results: Results) -> tuple[Grid, ...]:
    """RTTs and standard deviations, targets, the single flow."""
    heads = ("flow 1", "2", "3", "4")
    kinds = {"rate_std": "rate, std", "rtt": "RTT (ms)", "rtt_std": "RTT, std (ms)"}
    deviations = [
        (f"{case}, {words}", whose, *map(float, values))
        for case, published in PUBLISHED.items()
        for kind, words in kinds.items()
        for whose, values in (("published", published[kind]), ("ours", results[case][kind]))
    ]
    targets = [(case, *map(float, results[case]["rate"])) for case in (NEAR_P, DIFFERENT, NEAR_B)]
    single = [
        (case, float(run.goodputs[0]), *(float(results[case][x][0]) for x in ("rtt", "rtt_std")), run.lost)
        for case, run in ((case, runs[case]) for case in (ALONE, CUBIC, BBR))
    ]
    columns = ("law", "goodput (of 40)", "RTT, mean (ms)", "std (ms)", "lost")
    return (
        Grid("RTTs and standard deviations", ("case", "origin", *heads), deviations),
        Grid("Rates of four RTTs (25, 35, 45, 55 ms) by target", ("case", *heads), targets),
        Grid("One flow, RTT 25 ms, a buffer of a BDP", columns, single),
    )


def claims(results: Results) -> dict[str, Verdict]:
    """Verdicts on the claims of sec. 3."""
    alone, cubic, bbr = results[ALONE], results[CUBIC], results[BBR]
    fair = RATE / 4
    same, apart, near_p, near_b = (results[case]["rate"] for case in (SAME, DIFFERENT, NEAR_P, NEAR_B))
    within = "here: within 5 % of the cap, with a standard deviation of 5 % at most)"

    def rtt(record: Mapping[str, Floats]) -> str:
        return f"{record['rtt'][0]:.1f} ± {record['rtt_std'][0]:.1f} ms"

    return {
        "A single flow's RTT lacks the sawtooth of other laws (3.1, Fig. 3; here: it varies less than "
        "CUBIC's)": (
            alone["rtt_std"][0] < cubic["rtt_std"][0],
            f"{rtt(alone)}; CUBIC {rtt(cubic)}, BBR {rtt(bbr)}",
        ),
        "Its rate has a low standard deviation (3.1; here: 5 % at most, probes among it)": (
            alone["rate_std"][0] <= _LOW * alone["rate"][0],
            f"{alone['rate'][0]:.1f} ± {alone['rate_std'][0]:.1f}; each probe is followed by some seconds of "
            "swings that fade",
        ),
        "Flows with one RTT share the bottleneck equally (Table I; here: each within 10 % of the fair "
        "rate)": (
            (np.abs(same / fair - 1) <= _EQUAL).all(),
            listed(same),
        ),
        f"Flows with caps keep them, with little variation (Table I; {within}": _keeps(results, SAME_CAPPED),
        f"So do flows with different RTTs (Table II; {within}": _keeps(results, DIFFERENT_CAPPED),
        "Uncapped flows with different RTTs: one dominates (3.3; here: 1.5 times its fair share)": (
            apart.max() >= _DOMINATES * fair,
            listed(apart),
        ),
        "It is the flow with the longest RTT where the target is close to l_P (3.1, Table II)": (
            near_p.argmax() == 3,
            listed(near_p),
        ),
        "It is the flow with the shortest RTT where the target is close to l_B (3.1)": (
            near_b.argmax() == 0,
            listed(near_b),
        ),
    }


def _keeps(results: Results, case: str) -> Verdict:
    record, caps = results[case], np.array(CAPS[case], dtype=np.float64)
    rate, std = record["rate"], record["rate_std"]
    near = np.abs(rate / caps - 1) <= _KEPT
    return (
        (near & (std <= _LOW * caps)).all(),
        f"{listed(rate)}, ± {std.max():.2f} at most; RTT ± {record['rtt_std'].max():.2f} ms",
    )
