# SPDX-License-Identifier: GPL-2.0-or-later
"""Timelines of a training job: each rank's computations, sends and receives over time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ns3_env.errors import ScenarioError
from ns3_env.eval.episodes.critical_path import FILE as PATHS
from ns3_env.eval.episodes.critical_path import read_critical_paths, slowest
from ns3_env.eval.output.plots import COLOURS, Style, new_axes, settings, time_unit, write_picture
from ns3_env.eval.output.table import read_csv

#: Beyond that the ranks of a job are drawn only in part: every so manieth.
MOST_RANKS = 16
COMPUTES = "#555555"
#: Colour of the flows of a job with one collective, unless a controller's style sets another.
SINGLE = "#56B4E9"
Spans = list[tuple[float, float]]


@dataclass
class Timeline:
    """A job's ranks: intervals in which each computes, and in which each collective has a flow to or from it.

    Attributes:
        job: name of the job.
        computes: intervals of computation by rank, (start, end) in ns.
        flows: intervals with a flow, by collective and rank, (start, end) in ns.
    """

    job: str
    computes: dict[int, Spans] = field(default_factory=lambda: defaultdict(list))
    flows: dict[str, dict[int, Spans]] = field(default_factory=dict)

    def add(self, part: str, rank: int, peer: int, span: tuple[float, float]) -> None:
        """Adds a task from a row of tasks.csv; ``peer`` is -1 for a computation."""
        if peer < 0:
            self.computes[rank].append(span)
            return
        of_ranks = self.flows.setdefault(part, defaultdict(list))
        for end in (rank, peer):
            of_ranks[end].append(span)

    @property
    def ranks(self) -> list[int]:
        """Ranks that have a task, ascending."""
        return sorted({*self.computes, *(rank for of_ranks in self.flows.values() for rank in of_ranks)})

    @property
    def end_ns(self) -> float:
        rows = [self.computes, *self.flows.values()]
        return max(end for of_ranks in rows for spans in of_ranks.values() for _, end in spans)


def read_timeline(path: Path) -> Timeline | None:
    """The first job of a tasks.csv; None without a job. Raises ScenarioError for a broken one."""
    if not path.is_file():
        return None
    columns = ("job", "part", "rank", "peer", "start_ns", "end_ns")
    tasks = read_csv(path, columns, text=("job", "part"), hint="run it again")
    if not len(tasks):
        return None
    timeline = Timeline(tasks["job"][0])
    for task in tasks[tasks["job"] == timeline.job].itertuples():
        timeline.add(task.part, int(task.rank), int(task.peer), (task.start_ns, task.end_ns))
    return timeline


def timelines(paths: Mapping[str, Path]) -> dict[str, Timeline]:
    """Reads the existing files, by controller."""
    read = {name: read_timeline(path) for name, path in paths.items()}
    return {name: lines for name, lines in read.items() if lines is not None}


def draw(axes: Axes, timeline: Timeline, colours: Sequence[str], last_ns: float) -> None:
    """Draws a row for each rank, the first on top: of several collectives a band for each, below computation.

    Args:
        axes: axes to draw on.
        timeline: timeline of the job.
        colours: colours of its collectives, in their order.
        last_ns: end of the time axis.
    """
    unit, unit_name = time_unit(last_ns)
    ranks = timeline.ranks
    rows = ranks[:: -(-len(ranks) // MOST_RANKS)]
    several = len(timeline.flows) > 1
    height = 0.8 / (1 + len(timeline.flows)) if several else 0.8
    for place, rank in enumerate(rows):
        bands = [*zip(timeline.flows.values(), colours, strict=True), (timeline.computes, COMPUTES)]
        for band, (of_ranks, colour) in enumerate(bands):
            above = (band + 1) % len(bands) * height if several else 0
            bars = [(a / unit, (b - a) / unit) for a, b in joined(of_ranks.get(rank, ()))]
            axes.broken_barh(bars, (place - 0.4 + above, height), facecolors=colour, linewidth=0)
    axes.set(xlim=(0, last_ns / unit), ylim=(len(rows) - 0.4, -0.6), xlabel=f"time ({unit_name})")
    axes.set(ylabel="rank")
    axes.set_yticks(range(0, len(rows), 4), list(map(str, rows[::4])))


def colours_of(timeline: Timeline, colour: str) -> list[str]:
    """Chooses a colour for each collective: ``colour`` if there is only one."""
    count = len(timeline.flows)
    palette = list(COLOURS.values())
    return [colour] if count == 1 else [palette[i % len(palette)] for i in range(count)]


def keys(timeline: Timeline, colours: Sequence[str]) -> list[Patch]:
    """Returns the colours' meanings for a legend."""
    names = list(timeline.flows) if len(colours) > 1 else ["sends or receives only"][: len(colours)]
    patches = [Patch(color=colour, label=name) for colour, name in zip(colours, names, strict=True)]
    return [Patch(color=COMPUTES, label="computes"), *patches]


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
        colours = colours_of(timeline, looks[name].colour)
        draw(axes, timeline, colours, last)
        if len(colours) > 1:
            _add_keys(figure, timeline, colours)
        figures.append((name, timeline.job, figure))
    return figures


def _add_keys(figure: Figure, timeline: Timeline, colours: Sequence[str]) -> None:
    handles = keys(timeline, colours)
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False, fontsize=8)


def draw_timelines(out: Path, file: Path) -> Path:
    """Draws the first job of each folder that ``eval run`` wrote, below each other, on one time axis.

    Args:
        out: the folder of ``run --out``.
        file: the picture, .png or .svg.

    Raises:
        ScenarioError: no folder has a job.
    """
    folders = sorted(path.parent for path in (*out.glob("*/tasks.csv"), *out.glob("*/seed-*/tasks.csv")))
    lines = timelines({str(folder.relative_to(out)): folder / "tasks.csv" for folder in folders})
    if not lines:
        raise ScenarioError(f"{out}: holds no */tasks.csv: run a scenario with a training job there first")
    last = max(timeline.end_ns for timeline in lines.values())
    with matplotlib.rc_context(settings()):
        figure = Figure(figsize=(7.5, 0.6 + 2.2 * len(lines)), layout="constrained")
        panels = figure.subplots(len(lines), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (name, timeline) in zip(panels, lines.items(), strict=True):
            colours = colours_of(timeline, SINGLE)
            draw(axes, timeline, colours, last)
            slow = slowest(read_critical_paths(out / name / PATHS))
            times = [f"{path.duration_ns / 1e6:.3f} ms" for path in slow if path.job == timeline.job]
            axes.set_title(", ".join([f"{name}: {timeline.job}", *(f"slowest iteration {x}" for x in times)]))
            axes.label_outer()
        first = next(iter(lines.values()))
        _add_keys(figure, first, colours_of(first, SINGLE))
    return write_picture(figure, file)
