# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: QCN and SMCC over a chain of two bottlenecks (Jiang 2015, Figs. 20 to 22)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ns3_env.eval.papers.experiment import Played, experiment, repeated
from ns3_env.eval.papers.outcome import Claim, Outcome, grid
from ns3_env.eval.papers.seen import Port, Seen
from ns3_env.eval.papers.smcc import network, queues
from ns3_env.eval.papers.smcc.network import ENTRIES, QCN_SHORT, SMCC, TWO_STAGES
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Graph, GraphLink

#: S1 ... S4 are hosts 0 ... 3, R1 ... R4 are 4 ... 7, C1 ... C3 are 8 ... 10 (Fig. 14). S1 to S3 are at C1,
#: R3 and S4 at C2, R1, R2 and R4 at C3: a stream of S3 crosses the first link alone, one of S4 the second.
_AT = {0: 8, 1: 8, 2: 8, 6: 9, 3: 9, 4: 10, 5: 10, 7: 10}
#: Links of a switch have its ports in this order: hosts first.
FIRST: Port = (8, 3)
SECOND: Port = (9, 3)
_SEEDS = 3


def topology() -> Graph:
    """Fig. 14; every link is 1 Gb/s and 1 µs."""
    pairs = [*_AT.items(), (8, 9), (9, 10)]
    links = [GraphLink(a=a, b=b, rate_bps=network.RATE_BPS, delay_ns=1000) for a, b in pairs]
    return Graph(nodes=["host" if i < 8 else "switch" for i in range(11)], links=links)


@dataclass(frozen=True)
class Pattern:
    """Streams over time.

    Attributes:
        second_mbps: of S4's stream; S3's has 500.
        times_s: start and stop of S3's stream, stop of S4's, which follows at once.
    """

    second_mbps: float
    times_s: tuple[float, float, float]

    def streams(self, scale: float) -> tuple[network.Background, network.Background]:
        """At a scale of the times."""
        start, change, stop = self.moments(scale)
        return (
            network.Background(2, 6, 500e6, start, change),
            network.Background(3, 7, self.second_mbps * 1e6, change, stop),
        )

    def moments(self, scale: float) -> tuple[int, int, int]:
        """Start, change and stop, ns."""
        start, change, stop = (network.shorter(scale, t) if t else 0 for t in self.times_s)
        return start, change, stop


#: Sec. 5.4.1 and 5.4.2.
PATTERNS = {"I": Pattern(500, (0.0, 2.0, 4.0)), "II": Pattern(750, (1.0, 3.0, 5.0))}
#: Fig. 22 has two stages with R_b = 32.
_TWO_32 = f"{TWO_STAGES}, R_b 32"
_ENTRIES = {
    **{name: ENTRIES[name] for name in (QCN_SHORT, SMCC, TWO_STAGES)},
    _TWO_32: network.smcc(256, 32, 128),
}
_HEADS = ("law", "C1, mean (kB)", "std (kB)", "C2, mean (kB)", "std (kB)", "C2 empty")
_NAMES = ("first_mean", "first_std", "mean", "std", "empty")
Key = tuple[str, str]


def cases(scale: float) -> dict[tuple[str, str], Scenario]:
    """Both patterns under each; ``scale`` of the times and of three seeds."""
    return {
        (which, name): network.scenario(
            entry,
            pattern.moments(scale)[-1],
            ((0, 4), (1, 5)),
            pattern.streams(scale),
            topology=topology(),
        )
        for which, pattern in PATTERNS.items()
        for name, entry in _ENTRIES.items()
    }


@experiment(
    "smcc-parking-lot",
    "Two bottlenecks, one after the other",
    "Jiang 2015, Figs. 20 to 22",
    1.0,
    "times, and of three seeds",
    repeated(cases, Seen, _SEEDS),
)
def outcome(played: Played[dict[tuple[str, str], list[Seen]]]) -> Outcome:
    """The second half of each stream's time, at its bottleneck."""
    runs, moments = played.runs, {key: own.moments(played.scale) for key, own in PATTERNS.items()}
    late = {(which, name): _both(own, *moments[which]) for (which, name), own in runs.items()}
    rows = ((f"{name}, pattern {which}", own) for (which, name), own in late.items())
    pictures: dict[str, bytes] = {}
    drawn: list[queues.Panel] = []
    for figure, which, names in (
        ("smcc-fig-20", "I", (QCN_SHORT, SMCC)),
        ("smcc-fig-21", "II", (QCN_SHORT, SMCC)),
        ("smcc-fig-22", "II", (TWO_STAGES, _TWO_32)),
    ):
        panels = [
            (f"{name}, {where}", runs[which, name][0], 0, moments[which][-1], port)
            for name in names
            for where, port in (("C1", FIRST), ("C2", SECOND))
        ]
        pictures[figure] = queues.draw_queues(panels, 2.0)
        drawn += [(f"{which}: {panel[0]}", *panel[1:]) for panel in panels]
    notes = (
        "S1 to S3 send from C1; R3 and S4 are at C2; R1, R2 and R4 at C3. S3's stream makes the link from C1 "
        "to C2 the bottleneck, S4's the one from C2 to C3. Numbers are of the second half of each stream's "
        f"time, {len(runs['I', SMCC])} seeds.",
        "As in the paper, QCN's T is 30 kB, SMCC has one stage (256, 64); Fig. 22 has two, with an R_b of "
        "32, where the recommendation is 64.",
    )
    return Outcome(
        (),
        _claims(late),
        (grid("Bottlenecks", _HEADS, _NAMES, rows),),
        notes,
        pictures,
        {"queue": queues.series(drawn)},
    )


def _both(runs: list[Seen], start: int, change: int, stop: int) -> dict[str, float]:
    """The queue at C2 while S4's stream is there, and ("first") at C1 while S3's is."""
    first = queues.numbers(queues.coarse(runs, (start + change) / 2, change, FIRST))
    second = queues.numbers(queues.coarse(runs, (change + stop) / 2, stop, SECOND))
    return {"first_mean": first["mean"], "first_std": first["std"], **second}


def _claims(late: Mapping[Key, Mapping[str, float]]) -> tuple[Claim, ...]:
    std = {key: (own["first_std"], own["std"]) for key, own in late.items()}
    one, two, qcn, narrow = (std["II", name] for name in (SMCC, TWO_STAGES, QCN_SHORT, _TWO_32))
    same = [abs(std["I", name][0] - std["I", name][1]) for name in (QCN_SHORT, SMCC)]
    return (
        Claim(
            "The queue swings no more at C2 than at C1 (5.4.1; here: within 4 kB of standard deviation)",
            max(same) <= 4,
            "; ".join(
                f"{name} {std['I', name][0]:.1f}, {std['I', name][1]:.1f} kB" for name in (QCN_SHORT, SMCC)
            ),
        ),
        Claim(
            "SMCC's queue swings less than QCN's with T = 30 kB (5.4.1, 5.4.2)",
            all(
                a < b
                for which in ("I", "II")
                for a, b in zip(std[which, SMCC], std[which, QCN_SHORT], strict=True)
            ),
            f"pattern I {std['I', SMCC][0]:.1f}, {std['I', SMCC][1]:.1f} kB against "
            f"{std['I', QCN_SHORT][0]:.1f}, {std['I', QCN_SHORT][1]:.1f} kB; II {one[0]:.1f}, {one[1]:.1f} "
            f"against {qcn[0]:.1f}, {qcn[1]:.1f} kB",
        ),
        Claim(
            "750 Mb/s make both swing more than 500 Mb/s (5.4.2)",
            qcn[1] > qcn[0] and one[1] > one[0],
            f"QCN {qcn[0]:.1f} to {qcn[1]:.1f} kB, SMCC {one[0]:.1f} to {one[1]:.1f} kB",
        ),
        Claim(
            "Two stages make SMCC's swings beside 750 Mb/s smaller (5.4.2, Fig. 22)",
            narrow[1] < one[1],
            f"{narrow[1]:.1f} kB with R_b 32, {two[1]:.1f} kB with 64, against {one[1]:.1f} kB",
        ),
    )
