# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: 15-to-1 incasts, long-lived and of mixed sizes (Jiang 2015, Fig. 23)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ns3_env.eval.metrics.fairness import jain_index
from ns3_env.eval.papers.experiment import Played, experiment, repeated
from ns3_env.eval.papers.outcome import Claim, Outcome, grid
from ns3_env.eval.papers.seen import Seen
from ns3_env.eval.papers.smcc import network, queues
from ns3_env.eval.papers.smcc.network import LONG, MIXED, QCN, TO_RECEIVER, TWO_STAGES
from ns3_env.scenario import Scenario

#: Long-lived flows are watched for so long; mixed ones until the last one's end, or this.
_SECONDS, _LIMIT_S = 2.0, 20.0
_SEEDS = 5
#: Held: a mean so near to the target in the second half.
_HELD_BYTES = 16e3
_SHOWN = (TWO_STAGES, QCN, network.STANDARD, network.SMCC, network.BCN)
_Case = tuple[str, str]
Table = Mapping[str, Mapping[str, float]]


def cases(scale: float) -> dict[_Case, Scenario | Callable[[int], Scenario]]:
    """15 to 1, long-lived and mixed; ``scale`` of the time, the sizes and of five seeds."""
    end, limit = network.shorter(scale, _SECONDS), network.shorter(scale, _LIMIT_S)
    found: dict[_Case, Scenario | Callable[[int], Scenario]] = {}
    for name in _SHOWN:
        found[LONG, name] = network.incast(network.ENTRIES[name], network.endless(), end)
        found[MIXED, name] = network.mixed_incast(scale, network.ENTRIES[name], limit)
    return found


@experiment(
    "smcc-incast",
    "15 sources to one receiver, long-lived and of mixed sizes",
    "Jiang 2015, Fig. 23",
    1.0,
    "time, sizes, and of five seeds",
    repeated(cases, Seen, _SEEDS),
)
def outcome(played: Played[dict[_Case, list[Seen]]]) -> Outcome:
    """Queues of long-lived flows, and as flows end."""
    runs, end = played.runs, network.shorter(played.scale, _SECONDS)
    rates = {name: [x.mean_rates(0.5 * end, end, 1000) for x in runs[LONG, name]] for name in _SHOWN}
    long = {
        name: {**queues.of_burst(runs[LONG, name], end), "jain": float(np.mean([jain_index(x) for x in own]))}
        for name, own in rates.items()
    }
    ended = {name: _ended(runs[MIXED, name]) for name in _SHOWN}
    first = [(name, runs[LONG, name][0], runs[MIXED, name][0]) for name in _SHOWN[:2]]
    drawn: list[queues.Panel] = [(f"{name}, long-lived", own, 0, end, TO_RECEIVER) for name, own, _ in first]
    drawn += [(f"{name}, mixed", own, 0, own.end_ns, TO_RECEIVER) for name, _, own in first]
    notes = (
        "The paper's M = N = 4 are 16 computers of which the leftmost receives and all others send: 15 "
        "senders, and 15 Gb/s into 1 Gb/s, though it writes 16. Uplinks are 16 Gb/s here, so that the "
        "receiver's ToR is the bottleneck; no buffer is ever full (16 MiB), as the paper does not say how "
        "long the ToR's is.",
        "Sizes are uniform from 10 kb to 500 Mb, read as bits: 1.25 kB to 62.5 MB. Empty, used: while two "
        f"flows at least are there. {len(runs[LONG, QCN])} seeds; the paper has one.",
        "The figure has SMCC with the recommended two stages, as the paper; its first peaks are above the "
        "axis, and in the table; the tables have one stage and BCN too.",
    )
    heads = ("law", "settled (ms)", "longest (kB)", "mean (kB)", "std (kB)", "empty", "Jain", "lost")
    names = ("settled", "longest", "mean", "std", "empty", "jain", "lost")
    ended_heads = ("law", "empty (ms)", "empty", "all done (s)", "mean (kB)", "lost")
    ended_names = ("empty_ms", "empty", ("done", 1e9), "mean", "lost")
    return Outcome(
        (),
        _claims(long, ended),
        (
            grid("15 long-lived flows", heads, names, long.items()),
            grid("15 flows of mixed sizes", ended_heads, ended_names, ended.items()),
        ),
        notes,
        {"smcc-fig-23": queues.draw_queues(drawn)},
        {"queue": queues.series(drawn)},
    )


def _ended(runs: list[Seen]) -> dict[str, float]:
    """Of flows that end: how long the queue was empty while two were there."""
    shared = [queues.while_shared(own) for own in runs]
    empty_ms = [float((own <= 0).sum()) * network.FINE_NS / 1e6 for own in shared]
    return {
        "empty_ms": float(np.mean(empty_ms)),
        "empty": queues.empty(np.concatenate(shared)),
        "done": float(np.mean([max(own.flow_ends_ns) for own in runs])),
        "mean": float(np.concatenate(shared).mean()) / 1e3,
        "lost": float(np.mean([own.lost for own in runs])),
    }


def _claims(long: Table, ended: Table) -> tuple[Claim, ...]:
    means = {name: long[name]["mean"] for name in (TWO_STAGES, QCN)}
    settled, empty = (
        {name: one[name][key] for name in _SHOWN} for one, key in ((long, "settled"), (ended, "empty_ms"))
    )
    return (
        Claim(
            "Long-lived flows: both hold the queue at its target (5.5; here: a mean within 16 kB of it)",
            all(abs(mean - network.TARGET_BYTES / 1e3) <= _HELD_BYTES / 1e3 for mean in means.values()),
            ", ".join(f"{name} {mean:.1f} kB" for name, mean in means.items()),
        ),
        Claim(
            "SMCC responds to the burst faster than QCN (5.5)",
            settled[TWO_STAGES] < settled[QCN],
            ", ".join(f"{name} {time:.0f} ms" for name, time in settled.items()),
        ),
        Claim(
            "Mixed sizes: QCN leaves the buffer empty for longer than SMCC as flows end (5.5)",
            empty[QCN] > empty[TWO_STAGES],
            ", ".join(f"{name} {time:.0f} ms" for name, time in empty.items()),
        ),
    )
