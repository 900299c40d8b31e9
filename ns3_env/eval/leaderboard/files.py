# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of a leaderboard in a benchmark's folder, and its table on the terminal and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from ns3_env.config.files import read_text, write_atomically
from ns3_env.config.folders import refuse_link
from ns3_env.errors import ConfigError
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.summary import notes
from ns3_env.eval.leaderboard.board import Leaderboard
from ns3_env.eval.leaderboard.entrants import TASK
from ns3_env.eval.leaderboard.figures import draw_improvement, draw_means
from ns3_env.eval.leaderboard.groups import Group
from ns3_env.eval.leaderboard.measured import scores_in
from ns3_env.eval.leaderboard.sections import beaten, sections
from ns3_env.eval.leaderboard.suite import is_of_tasks
from ns3_env.eval.leaderboard.table import cell, frame_of, markdown, whole, write_parquet
from ns3_env.eval.plots.files import FOLDER, save
from ns3_env.eval.plots.plots import for_paper

#: The table, its numbers, and the scores that it is made of.
TABLE, NUMBERS, SCORES = "leaderboard.md", "leaderboard.parquet", "scores.parquet"
#: Between these lines of a page the tables stand.
BEGIN, END = "<!-- leaderboard -->", "<!-- /leaderboard -->"
#: A figure's file, and what draws it.
_FIGURES = {"iqm": draw_means, "improvement": draw_improvement}


def write(path: Path, formats: Sequence[str] = (), page: Path | None = None) -> Path:
    """Writes the leaderboard of a folder that holds tests of tasks, and prints its tables.

    Args:
        path: the folder that ``python -m eval benchmark --tasks`` left, complete or not.
        formats: of the figures; PNG by default.
        page: a page that has the tables, too, between ``BEGIN`` and ``END``.

    Returns:
        The path of leaderboard.md.

    Raises:
        ConfigError: the folder holds no tests of tasks, or those of another version; the page has no such
            lines.
        ScenarioError: the folder is no benchmark's, a cell's file cannot be read, or a file is a link.
    """
    import pandas

    folder = BenchFolder.read(path)
    if not is_of_tasks(folder.suite):
        raise ConfigError(f"{path}: holds no tests of tasks alone: --page is for the leaderboard of tasks")
    around = None if page is None else _around(page)
    frame = scores_in(folder)
    boards = sections(frame, generalists_in(folder))
    text = _text(boards, beaten(frame), folder)
    refuse_link(path / TABLE)
    write_atomically(path / TABLE, f"# Leaderboard\n\n{text}")
    numbers = [frame_of(board).assign(group=group.name) for group, board in boards]
    write_parquet(pandas.concat(numbers, ignore_index=True), path / NUMBERS)
    write_parquet(frame, path / SCORES)
    with for_paper():
        for group, board in boards:
            for name, draw in _FIGURES.items():
                save(draw(board), path / FOLDER, f"leaderboard-{group.name}-{name}", formats or ["png"])
    if page is not None and around is not None:
        write_atomically(page, f"{around[0]}{BEGIN}\n\n{text}\n{END}{around[1]}")
    _show(boards, Console())
    print(beaten(frame), *notes(folder), sep="\n")
    return path / TABLE


def generalists_in(folder: BenchFolder) -> set[str]:
    """Entries of which a run is one policy for all tasks."""
    return {x.of for x in folder.suite.controllers if x.checkpoint and TASK not in x.parameters}


def _text(boards: Sequence[tuple[Group, Leaderboard]], remark: str, folder: BenchFolder) -> str:
    parts = [f"## {group.name}\n\n{markdown(board)}" for group, board in boards]
    lacking = notes(folder)
    return "\n".join([*parts, remark, *(f"\n- {note}" for note in lacking)]) + "\n"


def _around(page: Path) -> tuple[str, str]:
    """What stands before the tables, and after them."""
    before, begin, rest = read_text(page).partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ConfigError(f"--page: {page} has no lines {BEGIN} and {END}, between which the tables go")
    return before, after


def _show(boards: Sequence[tuple[Group, Leaderboard]], console: Console) -> None:
    """A row for each entry of each group, without single tasks: those are in the file."""
    for group, board in boards:
        title = f"{group.name}: {', '.join(board.tasks)}"
        drawn = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        drawn.add_column("entry", no_wrap=True)
        for heading in ("runs", "IQM of the scores", f"better than {board.baseline}"):
            drawn.add_column(heading, justify="right", no_wrap=True)
        for line in board.lines:
            name = f"{line.entry} (bound)" if line.reference else line.entry
            mean = cell(line.mean, whole) + (f" of {len(line.tasks)} tasks" if board.lacks(line) else "")
            chance = "–" if line.improvement is None else cell(line.improvement, "{:.2f}".format)
            drawn.add_row(name, str(line.runs), mean.replace("[", "\\["), chance.replace("[", "\\["))
        console.print(drawn)
