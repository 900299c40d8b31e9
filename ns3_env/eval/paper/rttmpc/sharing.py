# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: flows share a bottleneck, capped or not (Lynn et al. 2020, Tables I, II, Fig. 3)."""

from __future__ import annotations

from ns3_env.eval.metrics import without_nan
from ns3_env.eval.paper.outcome import Experiment, Outcome, Progress
from ns3_env.eval.paper.rttmpc.figures import over_time, rates_csv
from ns3_env.eval.paper.rttmpc.path import RATE, RATE_BPS, RTT_NS, Law, Path, episode, rttmpc
from ns3_env.eval.paper.rttmpc.seen import seen
from ns3_env.eval.paper.rttmpc.sharing_tables import (
    ALONE,
    BBR,
    CUBIC,
    DIFFERENT,
    DIFFERENT_CAPPED,
    NEAR_B,
    NEAR_P,
    SAME,
    SAME_CAPPED,
    claims,
    grids,
    numbers,
    rows,
)
from ns3_env.eval.paper.smcc.seen import play_with
from ns3_env.simulator import Simulator

#: Shares of the link (sec. 3.1).
CAPS, EQUAL_CAPS = (3 / RATE, 7 / RATE, 10 / RATE, 20 / RATE), (10 / RATE,) * 4
DIFFERENT_NS = tuple(RTT_NS + 10_000_000 * i for i in range(4))
#: The paper does not say how long it looks: here 2400 RTTs, and numbers from a third on.
SECONDS, FROM = 60.0, 1 / 3
#: A flow's least rate, and its first, as a share of the link.
_LEAST = 1 / 100
#: "Close to" l_P and l_B.
_NEAR_P, _NEAR_B = 0.1, 0.9


def cases(rate_bps: float) -> dict[str, tuple[Path, Law]]:
    """What is played, by name."""
    one, four = Path(rate_bps), Path(rate_bps, (RTT_NS,) * 4)
    apart = Path(rate_bps, DIFFERENT_NS)
    return {
        SAME: (four, rttmpc(four, _LEAST)),
        SAME_CAPPED: (four, rttmpc(four, _LEAST, CAPS)),
        DIFFERENT: (apart, rttmpc(apart, _LEAST)),
        DIFFERENT_CAPPED: (apart, rttmpc(apart, _LEAST, EQUAL_CAPS)),
        NEAR_P: (apart, rttmpc(apart, _LEAST, target=_NEAR_P)),
        NEAR_B: (apart, rttmpc(apart, _LEAST, target=_NEAR_B)),
        ALONE: (one, rttmpc(one, _LEAST)),
        CUBIC: (one, Law("cubic")),
        BBR: (one, Law("bbr")),
    }


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """Four flows, and one; ``scale`` of the link's rate."""
    played = {name: episode(path, law, SECONDS) for name, (path, law) in cases(scale * RATE_BPS).items()}
    runs = play_with(simulator, played, seen, progress)
    found = {name: numbers(own.after(FROM * SECONDS)) for name, own in runs.items()}
    notes = (
        f"The link has {scale * RATE_BPS / 1e6:g} Mb/s in the place of 40 Gb/s, and rates are told as "
        f"shares of it times 40, the paper's. A BDP has {Path(scale * RATE_BPS).buffer_packets:,} packets "
        f"of 1500 B in the place of {Path(RATE_BPS).buffer_packets:,}; RTTs, times, caps and targets as "
        "shares, and the buffer of one BDP stay.",
        f"{SECONDS:g} s, numbers from {FROM * SECONDS:g} s on. The paper says neither how long it looked "
        "nor how large the buffer was. Its rates are packets/s; 40 of those on a path of 25 ms were one "
        "packet in flight, and a packet would take 25 ms to send. Read here as shares of 40.",
        "RTT: of a packet that joins the queue at that moment. The paper adds a random delay of 0.25 ms on "
        "average to each ACK; here is none.",
        "The target is halfway (sec. 4.2) where nothing else is said; near l_P: a tenth of the way, near "
        "l_B: nine tenths.",
    )
    return Outcome(
        rows(found),
        claims(found),
        grids(found),
        notes,
        {"lynn-fig-3": over_time({name: runs[name] for name in (ALONE, CUBIC, BBR)}, FROM * SECONDS)},
        {"flows": rates_csv(runs)},
        {"flows": {name: without_nan(own.table()) for name, own in found.items()}},
    )


EXPERIMENT = Experiment(
    "lynn-sharing",
    "Four flows at a bottleneck, capped or not, with one RTT or four; one flow beside CUBIC and BBR",
    "Lynn et al. 2020, Tables I, II, Fig. 3",
    1e-3,
    "link's 40 Gb/s; RTTs, buffers in BDPs, caps as shares and times stay",
    run,
)
