# SPDX-License-Identifier: GPL-2.0-or-later
"""Bars on the CPU time of this process, which other processes do not slow down."""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def within_cpu_s(bar_s: float) -> Iterator[None]:
    """Fails if the block uses more CPU time.

    The garbage collector is off: one pass over objects of earlier tests needs up to a second.
    """
    gc.disable()
    start_s = time.process_time()
    try:
        yield
    finally:
        took_s = time.process_time() - start_s
        gc.enable()
        assert took_s < bar_s
