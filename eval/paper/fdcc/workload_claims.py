# SPDX-License-Identifier: GPL-2.0-or-later
"""The thesis's claim on short flows under a workload (Zhang 2023, section 6.3)."""

from __future__ import annotations

from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS
from ns3_env.eval.paper.fdcc.contestants import NAMES
from ns3_env.eval.paper.fdcc.verdicts import Table, below, claim, listed, tally
from ns3_env.eval.paper.outcome import Claim

#: "Short": the thesis gives no number; 100 kB parts the field's small flows from the others.
SHORT = ("to_10kB", "to_100kB")
_WORDS = {name: words for name, words, _, _ in SIZE_BUCKETS}


def key(bucket: str, statistic: str) -> str:
    """The name of a number: of a bucket of ``SIZE_BUCKETS``, "" for all flows."""
    return f"fct_slowdown_{bucket}_{statistic}" if bucket else f"fct_slowdown_{statistic}"


def claims(ours: Table) -> tuple[Claim, ...]:
    """For flows of each short size, by mean and by p99: the thesis says neither size nor statistic."""
    return tuple(
        claim(
            "FDCC consistently outperforms the others in the slowdown of short flows "
            f"(6.3; here: {_WORDS[bucket]}, {'mean' if statistic == 'avg' else statistic}, at every load)",
            tally(ours, ("fdcc",), NAMES, key(bucket, statistic), below),
            None,
            listed(ours, key(bucket, statistic), NAMES),
        )
        for bucket in SHORT
        for statistic in ("avg", "p99")
    )
