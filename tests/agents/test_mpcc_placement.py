# SPDX-License-Identifier: GPL-2.0-or-later
"""MPCC in the simulator and across the channel: the same windows at the same instants."""

from __future__ import annotations

import numpy as np
import pytest

from ns3_env.eval.speed.placement import incast, play_placed
from ns3_env.scenario import Record
from ns3_env.simulator import Simulator


@pytest.mark.parametrize("senders", [2, 4, 12, 32])
def test_both_placements_choose_the_same_windows_at_the_same_instants(senders: int) -> None:
    record = Record(windows=True)
    with Simulator() as simulator:
        inside, _ = play_placed(simulator, incast("simulator", senders, 200_000, record))
        outside, _ = play_placed(simulator, incast("python", senders, 200_000, record))
    assert outside["flows"] == inside["flows"]
    by_instant = {(time, flow): window for time, flow, window, _ in inside["windows"]}
    shared = [
        (window, by_instant[time, flow])
        for time, flow, window, _ in outside["windows"]
        if (time, flow) in by_instant
    ]
    assert len(shared) > 0.9 * len(by_instant)
    mine, theirs = np.array(shared).T
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)
