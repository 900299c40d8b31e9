# SPDX-License-Identifier: GPL-2.0-or-later
"""Interface of what plays a suite's cells: an iterator of events."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ns3_env.eval.benchmark.cell import Job
from ns3_env.eval.benchmark.folder import Key

#: How often the time limits are looked at, and the caller gets to redraw.
TICK_S = 0.2


@dataclass(frozen=True)
class Event:
    """What happened to a cell. A tick happens to none: time has passed.

    Attributes:
        what: the event; "joined" is the backend's, before any cell's.
        key: of the cell.
        text: why it failed; what was joined.
        seconds: wall time of a cell that is done.
    """

    what: Literal["joined", "started", "done", "failed", "tick"]
    key: Key = ("", "", 0)
    text: str = ""
    seconds: float = 0.0


class Backend(Protocol):
    """Plays cells: processes of this machine (``workers``), tasks of a Ray cluster (``ray_cells``)."""

    def play_all(
        self, jobs: Sequence[Job], timeout_s: float, hang_timeout_s: float
    ) -> Generator[Event, None, None]:
        """Plays the jobs, begun in their order; a cell that is done has its folder.

        Args:
            jobs: the cells.
            timeout_s: a cell that takes longer fails, alone.
            hang_timeout_s: each simulator's.

        When the iterator is closed, or an exception (Ctrl-C) goes through it, everything it began is ended.
        """
        ...


def too_long(timeout_s: float) -> str:
    """Why a cell failed that took longer."""
    return f"took longer than the suite's timeout_s, {timeout_s:g} s"
