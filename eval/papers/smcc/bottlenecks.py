# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: fairness, background, two bottlenecks in a row (Jiang 2015, Figs. 17 to 22)."""

from __future__ import annotations

import math

import numpy as np

from ns3_env.eval.episodes.flow_series import flow_colours
from ns3_env.eval.metrics.convergence import jain_index
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Outcome, column
from ns3_env.eval.papers.panels import Drawing, Panel
from ns3_env.eval.papers.runs import Port, Run, mean
from ns3_env.eval.papers.smcc import numbers
from ns3_env.eval.papers.smcc.numbers import BCN, BOTTLENECK, QCN, QCN_SHORT, RATE_BPS, SMCC, TWO_STAGES
from ns3_env.eval.papers.verdicts import listed
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic import ConstantRate, Mix

SOURCES = 3
#: Fair: no source further from its share than this, on average over the last quarter.
_FAIR = 0.1


@experiment("smcc-fairness", Run)
def fairness(data: Data[dict[str, list[Run]]]) -> Outcome:
    """Sending rates of three sources."""
    runs, end = data.runs, data.scenario(SMCC).time_limit_ns
    shares, early = (
        {name: np.array([record.mean_rates(*span) for record in several]) for name, several in runs.items()}
        for span in ((0.75 * end, end), (0, 0.25 * end))
    )
    index, before = (
        {name: mean(float(jain_index(one)) for one in record) for name, record in rates.items()}
        for rates in (shares, early)
    )
    worst = {name: float(np.abs(record / (RATE_BPS / SOURCES) - 1).max()) for name, record in shares.items()}
    table = {
        name: {
            **{"early": before[name], "late": index[name], "worst": worst[name]},
            **{str(place): float(x) / 1e6 for place, x in enumerate(np.sort(shares[name][0]))},
        }
        for name in runs
    }
    steps, ratio = max((_decreases(record) for record in runs[SMCC]), key=lambda pair: pair[1])
    return Outcome(
        claims={
            "Under SMCC each source reaches its fair share (5.3.1; here: within 10 % over the last "
            "quarter)": (
                worst[SMCC] <= _FAIR,
                f"at most {100 * worst[SMCC]:.1f} % off in {len(runs[SMCC])} runs of {end / 1e9:g} s; Jain's "
                f"index {index[SMCC]:.4f}",
            ),
            "SMCC's law is additive increase and multiplicative decrease, thus fair (4.2)": (
                steps > math.sqrt(ratio),
                f"in the most uneven run the source of the highest rate sends {ratio:.1f} times what that of "
                f"the lowest does, and loses {steps:.2f} times as much by a decrease",
            ),
            "QCN is unfair (5.3.1, as others have found; here: less fair than SMCC)": (
                index[QCN] < index[SMCC],
                f"Jain's index {index[QCN]:.4f} against {index[SMCC]:.4f}; BCN {index[BCN]:.4f}",
            ),
        },
        grids=data.declared.grids(table),
        notes=(f"{len(runs[SMCC])} seeds; the figure, and the table's rates, are of the first.",),
        pictures={"smcc-fig-17": _draw_rates({name: record[0] for name, record in runs.items()}, end)},
    )


def _draw_rates(runs: dict[str, Run], end_ns: float) -> Drawing:
    """Each source's sending rate over time, a panel for each name."""
    times = np.linspace(0, end_ns, 600)
    axes = {"xlabel": "time (s)", "ylabel": "rate (Mb/s)", "xlim": (0, end_ns / 1e9), "ylim": (0, 1050)}
    share = {"color": numbers.TARGET, "linestyle": "--", "linewidth": 1}
    all_panels = [
        Panel(
            name,
            [
                (times / 1e9, record / 1e6, f"source {number}", {"color": colour, "linewidth": 1.0})
                for number, (record, colour) in enumerate(
                    zip(run.rates_at(times), flow_colours(SOURCES), strict=True), 1
                )
            ],
            axes,
            [(RATE_BPS / SOURCES / 1e6, "fair share", share)],
        )
        for name, run in runs.items()
    ]
    return Drawing(all_panels, height=2.3)


def _decreases(run: Run) -> tuple[float, float]:
    """Mean decrease and mean rate over the second half of the source that sends most, each over that of the
    source that sends least."""
    half = run.end_ns / 2
    rates = run.mean_rates(half, run.end_ns)
    most, least = int(rates.argmax()), int(rates.argmin())
    means = []
    for flow in (most, least):
        record = run.changes[(run.changes[:, 1] == flow) & (run.changes[:, 0] >= half), 2]
        changes = np.diff(record)
        means.append(float(-changes[changes < 0].mean()) if (changes < 0).any() else math.nan)
    return means[0] / means[1], float(rates[most] / rates[least])


#: Mb/s of the stream (5.3.2).
STREAMS = (500, 750, 875)
#: "Almost unchanged": a standard deviation of this much more, at most; "heavily": more than three times that.
_SAME_KB = 4
Key = tuple[str, int]


@experiment("smcc-background", Run)
def background(data: Data[dict[Key, list[Run]]]) -> Outcome:
    """SMCC's queue beside background of 500, 750 and 875 Mb/s."""
    runs, end = data.runs, data.scenario((SMCC, 500)).time_limit_ns
    start, steady = end // 2, 3 * end // 4
    late = {
        key: {
            **numbers.numbers(numbers.coarse(record, steady, end)),
            "used": mean(run.used(BOTTLENECK) for run in record),
            "lost": mean(run.lost for run in record),
        }
        for key, record in runs.items()
    }
    base = numbers.numbers(numbers.coarse(runs[SMCC, STREAMS[0]], 0.5 * start, start))["std"]
    std = column(late, "std")
    panels = {
        (name, stream): (f"{name}, {stream} Mb/s beside", record[0], 0, end, BOTTLENECK)
        for (name, stream), record in runs.items()
    }
    by_stream = [panels[name, stream] for stream in STREAMS for name in (SMCC, QCN)]
    stages = [panels[name, 875] for name in (SMCC, TWO_STAGES)]
    return Outcome(
        claims={
            "Beside 500 Mb/s SMCC's queue stays as it is (5.3.2; here: 4 kB more of standard deviation at "
            "most)": (
                std[SMCC, 500] - base <= _SAME_KB,
                f"{base:.1f} kB without, {std[SMCC, 500]:.1f} kB with",
            ),
            "Beside 750 Mb/s it swings a little, beside 875 Mb/s heavily (5.3.2)": (
                std[SMCC, 500] < std[SMCC, 750] < std[SMCC, 875] > base + 3 * _SAME_KB,
                f"{listed(std[SMCC, stream] for stream in STREAMS)} kB",
            ),
            "Beside 500 Mb/s SMCC's queue is more stable than QCN's (5.3.2)": (
                std[SMCC, 500] < std[QCN, 500],
                f"{std[SMCC, 500]:.1f} kB against {std[QCN, 500]:.1f} kB; BCN {std[BCN, 500]:.1f} kB",
            ),
            "Two stages make the swings beside 875 Mb/s smaller (5.3.3, Fig. 19)": (
                std[TWO_STAGES, 875] < std[SMCC, 875],
                f"{std[TWO_STAGES, 875]:.1f} kB against {std[SMCC, 875]:.1f} kB; beside 750 Mb/s "
                f"{std[TWO_STAGES, 750]:.1f} against {std[SMCC, 750]:.1f} kB",
            ),
        },
        grids=data.declared.grids({(name, float(stream)): record for (name, stream), record in late.items()}),
        notes=(
            f"Two flows, and the stream from {start / 1e9:g} s on; numbers from {steady / 1e9:g} s to the "
            f"end, {len(runs[SMCC, 500])} seeds.",
        ),
        pictures={"smcc-fig-18": numbers.draw_queues(by_stream), "smcc-fig-19": numbers.draw_queues(stages)},
    )


#: Ports of the first and the second link. Links of a switch have its ports in this order: hosts first.
FIRST: Port = (8, 3)
SECOND: Port = (9, 3)
_TWO_32 = f"{TWO_STAGES}, R_b 32"


@experiment("smcc-parking-lot", Run)
def parking_lot(data: Data[dict[tuple[str, str], list[Run]]]) -> Outcome:
    """Two bottlenecks, one after the other."""
    runs = data.runs
    moments = {which: _moments(data.scenario((which, SMCC))) for which in ("I", "II")}
    late = {(which, name): _both(record, *moments[which]) for (which, name), record in runs.items()}

    def draw(which: str, *names: str) -> Drawing:
        several = [
            (f"{name}, {where}", runs[which, name][0], 0, moments[which][-1], port)
            for name in names
            for where, port in (("C1", FIRST), ("C2", SECOND))
        ]
        return numbers.draw_queues(several, 2.0)

    std = {key: (record["first_std"], record["std"]) for key, record in late.items()}
    qcn_1, one_1 = (std["I", name] for name in (QCN_SHORT, SMCC))
    one, two, qcn, narrow = (std["II", name] for name in (SMCC, TWO_STAGES, QCN_SHORT, _TWO_32))
    return Outcome(
        claims={
            "The queue swings no more at C2 than at C1 (5.4.1; here: within 4 kB of standard deviation)": (
                max(abs(a - b) for a, b in (qcn_1, one_1)) <= 4,
                f"{QCN_SHORT} {listed(qcn_1)} kB; {SMCC} {listed(one_1)} kB",
            ),
            "SMCC's queue swings less than QCN's with T = 30 kB (5.4.1, 5.4.2)": (
                all(a < b for a, b in zip((*one_1, *one), (*qcn_1, *qcn), strict=True)),
                f"pattern I {listed(one_1)} kB against {listed(qcn_1)} kB; II {listed(one)} against "
                f"{listed(qcn)} kB",
            ),
            "750 Mb/s make both swing more than 500 Mb/s (5.4.2)": (
                qcn[1] > qcn[0] and one[1] > one[0],
                f"QCN {qcn[0]:.1f} to {qcn[1]:.1f} kB, SMCC {one[0]:.1f} to {one[1]:.1f} kB",
            ),
            "Two stages make SMCC's swings beside 750 Mb/s smaller (5.4.2, Fig. 22)": (
                narrow[1] < one[1],
                f"{narrow[1]:.1f} kB with R_b 32, {two[1]:.1f} kB with 64, against {one[1]:.1f} kB",
            ),
        },
        grids=data.declared.grids({f"{name}, pattern {which}": x for (which, name), x in late.items()}),
        notes=(f"Numbers are of the second half of each stream's time, {len(runs['I', SMCC])} seeds.",),
        pictures={
            "smcc-fig-20": draw("I", QCN_SHORT, SMCC),
            "smcc-fig-21": draw("II", QCN_SHORT, SMCC),
            "smcc-fig-22": draw("II", TWO_STAGES, _TWO_32),
        },
    )


def _moments(scenario: Scenario) -> tuple[int, int, int]:
    """Start of S3's stream, its stop, which is the start of S4's, and the stop of that, ns."""
    assert isinstance(scenario.traffic, Mix)
    first = scenario.traffic.parts[1]
    assert isinstance(first, ConstantRate)
    assert first.stop_ns is not None
    return first.start_ns, first.stop_ns, scenario.time_limit_ns


def _both(runs: list[Run], start: int, change: int, stop: int) -> dict[str, float]:
    """The queue at C2 while S4's stream is active, and ("first") at C1 while S3's is."""
    first = numbers.numbers(numbers.coarse(runs, (start + change) / 2, change, FIRST))
    second = numbers.numbers(numbers.coarse(runs, (change + stop) / 2, stop, SECOND))
    return {"first_mean": first["mean"], "first_std": first["std"], **second}
