# SPDX-License-Identifier: GPL-2.0-or-later
"""A leaderboard as a Markdown table, and as a data frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from ns3_env.eval.leaderboard.board import Leaderboard, Line
from ns3_env.eval.leaderboard.statistics import Estimate
from ns3_env.eval.output.table import markdown_cell, markdown_table

if TYPE_CHECKING:
    import pandas

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
