# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of actions and their owners, in one wording for every front end."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

_NO_NUMBER = "the policy gave no number for what it saw (weights that have diverged?); nothing was sent"


def action_rows(
    actions: Any, who: str, names: Sequence[Any] | NDArray[Any], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Actions (m, *shape) of the m ``names``, as numbers.

    Args:
        actions: one for each name.
        who: plural noun for the names, e.g. "flows".
        names: the m names, in the order of the actions.
        shape: shape of one action.

    Raises ValueError, naming them, if they have another shape or are no numbers.
    """
    expected_shape = len(names), *shape
    try:
        rows = np.asarray(actions, dtype=np.float64)
    except (TypeError, ValueError):
        rows = None
    if rows is not None and rows.size == math.prod(expected_shape):
        return rows.reshape(expected_shape)
    names = np.asarray(names).tolist()
    values = [actions] if len(names) == 1 and len(np.shape(actions)) <= len(shape) else list(actions)
    if len(values) != len(names):
        raise ValueError(
            f"the actions of {len(names)} {who} have the shape {expected_shape}, not {np.shape(actions)}; "
            "nothing was sent"
        )
    for name, one in zip(names, values, strict=True):
        if _misfits(one, shape):
            raise ValueError(
                f"the action of {who} {[name]} is no array of numbers of the shape {shape}, but "
                f"{_described(one)}; nothing was sent"
            )
    return np.array([np.asarray(one, dtype=np.float64).reshape(shape) for one in values])


def _misfits(one: Any, shape: tuple[int, ...]) -> bool:
    try:
        return np.asarray(one, dtype=np.float64).size != math.prod(shape)
    except (TypeError, ValueError):
        return True


def _described(one: Any) -> str:
    try:
        return f"of the shape {np.asarray(one, dtype=np.float64).shape}"
    except (TypeError, ValueError):
        return f"{one!r:.60}"


def collect_actions(
    agents: Sequence[Any], actions: Mapping[Any, Any], possible: Collection[Any]
) -> list[Any]:
    """Returns the actions of the agents that decide, in their order.

    Args:
        agents: agents that decide now.
        actions: action of each agent; those of agents that are possible and do not decide are ignored.
        possible: all agents that may have an action: those observed last.

    Raises ValueError, naming them, if an action is missing, or is for another agent.
    """
    if missing := [agent for agent in agents if agent not in actions]:
        raise ValueError(
            f"the action of agents {sorted(missing, key=str)} is missing: they decide now; nothing was sent"
        )
    if len(actions) > len(agents) and (others := [agent for agent in actions if agent not in possible]):
        raise ValueError(
            f"the action of agents {others} is nobody's: those that live are {list(possible)}; "
            "nothing was sent"
        )
    return [actions[agent] for agent in agents]


def action_fault(
    rows: NDArray[np.float64], who: str, names: Sequence[Any], space: Space[Any]
) -> ValueError | None:
    """The error that names those whose action is no number; None without any.

    Args:
        rows: (m, ...) actions.
        who, names: see :func:`action_rows`.
        space: action space of one flow. An infinite action must lie in it, and so must one below the lower
            bound of a space without an upper bound. Other spaces clip actions.
    """
    flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    low, high = (space.low.ravel(), space.high.ravel()) if isinstance(space, Box) else (-np.inf, np.inf)
    outside = ~((flat >= low) & (flat <= high))
    for what, wrong in (
        (f"NaN: {_NO_NUMBER}", np.isnan(flat)),
        (f"infinite: {_NO_NUMBER}", np.isinf(flat) & outside),
        (f"below {np.min(low):g}, the least that there is; nothing was sent", outside & np.isinf(high)),
    ):
        if culprits := [names[row] for row in np.flatnonzero(wrong.any(axis=1)).tolist()]:
            return ValueError(f"the action of {who} {culprits} is {what}")
    return None
