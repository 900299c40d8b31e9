# SPDX-License-Identifier: GPL-2.0-or-later
"""Inverse of action maps against the maps themselves."""

from __future__ import annotations

import numpy as np
import pytest

from ns3_env.decision.actions import (
    AbsoluteWindow,
    ExponentialWindow,
    FairShareWindow,
    LogarithmicWindow,
    Map,
    MultiplicativeRate,
    MultiplicativeWindow,
    RecursiveWindow,
    nearest_actions,
)
from ns3_env.decision.observations import FIELDS, INDEX

#: A flow with a window of ten packets and a BDP of 78.5, at a fifth of its link.
FLOW = {
    "packet_bytes": 1000.0,
    "payload_bytes": 1000.0,
    "bdp_bytes": 78_500.0,
    "base_rtt_ns": 6280.0,
    "host_rate_bps": 1e11,
    "window_bytes": 10_000.0,
    "rate_bps": 2e10,
    "last_action": 0.25,
    "fair_share": 0.125,
}
RECORDS = np.zeros((5, len(FIELDS)))
for _name, _value in FLOW.items():
    RECORDS[:, INDEX[_name]] = _value
WITHIN = np.array([[-1.0], [-0.3], [0.0], [0.4], [1.0]])


@pytest.mark.parametrize(
    "action",
    [
        ExponentialWindow(alpha=1.0, least_packets=0.1),
        LogarithmicWindow(),
        FairShareWindow(),
        MultiplicativeWindow(rounding="none"),
        MultiplicativeRate(alpha=0.5, window="none"),
    ],
)
def test_an_action_is_found_again_from_what_it_did(action: Map) -> None:
    np.testing.assert_allclose(nearest_actions(action, action(WITHIN, RECORDS), RECORDS), WITHIN, atol=1e-9)


@pytest.mark.parametrize("action", [MultiplicativeWindow(), RecursiveWindow(alpha=0.5, most_factor=4.0)])
def test_a_window_in_whole_packets_is_met_again(action: Map) -> None:
    windows = action(WITHIN, RECORDS)
    again = action(nearest_actions(action, windows, RECORDS), RECORDS)
    np.testing.assert_array_equal(again[:, 0], windows[:, 0])


def test_what_no_action_reaches_is_approached() -> None:
    windows = np.array([[0.0], [100.0], [10_000.0], [78_500.0], [1e9]])
    targets = AbsoluteWindow()(windows, RECORDS)
    nearest = nearest_actions(ExponentialWindow(alpha=1.0), targets, RECORDS)
    assert nearest[:, 0].tolist() == [-1.0, -1.0, 0.0, 1.0, 1.0]


def test_a_flow_without_a_window_counts_as_one_bdp() -> None:
    fresh = RECORDS[:1].copy()
    fresh[:, INDEX["window_bytes"]] = np.inf
    half = AbsoluteWindow()(np.array([[78_500.0 / 2]]), fresh)
    nearest = nearest_actions(ExponentialWindow(alpha=1.0), half, fresh)
    np.testing.assert_allclose(nearest, [[-np.log(2)]])
