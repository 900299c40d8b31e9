# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: throughput and RTTs of 15 senders to one (Liang 2018, Table 4-1, Fig. 4-2)."""

from __future__ import annotations

from ns3_env.eval.metrics import without_nan
from ns3_env.eval.paper.outcome import Experiment, Grid, Outcome, Progress, Row
from ns3_env.eval.paper.smcc.seen import play_with
from ns3_env.eval.paper.tdctcp.fat_tree import (
    CUBIC,
    DCTCP,
    LAWS,
    MININET,
    PUBLISHED,
    SENDERS,
    TDCTCP,
    UNMARKED,
    Law,
    Setting,
    endless,
    scenario,
)
from ns3_env.eval.paper.tdctcp.figures import distributions, percentiles_csv
from ns3_env.eval.paper.tdctcp.incast_claims import EACH_ACKED, HIGH_MS, PUBLISHED_MS, claims, queue_kb
from ns3_env.eval.paper.tdctcp.seen import seen
from ns3_env.simulator import Simulator

#: The thesis does not say how long it looks.
SECONDS = 20.0
#: So many flows of each server have a least window of two packets each, and a third of a second together.
MANY = 90
#: T-DCTCP as the text of sec. 3.2 wants it: cases 5 and 7 cut less than case 8.
_SLIGHTLY_LESS = "T-DCTCP, theta 2"
AS_PUBLISHED, BY_MININET, NOTHING_MARKED = (
    "K = 20 packets, 1 MB",
    "Mininet's RED, 1 MB",
    "no marks, 1000 packets",
)
MANY_FLOWS = f"K = 20, no drops, {MANY * len(SENDERS)} flows"
_Case = tuple[str, str]


def cases() -> dict[_Case, tuple[Law, Setting, int]]:
    """(setting, law) of each run: its law, setting and flows of each server."""
    found: dict[_Case, tuple[Law, Setting, int]] = {}
    for name, setting in ((AS_PUBLISHED, PUBLISHED), (BY_MININET, MININET), (NOTHING_MARKED, UNMARKED)):
        for law, own in LAWS.items():
            if (name, law) != (NOTHING_MARKED, DCTCP):  # Reno, then: nothing of DCTCP
                found[name, law] = own, setting, 1
    found[AS_PUBLISHED, _SLIGHTLY_LESS] = Law("tdctcp", {"Theta": 2}), PUBLISHED, 1
    each, roomy = (
        Setting("1MB", "auto", packets_per_ack=1),
        Setting("100MB", "auto", socket_buffer_bytes=1 << 18),
    )
    for law in (DCTCP, TDCTCP):
        found[EACH_ACKED, law] = LAWS[law], each, 1
        found[MANY_FLOWS, law] = LAWS[law], roomy, MANY
    return found


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """Long-lived flows under each setting; ``scale`` of the time."""
    seconds = scale * SECONDS
    played = {
        case: scenario(law, setting, endless(flows), seconds)
        for case, (law, setting, flows) in cases().items()
    }
    found = play_with(simulator, played, seen, progress)
    main = {law: found[AS_PUBLISHED, law] for law in LAWS}
    rows = [
        Row(f"{what}, {law}", unit, published, getattr(main[law], name), where)
        for what, unit, name, kind, where in (
            ("throughput", "Mb/s", "throughput_mbps", 0, "Table 4-1"),
            ("mean RTT", "ms", "rtt_mean_ms", 1, "Table 4-1"),
            ("99 % RTT", "ms", "rtt_p99_ms", 2, "Table 4-1"),
            ("median RTT", "ms", "rtt_p50_ms", 3, "sec. 4.2"),
        )
        for law in LAWS
        for published in (PUBLISHED_MS[law][kind],)
    ]
    settings = [
        (
            setting,
            law,
            own.throughput_mbps,
            own.rtt_mean_ms,
            own.rtt_p50_ms,
            own.rtt_p99_ms,
            own.queue_kb,
            own.jain,
            own.lost,
            own.timeouts,
        )
        for (setting, law), own in sorted(found.items(), key=lambda x: _order(x[0]))
    ]
    needed: list[tuple[str | float, ...]] = [
        (law, *(queue_kb(rtt) for rtt in PUBLISHED_MS[law][1:])) for law in LAWS
    ]
    notes = (
        f"Long-lived flows, {seconds:g} s, links of 100 Mb/s and 1 µs, packets of 1500 B, an ACK for two "
        "packets or after 40 ms (but where each packet is acknowledged), least RTO 200 ms. The setting "
        "beside the thesis's numbers has DCTCP's published threshold, and room as Mininet's ports with RED "
        "have. The thesis says neither threshold, nor buffer, nor how long it looked, nor how many flows "
        "there were.",
        f"RTTs of the thesis need queues of {queue_kb(PUBLISHED_MS[TDCTCP][1]) / 1e3:.1f} to "
        f"{queue_kb(PUBLISHED_MS[CUBIC][1]) / 1e3:.1f} MB on average. Mininet's RED holds 1 MB, Linux's "
        "default queue 1000 packets: 1.5 MB, more where segmentation is left to the device and a packet "
        f"has up to 64 kB. Above T_high = {HIGH_MS:g} ms T-DCTCP shrinks every window: 15 flows stay below "
        "it even without a mark. Where all windows are at their least, the number of flows alone makes the "
        f"RTT: {MANY * len(SENDERS)} are played.",
        "The thesis's six percentiles are multiples of 512 µs. Its abstract's 12 % and 30 % are not Table "
        "4-1's: 8.6 % and 27 % of DCTCP's RTTs, or the text's 9.4 % and 37.7 % of T-DCTCP's.",
        "DCTCP's 99 % point is the timer of delayed ACKs: of a window of an odd number of packets the last "
        "waits 40 ms. With an ACK for each packet it is gone, and so is T-DCTCP's advantage.",
        "theta 2: as the text of sec. 3.2 has it; the printed 1/2 cuts by alpha where a mark meets a short "
        "or falling RTT.",
    )
    return Outcome(
        rows,
        claims(
            main, {setting: {law: x for (s, law), x in found.items() if s == setting} for setting, _ in found}
        ),
        (
            Grid(
                "Settings of what the thesis leaves open",
                (
                    "setting",
                    "law",
                    "Mb/s",
                    "RTT, mean (ms)",
                    "p50",
                    "p99",
                    "queue (kB)",
                    "Jain",
                    "lost",
                    "timeouts",
                ),
                settings,
            ),
            Grid(
                "Queues that the thesis's RTTs need at 100 Mb/s (kB)", ("law", "mean", "p99", "p50"), needed
            ),
        ),
        notes,
        {"tdctcp-fig-4-2": distributions(main, {law: found[MANY_FLOWS, law] for law in (DCTCP, TDCTCP)})},
        {"rtts": percentiles_csv(found)},
        {setting: {law: without_nan(own.table())} for (setting, law), own in found.items()},
    )


def _order(case: _Case) -> int:
    return [AS_PUBLISHED, EACH_ACKED, BY_MININET, NOTHING_MARKED, MANY_FLOWS].index(case[0])


EXPERIMENT = Experiment(
    "tdctcp-incast",
    "15 servers to one client at 100 Mb/s: throughput and RTTs",
    "Liang 2018, Table 4-1, Fig. 4-2",
    1.0,
    "20 s",
    run,
)
