# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: a short flow beside a long one (Zhang 2023, Fig. 6.1)."""

from __future__ import annotations

from ns3_env.eval.metrics import measure, without_nan
from ns3_env.eval.paper.fdcc.entries import NAMES, make_entries
from ns3_env.eval.paper.fdcc.incast import HOSTS
from ns3_env.eval.paper.fdcc.shared_link import RATE_BPS, Shared, csv_of, draw, play_each
from ns3_env.eval.paper.fdcc.verdicts import Table, above, claim, listed, tally, value
from ns3_env.eval.paper.outcome import Experiment, Grid, Measured, Outcome, Policies, Progress
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import LongShort
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import flow_column

#: The short flow starts at 1 ms and is done by 1.5 ms (section 6.1): half of the link takes 2 MB in 0.34 ms.
#: The long one is there before and after: it would need 2 ms alone.
LONG_BYTES, SHORT_BYTES, START_NS = 25_000_000, 2_000_000, 1_000_000
#: Drawn and judged up to here at scale 1.
UNTIL_NS = 2_000_000
_LIMIT_NS = 20_000_000
#: Bins up to there, of 1 µs at least.
_BINS, _LEAST_NS = 100, 100_000
TOPOLOGY = Dumbbell(senders=HOSTS, receivers=HOSTS, rate_bps=RATE_BPS)
#: (name, heading, divisor)
_COLUMNS = (
    ("link_used", "link used", 1.0),
    ("payload_used", "by payload", 1.0),
    ("goodput", "goodput to the end", 1.0),
    ("short_us", "short flow (µs)", 1.0),
    ("short_slowdown", "its slowdown", 1.0),
    ("long_slowdown", "the long one's", 1.0),
    ("qlen_avg", "queue, mean (kB)", 1e3),
    ("qlen_p99", "p99 (kB)", 1e3),
)


def scenario(scale: float) -> Scenario:
    """``scale`` is of the flows' sizes and of the short one's start."""
    long, short = (max(1000, round(scale * size)) for size in (LONG_BYTES, SHORT_BYTES))
    return Scenario(
        time_limit_ns=max(1_000_000, round(scale * _LIMIT_NS)),
        topology=TOPOLOGY,
        traffic=LongShort(long_bytes=long, short_bytes=short, short_start_ns=round(scale * START_NS)),
    )


def run(simulator: Simulator, scale: float, progress: Progress, policies: Policies | None = None) -> Outcome:
    """To the end of both flows; shares up to 2 ms."""
    entries, until = make_entries(policies or {}), max(_LEAST_NS, round(scale * UNTIL_NS))
    runs = play_each(simulator, scenario(scale), TOPOLOGY, entries, until // _BINS, progress)
    numbers = {name: _numbers(own, until) for name, own in runs.items()}
    table: Table = {"long and short": numbers}
    rows: list[tuple[str | float, ...]] = [
        (name, *(value(own, key) / divisor for key, _, divisor in _COLUMNS)) for name, own in numbers.items()
    ]
    notes = (
        f"The long flow has {LONG_BYTES / 1e6:g} MB and starts at 0, the short one {SHORT_BYTES / 1e6:g} MB; "
        "the thesis gives no sizes. Used: share of the link's rate that left the first switch in the first "
        "2 ms, while the long flow is there; by payload, without headers and telemetry.",
        *entries.notes,
    )
    claims = tuple(
        claim(
            f"FDCC utilises the bottleneck more efficiently than HPCC (6.1; here: {words})",
            tally(table, ("fdcc",), ("hpcc",), key, above),
            None,
            listed(table, key, NAMES),
        )
        for key, words in (("payload_used", "payload"), ("link_used", "bytes on the wire"))
    )
    grid = Grid("A long flow and a short one", ("under", *(heading for _, heading, _ in _COLUMNS)), rows)
    pictures = {"fdcc-fig-6-1": draw(runs, until, ("long flow", "short flow"))}
    return Outcome((), claims, (grid,), notes, pictures, {"shares": csv_of(runs)}, table)


def _numbers(own: Shared, until_ns: int) -> Measured:
    found = measure(own.results, ("goodput", "queue_avg_bytes", "queue_p99_bytes"))
    fct, alone = flow_column(own.results, "fct_ns"), flow_column(own.results, "standalone_ns")
    payload = flow_column(own.results, "payload_bytes")
    frames = payload + flow_column(own.results, "header_bytes")
    share = own.between(0, until_ns, 2).mean(axis=1)
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


EXPERIMENT = Experiment(
    "fdcc-long-short",
    "A short flow beside a long one",
    "Zhang 2023, Fig. 6.1",
    1.0,
    "flows' sizes, and 1 ms until the short one starts",
    run,
    run,
)
