# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the ranks of a training job over time, under two controllers and two load balancings.

python docs/make/job_pictures.py    writes docs/images/job-timelines.png
"""

from __future__ import annotations

from pictures import picture

from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.metrics.job_times import iterations, spans, task_table
from ns3_env.eval.report.timelines import SINGLE, Timeline, draw, keys
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator

SHOWN = [("rings-ecmp", "dcqcn"), ("rings-ecmp", "hpcc"), ("rings-spray", "dcqcn"), ("rings-spray", "hpcc")]


def play(simulator: Simulator, scenario: Scenario) -> tuple[Timeline, float]:
    """The first job's timeline, and the mean iteration of all jobs (ns)."""
    results = simulator.play(scenario)
    table, timeline = task_table(results), Timeline("job 0")
    for job, rank, peer, start, end in zip(
        table.job, table.rank, table.peer, table.start, table.end, strict=True
    ):
        if table.jobs[job] == timeline.job:
            timeline.add("ring_all_reduce", int(rank), int(peer), (float(start), float(end)))
    each = [span.duration_ns for span in iterations(spans(results))]
    return timeline, sum(each) / len(each)


def main() -> None:
    suite = Suite.load("training-jobs")
    with Simulator() as simulator:
        scenarios = [suite.scenario(name).scenario.under(who).with_seed(1) for name, who in SHOWN]
        runs = [play(simulator, scenario) for scenario in scenarios]
    last = max(timeline.end_ns for timeline, _ in runs)
    with picture("job-timelines", 11, 6.6, colors=64) as figure:
        panels = figure.subplots(2, 2, sharex=True, sharey=True).flat
        for axes, (name, controller), (timeline, mean) in zip(panels, SHOWN, runs, strict=True):
            draw(axes, timeline, [SINGLE], last)
            how = name.removeprefix("rings-")
            axes.set_title(f"{controller}, {how}: an iteration takes {mean / 1e6:.2f} ms")
            print(name, controller, mean)
        figure.legend(handles=keys(runs[0][0], [SINGLE]), loc="outside lower center", ncols=2)


if __name__ == "__main__":
    main()
