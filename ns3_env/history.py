# SPDX-License-Identifier: GPL-2.0-or-later
"""What is a history? What a policy with memory reads of one flow.

A window (K, F) of the last K inputs of one flow in one episode, oldest first and zero-padded at the end, with
its true length in 1..K; its last valid row is the current input.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def append(windows: Floats, lengths: Ints, inputs: Floats) -> None:
    """Adds one input to each history, in place; a full window loses its oldest row.

    Args:
        windows: (n, K, F).
        lengths: (n,), 0 for a history not begun.
        inputs: (n, F).
    """
    full = lengths == windows.shape[1]
    if full.any():
        windows[full, :-1] = windows[full, 1:]
    lengths += ~full
    windows[np.arange(len(lengths)), lengths - 1] = inputs
