# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: QCN's queue by cycle length T, with and without background (Jiang 2015, Fig. 5)."""

from __future__ import annotations

import numpy as np

from ns3_env.eval.papers.experiment import Played, experiment, repeated
from ns3_env.eval.papers.outcome import Claim, Outcome, Row, grid
from ns3_env.eval.papers.seen import Seen
from ns3_env.eval.papers.smcc import network, queues
from ns3_env.eval.papers.smcc.network import BOTTLENECK, QCN, QCN_SHORT, STANDARD, shorter
from ns3_env.scenario import Scenario
from ns3_env.simulator.results import Floats

#: Repetitions (sec. 3.1), and what the paper prints there.
REPETITIONS, USED, EMPTY = 8, 0.968, 0.10
#: A packet on the wire.
FRAME_BYTES = 1048
_POINTS = ("5 % (kB)", "95 % (kB)", "empty", "link used")
_HEADS = ("law", "flows beside", "mean (kB)", "std (kB)", "second half (kB)", *_POINTS)
_NAMES = ("mean", "std", "late", "low", "high", "empty", "used")
_BESIDE = ("none", "500 Mb/s", "none again")


def cases(scale: float) -> dict[str, Scenario]:
    """T = 150 kB and T = 30 kB, each alone, then with the background, then alone; ``scale`` of times and
    repetitions."""
    phase = shorter(scale, 2.0)
    background = (network.Background(2, 5, 500e6, phase, 2 * phase),)
    flows, window = network.side_by_side(2), (phase, 2 * phase)
    return {
        name: network.scenario(network.ENTRIES[name], 3 * phase, flows, background, measured_ns=window)
        for name in (QCN, QCN_SHORT, STANDARD)
    }


@experiment(
    "smcc-qcn",
    "QCN's queue as T and the bandwidth change",
    "Jiang 2015, Fig. 5",
    1.0,
    "times, and of the eight repetitions",
    repeated(cases, Seen, REPETITIONS),
)
def outcome(played: Played[dict[str, list[Seen]]]) -> Outcome:
    """The paper's four quarters, and each third under each."""
    runs, phase = played.runs, shorter(played.scale, 2.0)
    drawn = [
        (title, runs[name][0], begin * phase, (begin + 1) * phase, BOTTLENECK)
        for title, name, begin in (
            ("T = 150 kB, two flows", QCN, 0),
            ("T = 150 kB, 500 Mb/s beside", QCN, 1),
            ("T = 30 kB, 500 Mb/s beside", QCN_SHORT, 1),
            ("T = 30 kB, two flows", QCN_SHORT, 2),
        )
    ]
    halves = {QCN: (0, 2 * phase), QCN_SHORT: (phase, 3 * phase)}
    coarse = {name: queues.coarse(runs[name], *half) for name, half in halves.items()}
    fine = {name: queues.fine(runs[name], *half) for name, half in halves.items()}
    samples = np.concatenate(list(coarse.values()))
    table = {
        (name, beside): _third(own, i, phase)
        for name, own in runs.items()
        for i, beside in enumerate(_BESIDE)
    }
    busy = table[QCN, _BESIDE[1]]
    rows = (
        Row("link used beside 500 Mb/s, T = 150 kB", "", USED, busy["used"], "3.1"),
        Row("samples with an empty queue, all panels", "", EMPTY, queues.empty(samples), "Fig. 5b"),
        Row("the same, T = 150 kB beside 500 Mb/s", "", None, busy["empty"]),
    )
    notes = (
        f"{len(runs[QCN])} seeds a law. The paper changes T within a run, at its 4th second; here each T has "
        "a run of its own, alone, with 500 Mb/s beside, alone, and the panels show the paper's four "
        "quarters; so does the distribution.",
        "QCN as the paper implements it: a byte counter alone (no timer), p = 0.01 (a sample each 100 kB ± "
        f"15 %), and R is the rate just before the latest feedback. {STANDARD} has timer and hyper increase, "
        "samples each 150 kB down to 18.5 kB, and lets R be where nothing has been increased since the "
        "feedback before.",
        "No PFC: what finds 128 kB full is lost, and sent again. Thin in the distribution: samples each 100 "
        "µs.",
    )
    return Outcome(
        rows,
        _claims(table, samples),
        (grid("The queue by law and time", _HEADS, _NAMES, table.items()),),
        notes,
        {
            "smcc-fig-5a": queues.draw_queues(drawn),
            "smcc-fig-5b": queues.draw_distributions("QCN's queue", coarse, fine),
        },
        {"queue": queues.series(drawn)},
    )


def _third(runs: list[Seen], i: int, phase: int) -> dict[str, float]:
    """Numbers of a third of the time, and the standard deviation in its second half; of the second one the
    link's use, too."""
    late = queues.numbers(queues.coarse(runs, (i + 0.5) * phase, (i + 1) * phase))
    own = queues.numbers(queues.coarse(runs, i * phase, (i + 1) * phase))
    used = {"used": float(np.mean([run.used(BOTTLENECK) for run in runs]))} if i == 1 else {}
    return {**own, "late": late["std"], **used}


def _claims(table: dict[tuple[str, str], dict[str, float]], samples: Floats) -> tuple[Claim, ...]:
    std = {
        (name, i): table[name, beside]["late"]
        for name in (QCN, QCN_SHORT)
        for i, beside in enumerate(_BESIDE)
    }
    empty, used = queues.empty(samples), table[QCN, _BESIDE[1]]["used"]
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
