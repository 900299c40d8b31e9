# SPDX-License-Identifier: GPL-2.0-or-later
"""Histories that a policy with memory reads, one for each flow, and steps of a state that is carried.

A window (K, F) of the last K inputs of one flow in one episode, oldest first and zero-padded at the end, with
its true length in 1..K; its last valid row is the current input.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ns3_env.policies.policy import State

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: Step of a network with a hidden state, from observations (n, D) and the state (None at a flow's first) to
#: actions (n, 1) and the state after them.
Step = Callable[[Floats, "State | None"], "tuple[Floats, State]"]


def append(windows: Floats, lengths: Ints, inputs: Floats) -> None:
    """Adds one input to each history, in place; a full window loses its oldest row.

    Args:
        windows: (n, K, F).
        lengths: (n,), 0 for an empty history.
        inputs: (n, F).
    """
    full = lengths == windows.shape[1]
    if full.any():
        windows[full, :-1] = windows[full, 1:]
    lengths += ~full
    windows[np.arange(len(lengths)), lengths - 1] = inputs


def histories_of(inputs: Floats, age: Ints, depth: int) -> tuple[Floats, Ints]:
    """Each row's history, of the rows of flows that lie next to each other in the order of time.

    Args:
        inputs: (n, F) of each row.
        age: (n,) rows of the same flow before it.
        depth: K.

    Returns:
        Windows (n, K, F) and lengths (n,).
    """
    lengths = np.minimum(age + 1, depth)
    steps = np.arange(depth)
    chosen = np.arange(len(age))[:, None] - lengths[:, None] + 1 + steps
    there = steps < lengths[:, None]
    windows = inputs[np.where(there, chosen, 0)]
    windows[~there] = 0.0
    return windows, lengths


def in_a_row(windows: Floats, lengths: Ints) -> Floats:
    """Each history as an MLP's input: (n, K x F), the current input last, zeros before a flow's
    first.

    Args:
        windows: (n, K, F).
        lengths: (n,), of 1 to K.
    """
    rows, depth, width = windows.shape
    at = np.arange(depth) + lengths[:, None] - depth
    there = at >= 0
    shifted = windows[np.arange(rows)[:, None], np.where(there, at, 0)]
    shifted[~there] = 0.0
    return shifted.reshape(rows, depth * width)


def remembered(
    rows: Floats, depth: int, state: State | None, episode_start: npt.NDArray[np.bool_] | None
) -> tuple[Floats, Ints]:
    """Histories (n, K, F) and lengths (n,) of n flows that continue with ``rows``.

    Args:
        rows: (n, F), the current observations.
        depth: K.
        state: the state last returned for the same flows; None: every flow starts.
        episode_start: (n,) true for a flow that starts; None: according to the state.
    """
    windows: Floats = np.zeros((len(rows), depth, rows.shape[1]), dtype=np.float32)
    lengths: Ints = np.zeros(len(rows), dtype=np.int64)
    if state is not None:
        windows[:], lengths[:] = state
        if episode_start is not None:
            start = np.asarray(episode_start, dtype=bool)
            windows[start], lengths[start] = 0.0, 0
    append(windows, lengths, rows)
    return windows, lengths


def after_steps(step: Step, windows: Floats, lengths: Ints) -> Floats:
    """Actions (n, 1) of a network that carries a state, at the ends of flows' histories from their first
    decisions on.

    Args:
        step: the network.
        windows: (n, K, D), of any K.
        lengths: (n,), of 1 to K.
    """
    actions: Floats = np.zeros((len(windows), 1), np.float32)
    state: State | None = None
    for k in range(windows.shape[1]):
        answers, state = step(np.ascontiguousarray(windows[:, k]), state)
        ended = lengths == k + 1
        actions[ended] = answers[ended]
    return actions
