# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims of Liang 2018, sec. 4.2, on throughput and RTTs, tested."""

from __future__ import annotations

from collections.abc import Mapping

from ns3_env.eval.paper.outcome import Claim
from ns3_env.eval.paper.tdctcp.fat_tree import CUBIC, DCTCP, RATE_BPS, TDCTCP
from ns3_env.eval.paper.tdctcp.seen import Seen

#: Throughput (Mb/s), mean, 99 % and median RTT (ms): Table 4-1, the medians in the text of sec. 4.2.
PUBLISHED_MS: Mapping[str, tuple[float | None, float, float, float]] = {
    DCTCP: (79.44, 362.374, 1164.288, 261.120),
    TDCTCP: (77.99, 331.272, 845.824, 185.856),
    CUBIC: (None, 805.672, 1888.256, 1054.208),
}
#: T_high of sec. 3.4.
HIGH_MS = 50.0
#: A setting of which a claim is told.
EACH_ACKED = "K = 20, each packet acknowledged"
#: "Close to": the thesis's own difference is 1.8 %.
_CLOSE = 0.02


def queue_kb(rtt_ms: float) -> float:
    """The queue that makes an RTT at 100 Mb/s, kB."""
    return RATE_BPS * rtt_ms / 8e6


def claims(main: Mapping[str, Seen], settings: Mapping[str, Mapping[str, Seen]]) -> tuple[Claim, ...]:
    """Verdicts on the main setting, by law; the evidence has the others."""
    dctcp, tdctcp, cubic = main[DCTCP], main[TDCTCP], main[CUBIC]
    return (
        Claim(
            "T-DCTCP's throughput is close to DCTCP's (4.2; here: within 2 %)",
            abs(tdctcp.throughput_mbps / dctcp.throughput_mbps - 1) <= _CLOSE,
            f"{tdctcp.throughput_mbps:.1f} against {dctcp.throughput_mbps:.1f} Mb/s",
        ),
        Claim(
            "Its mean RTT is below DCTCP's (4.2, Table 4-1: 331 against 362 ms; here: ACKs are delayed)",
            tdctcp.rtt_mean_ms < dctcp.rtt_mean_ms,
            _both("rtt_mean_ms", main, settings),
        ),
        Claim(
            "Its median RTT is below DCTCP's (4.2: 186 against 261 ms)",
            tdctcp.rtt_p50_ms < dctcp.rtt_p50_ms,
            _both("rtt_p50_ms", main, settings),
        ),
        Claim(
            "Its 99 % RTT is below DCTCP's (4.2, Table 4-1: 846 against 1164 ms; here: ACKs are delayed)",
            tdctcp.rtt_p99_ms < dctcp.rtt_p99_ms,
            _both("rtt_p99_ms", main, settings),
        ),
        _where_each_is_acknowledged(settings[EACH_ACKED]),
        Claim(
            "Both have much shorter RTTs than CUBIC (4.2, 5; here: means of less than half)",
            max(tdctcp.rtt_mean_ms, dctcp.rtt_mean_ms) < cubic.rtt_mean_ms / 2,
            f"CUBIC {cubic.rtt_mean_ms:.1f} ms",
        ),
        Claim(
            "15 flows of T-DCTCP have a mean RTT of 331 ms (Table 4-1; here: in any setting, above 100 ms)",
            any(
                own[TDCTCP].rtt_mean_ms > 2 * HIGH_MS for name, own in settings.items() if _fifteen(name, own)
            ),
            "; ".join(
                f"{name}: {own[TDCTCP].rtt_mean_ms:.1f} ms"
                for name, own in settings.items()
                if _fifteen(name, own)
            ).replace("; ", ", ")
            + f"; above T_high = {HIGH_MS:g} ms every window shrinks",
        ),
        Claim(
            "Cases 5 and 7 cut slightly less than case 8, DCTCP's (3.2)",
            False,
            "alpha / (2 theta) with theta = 1/2 is alpha, twice DCTCP's alpha / 2; theta 2 (which cuts "
            f"less): {_theta(settings):.1f} ms on average",
        ),
    )


def _where_each_is_acknowledged(own: Mapping[str, Seen]) -> Claim:
    dctcp, tdctcp = own[DCTCP], own[TDCTCP]
    return Claim(
        "They are where each packet is acknowledged, too (3.1 has receivers of both kinds)",
        tdctcp.rtt_mean_ms < dctcp.rtt_mean_ms and tdctcp.rtt_p99_ms < dctcp.rtt_p99_ms,
        f"mean {tdctcp.rtt_mean_ms:.1f} against {dctcp.rtt_mean_ms:.1f} ms, 99 % {tdctcp.rtt_p99_ms:.1f} "
        f"against {dctcp.rtt_p99_ms:.1f} ms",
    )


def _fifteen(name: str, own: Mapping[str, Seen]) -> bool:
    return TDCTCP in own and "flows" not in name


def _theta(settings: Mapping[str, Mapping[str, Seen]]) -> float:
    found = [seen for own in settings.values() for law, seen in own.items() if "theta" in law]
    return found[0].rtt_mean_ms


def _both(key: str, main: Mapping[str, Seen], settings: Mapping[str, Mapping[str, Seen]]) -> str:
    """T-DCTCP against DCTCP, in the main setting and then in the others."""
    others = ", ".join(
        f"{name} {getattr(own[TDCTCP], key):.1f} against {getattr(own[DCTCP], key):.1f}"
        for name, own in settings.items()
        if TDCTCP in own and DCTCP in own and own[TDCTCP] is not main[TDCTCP]
    )
    return f"{getattr(main[TDCTCP], key):.1f} against {getattr(main[DCTCP], key):.1f} ms; {others}"
