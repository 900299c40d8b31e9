# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of a leaderboard in a benchmark's folder; its table on a terminal, as Markdown, as a frame."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ns3_env.config.command_line import new_console
from ns3_env.config.files import read_text, write_atomically
from ns3_env.config.folders import refuse_link
from ns3_env.errors import ConfigError
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.summary import notes
from ns3_env.eval.leaderboard.anchors import Group, group_of
from ns3_env.eval.leaderboard.board import REFERENCES, Leaderboard, Line, beaten, sections
from ns3_env.eval.leaderboard.figures import (
    checkpoints_in,
    draw_improvement,
    draw_learning,
    draw_means,
    learning_curves,
    newest,
)
from ns3_env.eval.leaderboard.scores import Estimate
from ns3_env.eval.leaderboard.scoring import METRICS, JobTimes, job_times, scores_in
from ns3_env.eval.leaderboard.scoring import markdown as job_markdown
from ns3_env.eval.leaderboard.suite import TASK, is_of_tasks
from ns3_env.eval.output.plots import FOLDER, for_paper, save
from ns3_env.eval.output.table import markdown_cell, markdown_table, new_table, print_table, write_parquet
from ns3_env.tasks import TASKS

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

_MARKS = {"runs": "", "test seeds": " †", None: ""}


#: Meaning of the columns, once for all tables of a page.
LEGEND = (
    "Scores: 0 is what is deployed, 100 what is possible; means over runs and test seeds. Slowdown, max-min "
    "fairness: means over the tasks with that objective. IQM: the mean of the middle half of all runs' "
    "scores. Each run: that of the worst run and of the best. Better than: how likely a run is better than "
    "one of the base's in a task, ties half. In brackets 95 % intervals: of other trainings; †: of one run, "
    "of other test seeds. In italics: references, which do not compete. –: not played; ‡: over the tasks "
    "that were, not ranked. *End hosts*: senders that know all live flows, in each task in the best of "
    "three orders; of end hosts: 100 score / their score, mean over tasks."
)
#: Heading of an entry's share of what end hosts reach.
SHARE = "of end hosts (%)"


def markdown(board: Leaderboard) -> str:
    """A row for each entry, the best first; references in italics."""
    headings = [*map(markdown_cell, board.tasks)]
    if len(board.tasks) > 1:
        headings += [f"{name} ({len(tasks)})" for name, tasks in board.objectives.items()]
        headings += [*_if_known(board, SHARE), "IQM", f"better than {markdown_cell(board.baseline)}"]
    else:
        headings += _if_known(board, SHARE)
    rows = (_row(board, line) for line in board.lines)
    return "\n".join(markdown_table(["entry", "runs", *headings, "each run"], rows)) + "\n"


def frame_of(board: Leaderboard) -> pandas.DataFrame:
    """A row for each entry, the best first.

    Columns: ``entry``, ``reference``, ``runs``, ``worst_run``, ``best_run``; ``iqm`` and ``improvement`` with
    ``_low``, ``_high`` and ``_covers`` ("runs", "test seeds" or nothing), NaN without an interval;
    ``baseline``; ``of_end_hosts``, % (:meth:`Leaderboard.share`); ``task/NAME`` of each task.
    """
    import pandas

    return pandas.DataFrame([_values(line, board) for line in board.lines])


def _row(board: Leaderboard, line: Line) -> list[str]:
    """The entry's row: in a table of one task, its score is the mean, which has an interval."""
    name = markdown_cell(line.entry)
    mean = cell(line.mean, whole) + (" ‡" if board.lacks(line) else "")
    scores = [whole(line.tasks[task]) if task in line.tasks else "–" for task in board.tasks]
    means = [objective_mean(line, tasks) for tasks in board.objectives.values()]
    share = _if_known(board, number(board.share(line)))
    chance = "–" if line.improvement is None else cell(line.improvement, "{:.2f}".format)
    return [
        f"*{name}*" if line.reference else name,
        str(line.runs),
        *([*scores, *means, *share, mean, chance] if len(board.tasks) > 1 else [mean, *share]),
        "–" if line.runs == 1 else " to ".join(map(whole, line.range)),
    ]


def _if_known(board: Leaderboard, text: str) -> list[str]:
    """The cell of a column that a board without end hosts lacks."""
    return [text] if board.end_hosts else []


def cell(estimate: Estimate, form: Callable[[float], str]) -> str:
    """ "28 [22, 38]", with a mark if the interval is of test seeds."""
    text = str(form(estimate.value))
    if not estimate.known:
        return text
    return f"{text} [{form(estimate.low)}, {form(estimate.high)}]{_MARKS[estimate.covers]}"


def objective_mean(line: Line, tasks: Collection[str]) -> str:
    """The entry's mean score over the tasks of an objective; "–" without one."""
    return number(line.mean_over(tasks))


def number(value: float) -> str:
    """An integer; "–" for NaN."""
    return "–" if math.isnan(value) else whole(value)


def whole(value: float) -> str:
    """An integer, without a sign at zero."""
    return str(round(value)).replace("-", "−")


def _values(line: Line, board: Leaderboard) -> dict[str, Any]:
    values: dict[str, Any] = {"entry": line.entry, "reference": line.reference, "runs": line.runs}
    values |= zip(("worst_run", "best_run"), line.range, strict=True)
    for name, estimate in (("iqm", line.mean), ("improvement", line.improvement)):
        numbers = estimate or Estimate(float("nan"), float("nan"), float("nan"), None)
        values |= {name: numbers.value, f"{name}_low": numbers.low, f"{name}_high": numbers.high}
        values[f"{name}_covers"] = numbers.covers or ""
    values |= {"baseline": board.baseline, "of_end_hosts": board.share(line)}
    return values | {f"task/{task}": line.tasks.get(task, float("nan")) for task in board.tasks}


#: The table, its numbers, and the scores behind it.
TABLE, NUMBERS, SCORES = "leaderboard.md", "leaderboard.parquet", "scores.parquet"
#: The tables are between these lines of a page, the learning curves between those of ``CURVES``.
TABLES = "<!-- leaderboard -->", "<!-- /leaderboard -->"
CURVES = "<!-- learning -->", "<!-- /learning -->"
#: Folder of a page's pictures, next to it.
PICTURES = "images"
#: A figure's file, and the function that draws it.
_FIGURES = {"iqm": draw_means, "improvement": draw_improvement}


def write(path: Path, formats: Sequence[str] = (), page: Path | None = None) -> Path:
    """Writes the leaderboard of a folder that contains tests of tasks, and prints its tables.

    Args:
        path: the folder that ``python -m eval leaderboard`` wrote, complete or not.
        formats: formats of the figures; PNG by default.
        page: page that also gets the tables, between the lines ``TABLES``; if the folder has checkpoints of
            runs, learning curves instead, between the lines ``CURVES``.

    Returns:
        The path of leaderboard.md.

    Raises:
        ConfigError: the folder contains no tests of tasks, or those of another version; the page has no such
            lines.
        ScenarioError: the folder is no benchmark's, a cell's file cannot be read, or a file is a link.
    """
    import pandas

    folder = BenchFolder.read(path)
    if not is_of_tasks(folder.suite):
        raise ConfigError(f"{path}: holds no tests of tasks alone: --page is for the leaderboard of tasks")
    frame = scores_in(folder)
    curves = checkpoints_in(frame)
    lines = CURVES if len(curves) else TABLES
    around = None if page is None else _around(page, lines)
    latest = newest(frame)
    # Entries of which a run is one policy for all tasks.
    generalists = {x.of for x in folder.suite.controllers if x.checkpoint and TASK not in x.parameters}
    boards, remark = sections(latest, generalists), beaten(latest)
    times = job_times(folder)
    text = _text(boards, remark, folder)
    refuse_link(path / TABLE)
    jobs = "".join(f"\n{job_markdown(task_times)}\n" for task_times in times)
    write_atomically(path / TABLE, f"# Leaderboard\n\n{text}{jobs}")
    numbers = [frame_of(board).assign(group=group.name) for group, board in boards]
    write_parquet(pandas.concat(numbers, ignore_index=True), path / NUMBERS)
    write_parquet(frame, path / SCORES)
    with for_paper():
        for group, board in boards:
            for name, draw in _FIGURES.items():
                save(draw(board), path / FOLDER, f"leaderboard-{group.name}-{name}", formats or ["png"])
        learned = {group_of(TASKS[name]) for name in curves["task"]}
        figures = {group.name: _learning(frame, group) for group, _ in boards if group in learned}
        for name, figure in figures.items():
            save(figure, path / FOLDER, f"leaderboard-{name}-learning", formats or ["png"])
            if page is not None:
                save(figure, page.parent / PICTURES, f"leaderboard-{name}-learning", ["png"])
    if page is not None and around is not None:
        if figures:
            images = [f"![{name}]({PICTURES}/leaderboard-{name}-learning.png)\n" for name in figures]
            text = "\n".join(images)
        write_atomically(page, f"{around[0]}{lines[0]}\n\n{text}\n{lines[1]}{around[1]}")
    _show(boards, new_console())
    _show_times(times, new_console())
    print(remark, *notes(folder), sep="\n")
    return path / TABLE


def _text(boards: Sequence[tuple[Group, Leaderboard]], remark: str, folder: BenchFolder) -> str:
    parts = [f"## {group.name}\n\n{markdown(board)}" for group, board in boards]
    lacking = [f"\n- {note}" for note in notes(folder)]
    return "\n".join([*parts, LEGEND, "", remark, *lacking]) + "\n"


def _learning(frame: pandas.DataFrame, group: Group) -> Figure:
    """Learning curves on the group's tasks; hand-designed controllers that have run them all are lines."""
    group_rows = frame[frame["task"].map(lambda name: group_of(TASKS[name]).name) == group.name]
    still = group_rows[group_rows["decisions"].isna() & ~group_rows["entry"].isin(REFERENCES)]
    whole = still.groupby("entry")["task"].transform("nunique") == group_rows["task"].nunique()
    levels = still[whole].groupby("entry", sort=False)["score"].mean()
    return draw_learning(learning_curves(checkpoints_in(group_rows)), levels.to_dict())


def _around(page: Path, lines: tuple[str, str]) -> tuple[str, str]:
    """Splits a page into the text before these lines and the text after them."""
    whole = rf"^{re.escape(lines[0])}$.*^{re.escape(lines[1])}$"
    parts = re.split(whole, read_text(page), maxsplit=1, flags=re.MULTILINE | re.DOTALL)
    if len(parts) < 2:
        raise ConfigError(f"--page: {page} has no lines {lines[0]} and {lines[1]}, between which it goes")
    return parts[0], parts[1]


def _show(boards: Sequence[tuple[Group, Leaderboard]], console: Console) -> None:
    """A row for each entry of each group, with its number of runs; single tasks are in the file."""
    for group, board in boards:
        title = f"{group.name}: {', '.join(board.tasks)}"
        objectives = board.objectives
        names = (name.removeprefix("max-min ") for name in objectives)
        headings = (*names, "IQM", f"better than {board.baseline}")
        table = new_table(title, "entry", headings, (0, 1, 0, 0), edge=True)
        for line in board.lines:
            name = f"{line.entry} (bound)" if line.reference else line.entry
            name += f" ×{line.runs}" if line.runs > 1 else ""
            name += f" ({len(line.tasks)} tasks)" if board.lacks(line) else ""
            chance = "–" if line.improvement is None else cell(line.improvement, "{:.2f}".format)
            means = (objective_mean(line, tasks) for tasks in objectives.values())
            table.add_row(name, *means, cell(line.mean, whole), chance)
        print_table(table, console)


def _show_times(times: Sequence[JobTimes], console: Console) -> None:
    """Job times of each task that has jobs."""
    for task_times in times:
        title = f"{task_times.task}: job times over those of {task_times.base}"
        table = new_table(title, "entry", METRICS.values(), (0, 1, 0, 0), edge=True)
        for name, ratios in task_times.ratios.items():
            table.add_row(name, *(f"{x:.3f}" for x in ratios))
        print_table(table, console)
