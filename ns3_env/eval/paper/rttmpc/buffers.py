# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: rates, RTTs and losses by buffer size (Lynn et al. 2020, Table V, Figs. 5 to 9)."""

from __future__ import annotations

from ns3_env.eval.metrics import without_nan
from ns3_env.eval.paper.outcome import Experiment, Outcome, Progress
from ns3_env.eval.paper.rttmpc.buffers_claims import claims
from ns3_env.eval.paper.rttmpc.buffers_figures import boxes, losses_and_times, rising, series
from ns3_env.eval.paper.rttmpc.buffers_numbers import BUFFERS_BDP, FLOWS, Cell, numbers, shown
from ns3_env.eval.paper.rttmpc.buffers_tables import decays, times, versus
from ns3_env.eval.paper.rttmpc.path import RATE, RATE_BPS, RTT_NS, Path, episode, rttmpc
from ns3_env.eval.paper.rttmpc.seen import Seen, seen
from ns3_env.eval.paper.smcc.seen import play_with
from ns3_env.simulator import Simulator

#: 100,000,000 packets of 1500 B at 40 Gb/s (sec. 4.2).
SECONDS = 30.0
#: All flows together never send less (Fig. 5: 5 Gb/s each of two; Table V: 10.0 of any number).
FLOOR = 10 / RATE
#: Decay times of l_P and l_B, in RTTs, which the paper does not give; the first is the law's default.
DECAYS_RTTS = (1000.0, 100.0, 30.0)
_DECAY_FLOWS, _DECAY_BDP = 2, (1.0, 16.0)
#: The figures' flows.
SHOWN = 2
_Case = tuple[int, float, float]


def cases(rate_bps: float) -> dict[_Case, Path]:
    """(flows, buffer in BDPs, decay time in RTTs): the paper's, and the decay times of others."""
    paper = [(flows, buffer, DECAYS_RTTS[0]) for flows in FLOWS for buffer in BUFFERS_BDP]
    others = [(_DECAY_FLOWS, buffer, decay) for buffer in _DECAY_BDP for decay in DECAYS_RTTS[1:]]
    return {case: Path(rate_bps, (RTT_NS,) * case[0], case[1]) for case in (*paper, *others)}


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """36 cells, and some again with other decay times; ``scale`` of the link's rate."""
    paths = cases(scale * RATE_BPS)
    played = {
        case: episode(path, rttmpc(path, FLOOR / case[0], DecayRtts=case[2]), SECONDS)
        for case, path in paths.items()
    }
    runs = play_with(simulator, played, seen, progress)
    found: dict[_Case, Cell] = {case: numbers(own) for case, own in runs.items()}
    table = {
        (flows, buffer): found[flows, buffer, DECAYS_RTTS[0]] for flows in FLOWS for buffer in BUFFERS_BDP
    }
    pairs: dict[float, Seen] = {buffer: runs[SHOWN, buffer, DECAYS_RTTS[0]] for buffer in BUFFERS_BDP}
    packets = Path(scale * RATE_BPS).buffer_packets
    notes = (
        f"The link has {scale * RATE_BPS / 1e6:g} Mb/s in the place of 40 Gb/s, and rates are told as "
        f"shares of it times 40. A BDP has {packets:,} packets of 1500 B in the place of "
        f"{Path(RATE_BPS).buffer_packets:,}, and 30 s have {round(scale * 1e8):,} packets in the place of "
        "100,000,000: no loss is seen that is rarer than one in those. The smallest buffer holds "
        f"{Path(scale * RATE_BPS, buffer_bdps=BUFFERS_BDP[0]).buffer_packets} packets. RTT, buffers in "
        "BDPs, time, and the floor of 10 Gb/s for all flows together, as a share, stay.",
        "Medians are over time, of the whole run; the paper's over packets. RTT: of a packet that joins "
        "the queue, without the paper's noise of 0.25 ms on average (2.5 ms at most) on each ACK.",
        "Losses: of 1e8 packets the paper's single flow loses 28 at a buffer of one BDP. Where an ACK "
        "takes 25 ms, 40 Gb/s have 83,333 packets on their way before a sender hears of a full buffer: a "
        "rate 1 % too high has then lost 833. The paper's model must have told its senders at once.",
        "Until the link's rate is reached: 95 % of it, and for ten RTTs. A flow that starts grows by half "
        "per RTT, and overshoots; where that meets a small buffer, it begins anew from what it measured "
        "while it lost.",
        "Decay time: τ_d of eq. 3, which the paper does not give. Its medians at large buffers are far "
        "below halfway between the least and the largest RTT of the path, though the target is halfway "
        "(4.2): its l_B must have been forgotten soon. The law's default remembers it for 1000 RTTs.",
    )
    return Outcome(
        (),
        claims(table),
        (
            *versus(table),
            times(table),
            decays({(x[1], x[2]): found[x] for x in found if x[0] == _DECAY_FLOWS and x[1] in _DECAY_BDP}),
        ),
        notes,
        {
            "lynn-fig-5-6": boxes(pairs),
            "lynn-fig-7-8": losses_and_times(table),
            "lynn-fig-9": rising(pairs),
        },
        {"cells": shown(table), "two-flows": series(pairs)},
        {
            "buffers": {
                f"{flows} flows, {buffer:g} BDP": without_nan(own.table())
                for (flows, buffer), own in table.items()
            }
        },
    )


EXPERIMENT = Experiment(
    "lynn-buffers",
    "1 to 8 flows and buffers from 1/16 to 16 BDP",
    "Lynn et al. 2020, Table V, Figs. 5 to 9",
    1e-3,
    "link's 40 Gb/s; RTT, buffers in BDPs, the least rate as a share and times stay",
    run,
)
