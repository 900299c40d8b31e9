# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: a short flow beside a long one (Zhang 2023, Fig. 6.1)."""

from __future__ import annotations

from operator import gt

from ns3_env.eval.metrics import measure, without_nan
from ns3_env.eval.papers.experiment import Played, counted, experiment
from ns3_env.eval.papers.fdcc.incasts import ENTRIES, FDCC, NAMES
from ns3_env.eval.papers.outcome import Measured, Outcome, grid
from ns3_env.eval.papers.shares import Shares, draw_shares, shares_csv
from ns3_env.eval.papers.verdicts import Judge
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import LongShort
from ns3_env.simulator.results import flow_column

RATE_BPS = 100e9
#: Of each side (section 5.3).
HOSTS = 64
#: (node, port) of switch A's port to switch B: hosts come first, and A's ports are in the order of its links.
_BOTTLENECK = (2 * HOSTS, HOSTS)
#: The short flow starts at 1 ms and is done by 1.5 ms (section 6.1): half of the link takes 2 MB in 0.34 ms.
#: The long one is there before and after: it would need 2 ms alone.
LONG_BYTES, SHORT_BYTES, START_NS = 25_000_000, 2_000_000, 1_000_000
#: Drawn and judged up to here at scale 1.
UNTIL_NS = 2_000_000
_LIMIT_NS = 20_000_000
#: Bins up to there, of 1 µs at least.
_BINS, _LEAST_NS = 100, 100_000
_USED = ("link used", "by payload", "goodput to the end")
_TIMES = ("short flow (µs)", "its slowdown", "the long one's")
_HEADS = ("under", *_USED, *_TIMES, "queue, mean (kB)", "p99 (kB)")


def _until_ns(scale: float) -> int:
    return max(_LEAST_NS, round(scale * UNTIL_NS))


def cases(scale: float) -> dict[str, Scenario]:
    """To the end of both flows; ``scale`` is of the flows' sizes and of the short one's start."""
    long, short = (max(1000, round(scale * size)) for size in (LONG_BYTES, SHORT_BYTES))
    scenario = Scenario(
        time_limit_ns=max(1_000_000, round(scale * _LIMIT_NS)),
        topology=Dumbbell(senders=HOSTS, receivers=HOSTS, rate_bps=RATE_BPS),
        traffic=LongShort(long_bytes=long, short_bytes=short, short_start_ns=round(scale * START_NS)),
    )
    return {"": scenario}


@experiment(
    "fdcc-long-short",
    "A short flow beside a long one",
    "Zhang 2023, Fig. 6.1",
    1.0,
    "flows' sizes, and 1 ms until the short one starts",
    counted(cases, _BOTTLENECK, lambda scale: _until_ns(scale) // _BINS, RATE_BPS, ENTRIES),
    trained=True,
)
def outcome(played: Played[dict[str, Shares]]) -> Outcome:
    """Shares up to 2 ms."""
    runs, until = played.runs, _until_ns(played.scale)
    numbers = {name: _numbers(own, until) for name, own in runs.items()}
    table = {"long and short": numbers}
    notes = (
        f"The long flow has {LONG_BYTES / 1e6:g} MB and starts at 0, the short one {SHORT_BYTES / 1e6:g} MB; "
        "the thesis gives no sizes. Used: share of the link's rate that left the first switch in the first 2 "
        "ms, while the long flow is there; by payload, without headers and telemetry.",
        *played.notes,
    )
    claims = [
        Judge(table, NAMES).claim(
            f"FDCC utilises the bottleneck more efficiently than HPCC (6.1; here: {words})",
            FDCC,
            gt,
            ("hpcc",),
            key,
        )
        for key, words in (("payload_used", "payload"), ("link_used", "bytes on the wire"))
    ]
    columns = [(name, 1e3 if name.startswith("qlen") else 1.0) for name in next(iter(numbers.values()))]
    return Outcome(
        (),
        claims,
        (grid("A long flow and a short one", _HEADS, columns, numbers.items()),),
        notes,
        {"fdcc-fig-6-1": draw_shares(runs, until, ("long flow", "short flow"))},
        {"shares": shares_csv(runs)},
        table,
    )


def _numbers(own: Shares, until_ns: int) -> Measured:
    found = measure(own.results, ("goodput", "queue_avg_bytes", "queue_p99_bytes"))
    fct, alone = flow_column(own.results, "fct_ns"), flow_column(own.results, "standalone_ns")
    payload = flow_column(own.results, "payload_bytes")
    frames = payload + flow_column(own.results, "header_bytes")
    share = own.between(0, until_ns)[:2].mean(axis=1)
    long, short = (float(x / y) if x >= 0 else float("nan") for x, y in zip(fct, alone, strict=True))
    return without_nan(
        {
            "link_used": float(share.sum()),
            "payload_used": float((share * payload / frames).sum()),
            "goodput": found["goodput"],
            "short_us": float(fct[1]) / 1e3 if fct[1] >= 0 else float("nan"),
            "short_slowdown": short,
            "long_slowdown": long,
            "qlen_avg": found["queue_avg_bytes"],
            "qlen_p99": found["queue_p99_bytes"],
        }
    )
