# SPDX-License-Identifier: GPL-2.0-or-later
"""Inverse of action maps: the action that brings a flow nearest to a window or a rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ns3_env.decision.actions import (
    AbsoluteWindow,
    ExponentialWindow,
    LogarithmicWindow,
    Map,
    MultiplicativeRate,
)
from ns3_env.decision.observations import column

#: Below any window or rate that a map gives: logarithms and quotients stay finite.
_LEAST = 1e-9


def nearest_actions(
    action: Map, applied: NDArray[np.float64], records: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Actions (m, 1) under ``action`` that come nearest to what another map applied.

    What lies further than one action reaches is approached: the action is -1 or 1 there.

    Args:
        action: the map whose actions are wanted.
        applied: (m, 2 or more) windows (B) and pacing rates (bit/s), as a map gives them.
        records: (m, fields) telemetry of the decisions.
    """
    windows, rates = applied[:, 0], applied[:, 1]
    if isinstance(action, AbsoluteWindow):
        asked: NDArray[np.float64] = windows[:, None].copy()
        return asked
    bdp = np.maximum(column(records, "bdp_bytes"), column(records, "packet_bytes"))
    if isinstance(action, LogarithmicWindow):
        least = np.minimum(action.least_packets * column(records, "packet_bytes"), bdp)
        span = np.maximum(np.log(bdp / least), _LEAST)
        return _within(1.0 + 2.0 * np.log(np.clip(windows, least, bdp) / bdp) / span)
    if isinstance(action, MultiplicativeRate):
        factors = rates / np.maximum(column(records, "rate_bps"), _LEAST)
    else:
        now = np.minimum(column(records, "window_bytes"), bdp)
        factors = np.minimum(windows, bdp) / np.maximum(now, _LEAST)
    factors = np.maximum(factors, _LEAST)
    if isinstance(action, ExponentialWindow):
        return _within(np.log(factors) / action.alpha)
    return _within(np.where(factors >= 1, factors - 1, 1 - 1 / factors) / action.alpha)


def _within(wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """As (m, 1) actions in [-1, 1]."""
    nearest: NDArray[np.float64] = np.clip(wanted, -1.0, 1.0)[:, None]
    return nearest
