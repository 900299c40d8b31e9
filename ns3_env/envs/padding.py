# SPDX-License-Identifier: GPL-2.0-or-later
"""Mask of the rows of a VecEnv's step that are decisions; others have no flow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ns3_env.errors import PaddingError


class Mask:
    """Which rows' actions the last step took, and whether anybody looks.

    A row without a flow repeats what it saw last, and nothing comes of its action. Who stores rows asks
    ``decided`` which ones to store, and says so with :meth:`acknowledge`; where nobody does, the step that
    would have such a row is an error.

    Attributes:
        decided: (n,) the last step's action was applied to a flow.
    """

    def __init__(self, rows: int) -> None:
        """
        Args:
            rows: n, those of each step.
        """
        self.decided: NDArray[np.bool_] = np.zeros(rows, dtype=np.bool_)
        self.heeded = False
        self._under_way = 0  # rows of which the last step does not say what came of them

    def acknowledge(self) -> None:
        """Somebody stores the rows in ``decided``, and no others."""
        self.heeded = True

    def before_step(self, due: NDArray[np.bool_]) -> None:
        """The step takes the actions of the rows that are ``due`` (n,). Raises PaddingError."""
        self.decided = due.copy()
        if self.heeded or due.all():
            return
        idle = int((~due).sum())
        raise PaddingError(
            f"{idle} of {len(due)} rows have no flow that decides in this step: an algorithm that stores "
            "them learns from padding. Give it buffers that leave them out, "
            "ns3_env.envs.sb3_buffers.masked(algorithm); take decisions alone with recv() and send(); or, "
            'where you look at info["due"] yourself, call env.mask.acknowledge()'
        )

    def after_step(self, due: NDArray[np.bool_], done: NDArray[np.bool_]) -> None:
        """What came of it: rows that decide next and rows that ended, (n,) each."""
        self._under_way = int((self.decided & ~due & ~done).sum())

    def outcomes(self) -> NDArray[np.bool_]:
        """(n,) rows of the last step to be stored: action, reward, next observation or end.

        Raises PaddingError: some of what the actions led to is not known yet.
        """
        if self._under_way:
            raise PaddingError(
                f"{self._under_way} rows decided and their flows go on, but do not decide next: what their "
                "actions led to is not known yet. step() needs the clock 'synchronous'; recv() and send() "
                "take any"
            )
        return self.decided
