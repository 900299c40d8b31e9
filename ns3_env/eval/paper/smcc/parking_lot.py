# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: QCN and SMCC over a chain of two bottlenecks (Jiang 2015, Figs. 20 to 22)."""

from __future__ import annotations

from dataclasses import dataclass

from ns3_env.eval.paper.outcome import Claim, Experiment, Grid, Outcome, Progress
from ns3_env.eval.paper.smcc.figures import panel, queues, series
from ns3_env.eval.paper.smcc.network import (
    LAWS,
    QCN_SHORT,
    RATE_BPS,
    SMCC,
    TWO_STAGES,
    Background,
    scenario,
    seeds,
    shorter,
    smcc,
)
from ns3_env.eval.paper.smcc.seen import Port, Queue, Seen, grouped, play, pooled
from ns3_env.scenario.topology import Graph, GraphLink
from ns3_env.simulator import Simulator

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
    links = [GraphLink(a=a, b=b, rate_bps=RATE_BPS, delay_ns=1000) for a, b in pairs]
    return Graph(nodes=["host" if i < 8 else "switch" for i in range(11)], links=links)


@dataclass(frozen=True)
class Pattern:
    """Streams over time.

    Attributes:
        name: I or II.
        second_mbps: of S4's stream; S3's has 500.
        times_s: start and stop of S3's stream, stop of S4's, which follows at once.
    """

    name: str
    second_mbps: float
    times_s: tuple[float, float, float]

    def streams(self, scale: float) -> tuple[Background, Background]:
        """At a scale of the times."""
        start, change, stop = self.moments(scale)
        return (
            Background(2, 6, 500e6, start, change),
            Background(3, 7, self.second_mbps * 1e6, change, stop),
        )

    def moments(self, scale: float) -> tuple[int, int, int]:
        """Start, change and stop, ns."""
        start, change, stop = (shorter(scale, t) if t else 0 for t in self.times_s)
        return start, change, stop


#: Sec. 5.4.1 and 5.4.2.
PATTERNS = (Pattern("I", 500, (0.0, 2.0, 4.0)), Pattern("II", 750, (1.0, 3.0, 5.0)))
#: Fig. 22 has two stages with R_b = 32.
_TWO_32 = f"{TWO_STAGES}, R_b 32"
_LAWS = {
    QCN_SHORT: LAWS[QCN_SHORT],
    SMCC: LAWS[SMCC],
    TWO_STAGES: LAWS[TWO_STAGES],
    _TWO_32: smcc(256, 32, 128),
}
Key = tuple[str, str]


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """Both patterns under each law; ``scale`` of the times and of three seeds."""
    cases = {
        (pattern.name, name, seed): scenario(
            law,
            pattern.moments(scale)[-1],
            ((0, 4), (1, 5)),
            pattern.streams(scale),
            topology=topology(),
        ).with_seed(seed)
        for pattern in PATTERNS
        for name, law in _LAWS.items()
        for seed in seeds(scale, _SEEDS)
    }
    found = play(simulator, cases, progress)
    runs = grouped(found, lambda case: case[:2])
    late = {
        (pattern.name, name): _both(runs[pattern.name, name], pattern, scale)
        for pattern in PATTERNS
        for name in _LAWS
    }
    rows: list[tuple[str | float, ...]] = [
        (f"{name}, pattern {which}", *(x / 1e3 for q in pair for x in (q.mean, q.std)), pair[1].empty)
        for (which, name), pair in late.items()
    ]
    columns = (
        "law",
        "C1, mean (kB)",
        "std (kB)",
        "C2, mean (kB)",
        "std (kB)",
        "C2 empty",
    )
    pictures, drawn = {}, []
    for figure, which, names in (
        ("smcc-fig-20", "I", (QCN_SHORT, SMCC)),
        ("smcc-fig-21", "II", (QCN_SHORT, SMCC)),
        ("smcc-fig-22", "II", (TWO_STAGES, _TWO_32)),
    ):
        end = next(x for x in PATTERNS if x.name == which).moments(scale)[-1]
        panels = [
            panel(f"{name}, {where}", runs[which, name][0], 0, end, port)
            for name in names
            for where, port in (("C1", FIRST), ("C2", SECOND))
        ]
        pictures[figure] = queues(panels, 2.0)
        drawn += [panel(f"{which}: {x[0]}", x[1], x[3], x[4], x[2]) for x in panels]
    notes = (
        "S1 to S3 send from C1; R3 and S4 are at C2; R1, R2 and R4 at C3. S3's stream makes the link from "
        "C1 to C2 "
        "the bottleneck, S4's the one from C2 to C3. Numbers are of the second half of each stream's time, "
        f"{len(runs['I', SMCC])} seeds.",
        "As in the paper, QCN's T is 30 kB, SMCC has one stage (256, 64); Fig. 22 has two, with an R_b of "
        "32, where "
        "the recommendation is 64.",
    )
    return Outcome(
        (), _claims(late), (Grid("Bottlenecks", columns, rows),), notes, pictures, {"queue": series(drawn)}
    )


def _both(runs: list[Seen], pattern: Pattern, scale: float) -> tuple[Queue, Queue]:
    """The queue at C1 while S3's stream is there, and at C2 while S4's is."""
    start, change, stop = pattern.moments(scale)
    return (
        pooled(runs, (start + change) / 2, change, FIRST),
        pooled(runs, (change + stop) / 2, stop, SECOND),
    )


def _claims(late: dict[Key, tuple[Queue, Queue]]) -> tuple[Claim, ...]:
    std = {key: (a.std / 1e3, b.std / 1e3) for key, (a, b) in late.items()}
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
            f"{std['I', QCN_SHORT][0]:.1f}, "
            f"{std['I', QCN_SHORT][1]:.1f} kB; II {one[0]:.1f}, {one[1]:.1f} against {qcn[0]:.1f}, "
            f"{qcn[1]:.1f} kB",
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


EXPERIMENT = Experiment(
    "smcc-parking-lot",
    "Two bottlenecks, one after the other",
    "Jiang 2015, Figs. 20 to 22",
    1.0,
    "times, and of three seeds",
    run,
)
