# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants, mistakes that the tests must see: an operator, number or statement changed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from tests.paths import ROOT

#: Files below ns3_env/; the tests' files that must see their mutants, the likeliest first; the mutants, by function the
#: numbers of its places (:func:`_places`).
CHOSEN = [
    ("agents/fdcc/td3.py", "agents/fdcc/test_td3", "compress:0 critic_loss:1 follow:0 smooth:0 targets:1,4"),
    (
        "agents/fdcc/algorithm.py",
        "agents/fdcc/test_td3 agents/fdcc/test_fdcc",
        "FDCC.__init__:2 FDCC._descend:12 FDCC.collect_rollouts:21",
    ),
    (
        "agents/fdcc/exploration.py",
        "agents/fdcc/test_exploration",
        "Exploration.__init__:5 Exploration._random_action:5,10 Exploration._with_noise:6 Exploration.actions:5,6 Exploration.begin:0,4",
    ),
    (
        "agents/fdcc/replay.py",
        "agents/fdcc/test_fdcc_history agents/fdcc/test_td3 envs/test_rollouts",
        "HistoryReplayBuffer.__init__:9 HistoryReplayBuffer._store:11 HistoryReplayBuffer.add_rollout:16,33,40 HistoryReplayBuffer.outcome:5",
    ),
    (
        "agents/fdcc/history.py",
        "agents/fdcc/test_fdcc_history",
        "SlotHistories.__init__:0,1,3 SlotHistories.forget:0,2,3 SlotHistories.observe:6",
    ),
    (
        "policies/history.py",
        "agents/fdcc/test_fdcc_history envs/test_rollouts",
        "append:1,10 histories_of:9,11",
    ),
    (
        "agents/fdcc/networks.py",
        "agents/fdcc/test_fdcc_networks",
        "RecurrentCritics.climbed:3 _linear:0 answer:4,5,9 read:2,7",
    ),
    (
        "agents/fdcc/policy.py",
        "agents/fdcc/test_fdcc_networks agents/fdcc/test_fdcc",
        "RecurrentTD3Policy.__init__:6,9 RecurrentTD3Policy.act_on:0 RecurrentTD3Policy.predict:32",
    ),
    (
        "agents/fdcc/stream.py",
        "agents/fdcc/test_fdcc_networks",
        "StepStream.__init__:0 StepStream.recv:1,3,8,11,13",
    ),
    (
        "agents/curriculum/curriculum.py",
        "agents/test_curriculum agents/runs/test_validation",
        "Curriculum._move_on:2,10",
    ),
    (
        "agents/curriculum/ranges.py",
        "agents/test_curriculum agents/runs/test_validation",
        "ascending:1",
    ),
    (
        "agents/curriculum/plateau.py",
        "agents/test_curriculum",
        "Plateau.__init__:1 Plateau.judge:7,11,24,30,37",
    ),
    (
        "agents/runs/callback.py",
        "agents/runs/test_validation",
        "Validations.__init__:0 Validations.validate:0,1,2",
    ),
    (
        "agents/trainer/stopwatch.py",
        "agents/test_stopwatch",
        "Stopwatch.__init__:1 Stopwatch._begin:3,4 Stopwatch.made_gradient_steps:0 Stopwatch.measuring:0,1,2 Stopwatch.report:0,6",
    ),
    (
        "task/rewards.py",
        "task/test_rewards_actions",
        "Proportional.__call__:5 QueueTarget.__call__:1 QueueTarget.__post_init__:1 Staged.__call__:4,7,11 make_reward:2",
    ),
    (
        "envs/rollouts.py",
        "envs/test_rollouts",
        "EpisodeQueue._rollout:1 Rollouts.__init__:0 Rollouts._assign:5 Rollouts._receive:6 as_simulated:3,9",
    ),
]
_PAIRS: list[tuple[type, type]] = [(ast.Lt, ast.GtE), (ast.Gt, ast.LtE), (ast.Eq, ast.NotEq)]
_PAIRS += [(ast.In, ast.NotIn), (ast.Is, ast.IsNot)]
_PAIRS += [(ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitOr, ast.BitAnd), (ast.Pow, ast.Mult)]
_OTHER = {b: a for a, b in _PAIRS} | dict(_PAIRS)


class Mutant(NamedTuple):
    """One mistake, in the ``number``-th place of a function."""

    file: str
    tests: str
    function: str
    number: int

    def source(self, *, wrong: bool = True) -> str:
        """The file with the mistake in it, or as it is."""
        tree = ast.parse((ROOT / self.file).read_text(encoding="utf-8"))
        mistake = _places(dict(_functions(tree))[self.function])[self.number]
        if wrong:
            mistake()
        return ast.unparse(tree)


MUTANTS = [
    Mutant(f"ns3_env/{file}", tests, function, int(number))
    for file, tests, chosen in CHOSEN
    for function, _, numbers in (part.partition(":") for part in chosen.split())
    for number in numbers.split(",")
]


def _functions(tree: ast.AST, name: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Every function of a module, by its qualified name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = f"{name}.{node.name}".lstrip(".")
            if isinstance(node, ast.FunctionDef):
                yield inner, node
            yield from _functions(node, inner)


def _places(function: ast.AST) -> list[Callable[[], None]]:
    """What makes each place go wrong: another operator or number, a condition turned, a statement left out."""
    wrong: list[Callable[[], None]] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _OTHER:
            wrong.append(partial(node.ops.__setitem__, 0, _OTHER[type(node.ops[0])]()))
        elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _OTHER:
            wrong.append(partial(setattr, node, "op", _OTHER[type(node.op)]()))
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            wrong.append(partial(setattr, node, "value", 2 * node.value + 1))  # type: ignore[operator]
        elif isinstance(node, ast.If | ast.IfExp):
            wrong.append(partial(setattr, node, "test", ast.UnaryOp(ast.Not(), node.test)))
        for statements in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if not isinstance(statements, list):
                continue
            for at, statement in enumerate(statements):
                is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
                if is_call or isinstance(statement, ast.Assign | ast.AugAssign):
                    wrong.append(partial(statements.__setitem__, at, ast.Pass()))
    return wrong
