# SPDX-License-Identifier: GPL-2.0-or-later
"""Timelines of a training job: when each rank computes, and when it only sends and receives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ns3_env.eval.output.plots import Style, new_axes, time_unit
from ns3_env.eval.output.table import read_csv

#: Beyond that the ranks of a job are drawn only in part: every so manieth.
MOST_RANKS = 16
COMPUTES = "#555555"
Spans = list[tuple[float, float]]


@dataclass
class Timeline:
    """A job's ranks: when each computes, and when something of it is under way (ns)."""

    job: str
    computes: dict[int, Spans] = field(default_factory=lambda: defaultdict(list))
    talks: dict[int, Spans] = field(default_factory=lambda: defaultdict(list))

    @property
    def end_ns(self) -> float:
        return max(end for rows in (self.computes, self.talks) for row in rows.values() for _, end in row)


def read_timeline(path: Path) -> Timeline | None:
    """The first job of a tasks.csv; None where there is none. Raises ScenarioError for a broken one."""
    if not path.is_file():
        return None
    columns = ("job", "rank", "peer", "start_ns", "end_ns")
    tasks = read_csv(path, columns, text=("job",), hint="run it again")
    if not len(tasks):
        return None
    timeline = Timeline(tasks["job"][0])
    for task in tasks[tasks["job"] == timeline.job].itertuples():
        span = task.start_ns, task.end_ns
        if task.peer < 0:
            timeline.computes[int(task.rank)].append(span)
        else:
            timeline.talks[int(task.rank)].append(span)
            timeline.talks[int(task.peer)].append(span)
    return timeline


def timelines(paths: Mapping[str, Path]) -> dict[str, Timeline]:
    """Reads the files that there are, by controller."""
    read = {name: read_timeline(path) for name, path in paths.items()}
    return {name: lines for name, lines in read.items() if lines is not None}


def draw(axes: Axes, timeline: Timeline, colour: str, last_ns: float) -> None:
    """A row for each rank, the first on top."""
    unit, unit_name = time_unit(last_ns)
    ranks = sorted({*timeline.computes, *timeline.talks})
    visible_ranks = ranks[:: -(-len(ranks) // MOST_RANKS)]
    for place, rank in enumerate(visible_ranks):
        talk = [(a / unit, (b - a) / unit) for a, b in joined(timeline.talks[rank])]
        axes.broken_barh(talk, (place - 0.4, 0.8), facecolors=colour, linewidth=0)
        work = [(a / unit, (b - a) / unit) for a, b in joined(timeline.computes[rank])]
        axes.broken_barh(work, (place - 0.4, 0.8), facecolors=COMPUTES, linewidth=0)
    axes.set(xlim=(0, last_ns / unit), ylim=(len(visible_ranks) - 0.4, -0.6), xlabel=f"time ({unit_name})")
    axes.set(ylabel="rank")
    axes.set_yticks(range(0, len(visible_ranks), 4), list(map(str, visible_ranks[::4])))


def keys(colour: str) -> list[Patch]:
    """Returns the colours' meanings for a legend."""
    return [Patch(color=COMPUTES, label="computes"), Patch(color=colour, label="sends or receives only")]


def joined(spans: Iterable[tuple[float, float]]) -> Spans:
    """The same without overlaps, in their order."""
    apart: Spans = []
    for begin, end in sorted(spans):
        if apart and begin <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((begin, end))
    return apart


def small_figures(paths: Mapping[str, Path], looks: Mapping[str, Style]) -> list[tuple[str, str, Figure]]:
    """(controller, job, figure) of each file, all with the same time axis."""
    lines = timelines(paths)
    last = max((one.end_ns for one in lines.values()), default=0.0)
    figures = []
    for name, timeline in lines.items():
        figure, axes = new_axes(4.2, 2.7)
        draw(axes, timeline, looks[name].colour, last)
        figures.append((name, timeline.job, figure))
    return figures
