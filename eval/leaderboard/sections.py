# SPDX-License-Identifier: GPL-2.0-or-later
"""A leaderboard for each group of tasks, and where a rule beats the reference."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ns3_env.errors import ConfigError
from ns3_env.eval.leaderboard.board import REFERENCES, Leaderboard, leaderboard
from ns3_env.eval.leaderboard.groups import GROUPS, Group, group_of
from ns3_env.tasks import TASKS

if TYPE_CHECKING:
    import pandas


def sections(frame: pandas.DataFrame, generalists: Collection[str] = ()) -> list[tuple[Group, Leaderboard]]:
    """The groups that the frame has tasks of, each with its leaderboard.

    Entries that lack a task of the group stand behind the others, over the tasks that they have played.

    Raises:
        ConfigError: the frame is empty, or an entry's runs are not as many in one task as in another.
    """
    if len(frame) == 0:
        raise ConfigError("the folder has no task that is played whole: the same command goes on with it")
    groups = frame["task"].map(lambda name: group_of(TASKS[name]).name)
    return [
        (group, _board(own, group.base, generalists))
        for group in GROUPS
        if len(own := frame[groups == group.name])
    ]


def _board(frame: pandas.DataFrame, base: str, generalists: Collection[str]) -> Leaderboard:
    tasks = frame.groupby("entry", sort=False)["task"].agg(set)
    of_base = tasks.get(base, set())
    whole = [name for name, own in tasks.items() if own >= of_base]

    def compared(names: Collection[str], own: set[str]) -> Leaderboard:
        some = frame[frame["entry"].isin(names) & frame["task"].isin(own)]
        return leaderboard(some, base, generalists=set(names) & set(generalists))

    board = compared(whole, of_base)
    partial = [
        line
        for name, own in tasks.items()
        if name not in whole and own & of_base
        for line in compared([name, base], own & of_base).lines
        if line.entry == name
    ]
    partial.sort(key=lambda line: -line.mean.value)
    return Leaderboard(board.baseline, [*board.lines, *partial])


def beaten(frame: pandas.DataFrame) -> str:
    """In which tests somebody is better than the reference, a line."""
    found: list[str] = []
    count, tests = 0, 0
    for name, own in frame.groupby("task", sort=False):
        spec = TASKS[str(name)]
        values = own[own["entry"] == spec.reference].set_index("test_seed")["value"]
        others = own[~own["entry"].isin(REFERENCES)]
        ratios = others["value"] / others["test_seed"].map(values)
        best = others.assign(ratio=ratios).sort_values("ratio").groupby("test_seed").first()
        better = best[best["ratio"] < 1 - 1e-9].sort_values("ratio")
        tests += len(values)
        count += len(better)
        if len(better):
            most = better.iloc[0]
            found.append(f"{name} {len(better)} ({most['entry']} by {100 * (1 - most['ratio']):.1f} %)")
    what = f"In {count} of {tests} tests an entry is better than the reference"
    return what + (f", at most: {', '.join(found)}." if found else ".")
