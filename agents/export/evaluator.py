# SPDX-License-Identifier: GPL-2.0-or-later
"""Protocol of an exported policy's evaluator: actions for histories."""

from __future__ import annotations

from typing import Protocol

from ns3_env.policies.history import Floats, Ints


class Evaluator(Protocol):
    """Actions (n, 1) in [-1, 1] for histories (n, K, D), zero-padded at the end, of lengths (n,)."""

    def __call__(self, histories: Floats, lengths: Ints) -> Floats: ...
