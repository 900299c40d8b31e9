# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of `eval speed`: every front end decides, next to Pendulum; starting has a cost."""

from __future__ import annotations

from contextlib import closing
from itertools import islice

import pytest

from ns3_env.eval.speed.front_ends import FRONT_ENDS, steps_per_s
from ns3_env.eval.speed.measure import cell_overhead_ms, reset_ms


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_a_front_end_goes_on_and_on(name: str) -> None:
    with closing(FRONT_ENDS[name]()) as steps:  # type: ignore[type-var]
        assert sum(islice(steps, 40)) > 20


def test_a_decision_is_compared_with_a_step_of_pendulum() -> None:
    simulator, pendulum = steps_per_s("stable_baselines3", 0.2)
    assert 0 < simulator < 1e7
    assert 0 < pendulum < 1e7


def test_a_reset_costs_either_side_something() -> None:
    cost = reset_ms(20)
    assert cost.keys() == {"python", "simulator"}
    assert all(0.01 < ms < 100 for ms in cost.values())


def test_a_cell_costs_more_than_its_simulation() -> None:
    assert 0.1 < cell_overhead_ms(4) < 1000
