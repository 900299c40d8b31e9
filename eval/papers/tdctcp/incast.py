# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: throughput and RTTs of 15 senders to one (Liang 2018, Table 4-1, Fig. 4-2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.metrics import without_nan
from ns3_env.eval.output.plots import styles
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Played, episodes, experiment
from ns3_env.eval.papers.outcome import Claim, Grid, Outcome, Row, grid
from ns3_env.eval.papers.panels import finished, panels
from ns3_env.eval.papers.seen import Seen
from ns3_env.eval.papers.tdctcp import fat_tree
from ns3_env.eval.papers.tdctcp.fat_tree import CONTROLLERS, CUBIC, DCTCP, PUBLISHED, TDCTCP, Setting
from ns3_env.scenario import Scenario

#: Throughput (Mb/s), mean, 99 % and median RTT (ms): Table 4-1, the medians in the text of sec. 4.2.
PUBLISHED_MS: Mapping[str, tuple[float | None, float, float, float]] = {
    DCTCP: (79.44, 362.374, 1164.288, 261.120),
    TDCTCP: (77.99, 331.272, 845.824, 185.856),
    CUBIC: (None, 805.672, 1888.256, 1054.208),
}
#: T_high of sec. 3.4.
HIGH_MS = 50.0
#: "Close to": the thesis's own difference is 1.8 %.
_CLOSE = 0.02
#: The thesis does not say how long it looks.
SECONDS = 20.0
#: So many flows of each server have a least window of two packets each, and a third of a second together.
MANY = 90
_FLOWS = MANY * len(fat_tree.SENDERS)
#: T-DCTCP as the text of sec. 3.2 wants it: cases 5 and 7 cut less than case 8.
_SLIGHTLY_LESS = "T-DCTCP, theta 2"
AS_PUBLISHED, EACH_ACKED = "K = 20 packets, 1 MB", "K = 20, each packet acknowledged"
BY_MININET, NOTHING_MARKED = "Mininet's RED, 1 MB", "no marks, 1000 packets"
MANY_FLOWS = f"K = 20, no drops, {_FLOWS} flows"
#: Mininet's own RED, where its links are told to mark (docs/sources/tcp.md, "Mininet").
_RED = {"least": "30kB", "most": "35kB", "highest_probability": 1.0, "average_weight": 0.5}
#: In the table's order; Linux's default queue of a device does not mark.
SETTINGS: Mapping[str, Setting] = {
    AS_PUBLISHED: PUBLISHED,
    EACH_ACKED: Setting("1MB", "auto", packets_per_ack=1),
    BY_MININET: Setting("1MB", {"red": {**_RED, "gentle": False, "ecn": True}}),
    NOTHING_MARKED: Setting("1000 packets", "none"),
    MANY_FLOWS: Setting("100MB", "auto", socket_buffer_bytes=1 << 18),
}
#: By the names in tables and figures, but for the last, which has a row of its own.
_ENTRIES: Mapping[str, tuple[str, Mapping[str, float]]] = {
    **{name: (controller, {}) for name, controller in CONTROLLERS.items()},
    _SLIGHTLY_LESS: ("tdctcp", {"Theta": 2}),
}
_HEADS = ("Mb/s", "RTT, mean (ms)", "p50", "p99", "queue (kB)", "Jain", "lost", "timeouts")
_RTTS = ("rtt_mean_ms", "rtt_p50_ms", "rtt_p99_ms")
#: Numbers by setting, entry and name.
Table = Mapping[str, Mapping[str, Mapping[str, float]]]
_Case = tuple[str, str]


def cases(scale: float) -> dict[_Case, Scenario]:
    """Long-lived flows in each setting; ``scale`` of the time."""
    found = [(setting, who) for setting in (AS_PUBLISHED, BY_MININET, NOTHING_MARKED) for who in CONTROLLERS]
    found.remove((NOTHING_MARKED, DCTCP))  # Reno, then: nothing of DCTCP
    found.append((AS_PUBLISHED, _SLIGHTLY_LESS))
    found += [(setting, who) for who in (DCTCP, TDCTCP) for setting in (EACH_ACKED, MANY_FLOWS)]
    few, many = (fat_tree.endless(count) for count in (1, MANY))
    return {
        (setting, who): fat_tree.scenario(
            SETTINGS[setting], many if setting == MANY_FLOWS else few, scale * SECONDS
        ).under(*_ENTRIES[who])
        for setting, who in found
    }


def queue_kb(rtt_ms: float) -> float:
    """The queue that makes an RTT at 100 Mb/s, kB."""
    return fat_tree.RATE_BPS * rtt_ms / 8e6


@experiment(
    "tdctcp-incast",
    "15 servers to one client at 100 Mb/s: throughput and RTTs",
    "Liang 2018, Table 4-1, Fig. 4-2",
    1.0,
    "20 s",
    episodes(cases, Seen),
)
def outcome(played: Played[dict[_Case, Seen]]) -> Outcome:
    """Long-lived flows in each setting."""
    found = {case: fat_tree.numbers(run) for case, run in played.runs.items()}
    table: dict[str, dict[str, dict[str, float]]] = {}
    for (setting, who), own in found.items():
        table.setdefault(setting, {})[who] = own
    rows = [
        Row(f"{what}, {who}", unit, PUBLISHED_MS[who][kind], table[AS_PUBLISHED][who][name], where)
        for kind, what, unit, name, where in (
            (0, "throughput", "Mb/s", "throughput_mbps", "Table 4-1"),
            (1, "mean RTT", "ms", "rtt_mean_ms", "Table 4-1"),
            (2, "99 % RTT", "ms", "rtt_p99_ms", "Table 4-1"),
            (3, "median RTT", "ms", "rtt_p50_ms", "sec. 4.2"),
        )
        for who in CONTROLLERS
    ]
    notes = (
        f"Long-lived flows, {played.scale * SECONDS:g} s, links of 100 Mb/s and 1 µs, packets of 1500 B, an "
        "ACK for two packets or after 40 ms (but where each packet is acknowledged), least RTO 200 ms. The "
        "setting beside the thesis's numbers has DCTCP's published threshold, and room as Mininet's ports "
        "with RED have. The thesis says neither threshold, nor buffer, nor how long it looked, nor how many "
        "flows there were.",
        f"RTTs of the thesis need queues of {queue_kb(PUBLISHED_MS[TDCTCP][1]) / 1e3:.1f} to "
        f"{queue_kb(PUBLISHED_MS[CUBIC][1]) / 1e3:.1f} MB on average. Mininet's RED holds 1 MB, Linux's "
        "default queue 1000 packets: 1.5 MB, more where segmentation is left to the device and a packet has "
        f"up to 64 kB. Above T_high = {HIGH_MS:g} ms T-DCTCP shrinks every window: 15 flows stay below it "
        "even without a mark. Where all windows are at their least, the number of flows alone makes the RTT: "
        f"{_FLOWS} are played.",
        "The thesis's six percentiles are multiples of 512 µs. Its abstract's 12 % and 30 % are not Table "
        "4-1's: 8.6 % and 27 % of DCTCP's RTTs, or the text's 9.4 % and 37.7 % of T-DCTCP's.",
        "DCTCP's 99 % point is the timer of delayed ACKs: of a window of an odd number of packets the last "
        "waits 40 ms. With an ACK for each packet it is gone, and so is T-DCTCP's advantage.",
        "theta 2: as the text of sec. 3.2 has it; the printed 1/2 cuts by alpha where a mark meets a short "
        "or falling RTT.",
    )
    needed = [(who, *(queue_kb(rtt) for rtt in PUBLISHED_MS[who][1:])) for who in CONTROLLERS]
    return Outcome(
        rows,
        claims(table),
        (
            grid(
                "Settings of what the thesis leaves open",
                ("setting", "law", *_HEADS),
                ("throughput_mbps", *_RTTS, "queue_kb", "jain", "lost", "timeouts"),
                (((name, who), own) for name in SETTINGS for who, own in table[name].items()),
            ),
            Grid(
                "Queues that the thesis's RTTs need at 100 Mb/s (kB)", ("law", "mean", "p99", "p50"), needed
            ),
        ),
        notes,
        {"tdctcp-fig-4-2": _draw(played.runs)},
        {
            "rtts": csv_text(
                ("setting", "law", "percent", "rtt_ms"),
                (
                    (*case, percent, f"{rtt:.6g}")
                    for case, run in played.runs.items()
                    for percent, rtt in enumerate(fat_tree.rtts_ms(run), 1)
                ),
            )
        },
        {setting: {who: without_nan(own)} for (setting, who), own in found.items()},
    )


def _draw(runs: Mapping[_Case, Seen]) -> bytes:
    """Cumulative distributions of RTTs: few flows, and many."""
    figure, (few, more) = panels(["15 flows", f"{_FLOWS:,} flows"], 2, 2.9)
    looks = styles(CONTROLLERS)
    for axes, setting in ((few, AS_PUBLISHED), (more, MANY_FLOWS)):
        for who in CONTROLLERS:
            if (setting, who) in runs:
                own = fat_tree.rtts_ms(runs[setting, who])
                axes.plot(own, np.arange(1, 100) / 100, label=who, **looks[who].of_line)
        axes.set(xlabel="RTT (ms)", ylabel="share of packets", ylim=(0, 1), xscale="log")
    return finished(figure, few)


def _against(key: str, own: Mapping[str, Mapping[str, float]]) -> str:
    return f"{own[TDCTCP][key]:.1f} against {own[DCTCP][key]:.1f}"


def _shorter(what: str, key: str, settings: Table) -> Claim:
    """T-DCTCP against DCTCP, in the setting beside the thesis's numbers; then in the others."""
    main = settings[AS_PUBLISHED]
    others = ", ".join(
        f"{name} {_against(key, own)}"
        for name, own in settings.items()
        if name != AS_PUBLISHED and {TDCTCP, DCTCP} <= own.keys()
    )
    evidence = f"{_against(key, main)} ms; {others}"
    return Claim(f"Its {what}", main[TDCTCP][key] < main[DCTCP][key], evidence)


def claims(settings: Table) -> tuple[Claim, ...]:
    """Verdicts on sec. 4.2 in the setting beside the thesis's numbers; the evidence has the others."""
    main, each = settings[AS_PUBLISHED], settings[EACH_ACKED]
    ratio = main[TDCTCP]["throughput_mbps"] / main[DCTCP]["throughput_mbps"]
    means = {name: own["rtt_mean_ms"] for name, own in main.items()}
    fifteen = {
        name: own[TDCTCP]["rtt_mean_ms"]
        for name, own in settings.items()
        if TDCTCP in own and name != MANY_FLOWS
    }
    theta = next(own[_SLIGHTLY_LESS] for own in settings.values() if _SLIGHTLY_LESS in own)["rtt_mean_ms"]
    return (
        Claim(
            "T-DCTCP's throughput is close to DCTCP's (4.2; here: within 2 %)",
            abs(ratio - 1) <= _CLOSE,
            f"{_against('throughput_mbps', main)} Mb/s",
        ),
        _shorter(
            "mean RTT is below DCTCP's (4.2, Table 4-1: 331 against 362 ms; here: ACKs are delayed)",
            "rtt_mean_ms",
            settings,
        ),
        _shorter("median RTT is below DCTCP's (4.2: 186 against 261 ms)", "rtt_p50_ms", settings),
        _shorter(
            "99 % RTT is below DCTCP's (4.2, Table 4-1: 846 against 1164 ms; here: ACKs are delayed)",
            "rtt_p99_ms",
            settings,
        ),
        Claim(
            "They are where each packet is acknowledged, too (3.1 has receivers of both kinds)",
            all(each[TDCTCP][key] < each[DCTCP][key] for key in ("rtt_mean_ms", "rtt_p99_ms")),
            f"mean {_against('rtt_mean_ms', each)} ms, 99 % {_against('rtt_p99_ms', each)} ms",
        ),
        Claim(
            "Both have much shorter RTTs than CUBIC (4.2, 5; here: means of less than half)",
            max(means[TDCTCP], means[DCTCP]) < means[CUBIC] / 2,
            f"CUBIC {means[CUBIC]:.1f} ms",
        ),
        Claim(
            "15 flows of T-DCTCP have a mean RTT of 331 ms (Table 4-1; here: in any setting, above 100 ms)",
            max(fifteen.values()) > 2 * HIGH_MS,
            ", ".join(f"{name}: {rtt:.1f} ms" for name, rtt in fifteen.items())
            + f"; above T_high = {HIGH_MS:g} ms every window shrinks",
        ),
        Claim(
            "Cases 5 and 7 cut slightly less than case 8, DCTCP's (3.2)",
            False,
            "alpha / (2 theta) with theta = 1/2 is alpha, twice DCTCP's alpha / 2; theta 2 (which cuts "
            f"less): {theta:.1f} ms on average",
        ),
    )
