# SPDX-License-Identifier: GPL-2.0-or-later
"""The thesis's model of a queue, step by step (Zheng 2024, eq. 3.4 and Table 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bottleneck:
    """One egress queue and the flows through it.

    Attributes:
        flows: N.
        rate_in_bps: R_in,max, of each sender's link.
        rate_out_bps: R_link, of the link that the queue empties into.
        bdp_bytes: P_BD,max (eq. 2.3).
    """

    flows: int
    rate_in_bps: float
    rate_out_bps: float
    bdp_bytes: float

    @property
    def fair_window_bytes(self) -> float:
        """W* = R_out · P_BD,max / (R_in,max · N), at which a queue stands still (eq. 3.4)."""
        return self.rate_out_bps * self.bdp_bytes / (self.rate_in_bps * self.flows)

    def gain(self, interval_ns: float) -> float:
        """B = Δt · N · R_in,max / (8 · P_BD,max), bytes of queue per byte of window (eq. 3.5)."""
        return interval_ns / 1e9 * self.flows * self.rate_in_bps / (8 * self.bdp_bytes)

    def queue(self, windows_bytes: npt.ArrayLike, interval_ns: float, bound_bytes: float = np.inf) -> Floats:
        """Q(k + 1) = Q(k) + B · (W(k) − W*), from Q(0) = 0 (eq. 3.4).

        An empty queue under less than W* stays empty: its R_out is what comes in (Table 3.1). No more than
        ``bound_bytes`` can wait where windows limit what is under way (eq. 4.3).

        Args:
            windows_bytes: W(0), ..., W(n − 1), each in [0, P_BD,max]: a sender is no faster than its link.
            interval_ns: Δt.
            bound_bytes: upper bound of the queue.

        Returns:
            (n + 1,) bytes.
        """
        steps = self.gain(interval_ns) * (
            np.asarray(windows_bytes, dtype=np.float64) - self.fair_window_bytes
        )
        lengths = np.zeros(len(steps) + 1)
        for k, step in enumerate(steps):
            lengths[k + 1] = min(max(lengths[k] + step, 0.0), bound_bytes)
        return lengths


def slope_bps(times_ns: npt.ArrayLike, lengths_bytes: npt.ArrayLike) -> float:
    """The least-squares slope of a queue, bit/s; NaN of fewer than two instants."""
    times, lengths = np.asarray(times_ns, dtype=np.float64), np.asarray(lengths_bytes, dtype=np.float64)
    if len(times) < 2:
        return float("nan")
    centred = times - times.mean()
    return float(8e9 * (centred @ lengths) / (centred @ centred))
