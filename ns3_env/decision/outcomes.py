# SPDX-License-Identifier: GPL-2.0-or-later
"""Outcomes of decisions: reward, elapsed time and, where a flow is over, its slowdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Outcomes:
    """What came of k decisions, each told by the row that follows it.

    Attributes:
        rewards: (k,); 0 on a flow's first row, which no decision led to.
        elapsed: (k,) base RTTs since the flow's last decision: what a discount counts in (Bradtke and
            Duff 1994); 0 on its first row.
        final: (k,) nothing follows that would be worth anything: the flow is done, or it was cut and the
            reward has charged what was left of it.
        cut: (k,) the episode ended before the flow.
        slowdowns: (k,) NaN but where the flow is over: its completion time over its ideal one, or, where it
            was cut, its time and what its remaining bytes would take at the ideal rate. 0: it has no end.
    """

    rewards: NDArray[np.float64]
    elapsed: NDArray[np.float64]
    final: NDArray[np.bool_]
    cut: NDArray[np.bool_]
    slowdowns: NDArray[np.float64]

    def infos(self) -> list[dict[str, Any]]:
        """Returns the info of each row: "elapsed", "slowdown" (0 until its flow is over) and
        "cut"."""
        told = zip(self.elapsed.tolist(), self.slowdowns.tolist(), self.cut.tolist(), strict=True)
        return [
            {"elapsed": since, "slowdown": slowdown if slowdown == slowdown else 0.0, "cut": cut}
            for since, slowdown, cut in told
        ]
