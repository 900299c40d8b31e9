# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: QCN's queue by cycle length T, with and without background (Jiang 2015, Fig. 5)."""

from __future__ import annotations

import numpy as np

from ns3_env.eval.paper.outcome import Claim, Experiment, Grid, Outcome, Progress, Row
from ns3_env.eval.paper.smcc.figures import distributions, panel, queues, series
from ns3_env.eval.paper.smcc.network import (
    BOTTLENECK,
    LAWS,
    QCN,
    QCN_SHORT,
    STANDARD,
    Background,
    scenario,
    seeds,
    shorter,
    side_by_side,
)
from ns3_env.eval.paper.smcc.seen import Seen, grouped, play, pooled
from ns3_env.simulator import Simulator

#: Repetitions (sec. 3.1), and what the paper prints there.
REPETITIONS, USED, EMPTY = 8, 0.968, 0.10
#: A packet on the wire.
FRAME_BYTES = 1048
_COLUMNS = (
    "law",
    "flows beside",
    "mean (kB)",
    "std (kB)",
    "second half (kB)",
    "5 % (kB)",
    "95 % (kB)",
    "empty",
    "link used",
)


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """T = 150 kB and T = 30 kB, each alone, then with the background, then alone; ``scale`` of times and
    repetitions."""
    phase = shorter(scale, 2.0)
    laws = {QCN: LAWS[QCN], QCN_SHORT: LAWS[QCN_SHORT], STANDARD: LAWS[STANDARD]}
    background = (Background(2, 5, 500e6, phase, 2 * phase),)
    cases = {
        (name, seed): scenario(
            law, 3 * phase, side_by_side(2), background, measured_ns=(phase, 2 * phase)
        ).with_seed(seed)
        for name, law in laws.items()
        for seed in seeds(scale, REPETITIONS)
    }
    found = play(simulator, cases, progress)
    runs = grouped(found, lambda case: case[0])
    drawn = [
        panel("T = 150 kB, two flows", runs[QCN][0], 0, phase),
        panel("T = 150 kB, 500 Mb/s beside", runs[QCN][0], phase, 2 * phase),
        panel("T = 30 kB, 500 Mb/s beside", runs[QCN_SHORT][0], phase, 2 * phase),
        panel("T = 30 kB, two flows", runs[QCN_SHORT][0], 2 * phase, 3 * phase),
    ]
    halves = {QCN: (0, 2 * phase), QCN_SHORT: (phase, 3 * phase)}
    coarse = {name: np.concatenate([x.coarse(*halves[name]) for x in runs[name]]) for name in halves}
    fine = {name: np.concatenate([x.fine(*halves[name]) for x in runs[name]]) for name in halves}
    played = np.concatenate(list(coarse.values()))
    busy = {name: pooled(own, phase, 2 * phase) for name, own in runs.items()}
    rows = (
        Row("link used beside 500 Mb/s, T = 150 kB", "", USED, _used(runs[QCN]), "3.1"),
        Row("samples with an empty queue, all panels", "", EMPTY, float((played <= 0).mean()), "Fig. 5b"),
        Row("the same, T = 150 kB beside 500 Mb/s", "", None, busy[QCN].empty),
    )
    notes = (
        f"{len(runs[QCN])} seeds a law. The paper changes T within a run, at its 4th second; here each T has "
        "a run of its own, alone, with 500 Mb/s beside, alone, and the panels show the paper's four "
        "quarters; so does the distribution.",
        "QCN as the paper implements it: a byte counter alone (no timer), p = 0.01 (a sample each 100 kB ± "
        "15 %), and R is the rate just before the latest feedback. "
        f"{STANDARD} has timer and hyper increase, samples each 150 kB down to 18.5 kB, and lets R be where "
        "nothing has been increased since the feedback before.",
        "No PFC: what finds 128 kB full is lost, and sent again. Thin in the distribution: samples each "
        "100 µs.",
    )
    return Outcome(
        rows,
        _claims(runs, phase, played),
        (Grid("The queue by law and time", _COLUMNS, _grid(runs, phase)),),
        notes,
        {
            "smcc-fig-5a": queues(drawn),
            "smcc-fig-5b": distributions("QCN's queue", coarse, fine),
        },
        {"queue": series(drawn)},
    )


def _used(runs: list[Seen]) -> float:
    return float(np.mean([own.used[BOTTLENECK] for own in runs]))


def _grid(runs: dict[str, list[Seen]], phase: int) -> list[tuple[str | float, ...]]:
    """A row for each law and each third."""
    rows: list[tuple[str | float, ...]] = []
    for name, own in runs.items():
        for i, beside in enumerate(("none", "500 Mb/s", "none again")):
            q = pooled(own, i * phase, (i + 1) * phase)
            used = _used(own) if i == 1 else float("nan")
            late = pooled(own, (i + 0.5) * phase, (i + 1) * phase).std
            lengths = (q.mean, q.std, late, q.low, q.high)
            rows.append((name, beside, *(x / 1e3 for x in lengths), q.empty, used))
    return rows


def _claims(runs: dict[str, list[Seen]], phase: int, samples: np.ndarray) -> tuple[Claim, ...]:
    std = {
        (name, i): pooled(runs[name], (i + 0.5) * phase, (i + 1) * phase).std / 1e3
        for name in (QCN, QCN_SHORT)
        for i in (0, 1, 2)
    }
    empty, used = float((samples <= 0).mean()), _used(runs[QCN])
    nearly = float((samples <= FRAME_BYTES).mean())
    return (
        Claim(
            "QCN's queue swings more once background takes half of the link (3.1; here: in the second half "
            "of the time)",
            std[QCN, 1] > std[QCN, 0],
            f"standard deviation {std[QCN, 0]:.1f} kB alone, {std[QCN, 1]:.1f} kB beside 500 Mb/s",
        ),
        Claim(
            "It swings less with T = 30 kB than with T = 150 kB, beside background and without (3.1)",
            std[QCN_SHORT, 1] < std[QCN, 1] and std[QCN_SHORT, 2] < std[QCN, 0],
            f"beside it {std[QCN_SHORT, 1]:.1f} against {std[QCN, 1]:.1f} kB, alone {std[QCN_SHORT, 2]:.1f} "
            f"against {std[QCN, 0]:.1f} kB",
        ),
        Claim(
            "QCN's queue is empty with a probability above 10 % (3.1, Fig. 5b)",
            empty > EMPTY,
            f"{100 * empty:.2g} % of the samples; {100 * nearly:.2g} % hold a packet or nothing",
        ),
        Claim(
            "The link's use falls to 96.8 % beside 500 Mb/s (3.1; here: below 99 %)",
            used < 0.99,
            f"{100 * used:.2f} %",
        ),
    )


EXPERIMENT = Experiment(
    "smcc-qcn",
    "QCN's queue as T and the bandwidth change",
    "Jiang 2015, Fig. 5",
    1.0,
    "times, and of the eight repetitions",
    run,
)
