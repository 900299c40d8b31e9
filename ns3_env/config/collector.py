# SPDX-License-Identifier: GPL-2.0-or-later
"""Pauses Python's garbage collector while large data are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Keeps the collector from scanning again and again all data so far, which are without circles: 200,000
    entries of YAML would cost minutes, and a third of the time of millions of flows."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
