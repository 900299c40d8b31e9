# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress lines at growing intervals, for output that is no terminal."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

#: Until the first line, and between two at most, s; each pause is twice as long as the one before.
FIRST_S, MOST_S = 5.0, 60.0


@contextmanager
def progress_lines(console: Console, line: Callable[[], str]) -> Iterator[None]:
    """Prints ``line()`` and the elapsed time within the block if the console is no terminal: after 5 s
    and again, ever less often.

    Args:
        console: console for the lines. On a terminal the caller draws something that moves.
        line: function that returns the progress as text; called in another thread.
    """
    if console.is_terminal:
        yield
        return
    over, start_s = threading.Event(), time.monotonic()

    def tell() -> None:
        pause = FIRST_S
        while not over.wait(pause):
            passed = clock(time.monotonic() - start_s)
            console.print(f"{line()}; {passed} so far", highlight=False, markup=False, soft_wrap=True)
            pause = min(2 * pause, MOST_S)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


def clock(seconds: float) -> str:
    """Formats a time as a clock: "3:05"."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
