# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements of speed: front ends, resets, cells, and large networks."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from ns3_env.eval.output.plots import is_png
from ns3_env.eval.speed import large
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


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"traffic": large.NETWORKS[16, 0].traffic.model_copy(update={"duration_ns": 20_000})}
    few["time_limit_ns"] = 120_000
    networks = {case: one.model_copy(update=few) for case, one in large.NETWORKS.items() if case[0] == 16}
    monkeypatch.setattr(large, "NETWORKS", networks)
    monkeypatch.setattr(large, "FLOWS", {100: large.FLOWS[100]})


@pytest.mark.usefixtures("small")
def test_a_table_and_a_figure_tell_of_each_network(tmp_path: Path) -> None:
    measured = large.report(tmp_path / "out")
    assert list(measured["threads"]) == [0, 1, 2, 0]
    assert (measured["wall_s"] > 0).all()
    assert (measured["packet_hops"] > 100).all()
    assert measured["flows"].iloc[-1] == pytest.approx(100, rel=0.5)
    assert (tmp_path / "out" / "large-networks.csv").read_text().startswith("hosts,threads,flows")
    assert is_png((tmp_path / "out" / "large-networks.png").read_bytes())
