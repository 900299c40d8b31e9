# SPDX-License-Identifier: GPL-2.0-or-later
"""What `eval speed` measures of starting."""

from __future__ import annotations

from ns3_env.eval.speed.measure import cell_overhead_ms, reset_ms


def test_a_reset_costs_either_side_something() -> None:
    cost = reset_ms(20)
    assert cost.keys() == {"python", "simulator"}
    assert all(0.01 < ms < 100 for ms in cost.values())


def test_a_cell_costs_more_than_its_simulation() -> None:
    assert 0.1 < cell_overhead_ms(4) < 1000
