# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of a leaderboard in a benchmark's folder, and its table on the terminal and on a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from ns3_env.config.command_line import new_console

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

from ns3_env.config.files import read_text, write_atomically
from ns3_env.config.folders import refuse_link
from ns3_env.errors import ConfigError
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.summary import notes
from ns3_env.eval.leaderboard.anchors import Group, group_of
from ns3_env.eval.leaderboard.board import REFERENCES, Leaderboard, beaten, sections
from ns3_env.eval.leaderboard.entrants import TASK
from ns3_env.eval.leaderboard.figures import (
    checkpoints_in,
    draw_improvement,
    draw_learning,
    draw_means,
    learning_curves,
    newest,
)
from ns3_env.eval.leaderboard.measured import METRICS, JobTimes, job_times, scores_in
from ns3_env.eval.leaderboard.measured import markdown as job_markdown
from ns3_env.eval.leaderboard.suite import is_of_tasks
from ns3_env.eval.leaderboard.table import LEGEND, cell, frame_of, markdown, objective_mean, whole
from ns3_env.eval.output.files import FOLDER, save
from ns3_env.eval.output.plots import for_paper
from ns3_env.eval.output.table import new_table, print_table, write_parquet
from ns3_env.tasks import TASKS

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
    boards, remark = sections(latest, generalists_in(folder)), beaten(latest)
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


def generalists_in(folder: BenchFolder) -> set[str]:
    """Entries of which a run is one policy for all tasks."""
    return {x.of for x in folder.suite.controllers if x.checkpoint and TASK not in x.parameters}


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
