# SPDX-License-Identifier: GPL-2.0-or-later
"""A few seconds of steps, resets and kills without growth; the long form is ``make soak``."""

import gc

import pytest

from ns3_env.simulator import HANG_TIMEOUT_VARIABLE
from tests.soak.soak import DETECTED_WITHIN_S, HANG_TIMEOUT_S, Soak, Usage


@pytest.mark.alone
def test_nothing_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HANG_TIMEOUT_VARIABLE, HANG_TIMEOUT_S)
    gc.freeze()  # of each sample's collection: what tests before this one have made
    done = Soak(steps=3_000, resets=48, kills=10)
    assert done.grown() == []
    assert done.kills == 10
    assert max(done.detected_s) < DETECTED_WITHIN_S


def test_growth_is_seen() -> None:
    usage = Usage()
    for name, series in vars(usage).items():
        series += [i * (1000 if name.endswith("_kb") else 1) for i in range(40)]
    assert len(usage.grown()) == len(vars(usage))
    for series in vars(usage).values():
        series[:] = [7] * 40
    assert usage.grown() == []
