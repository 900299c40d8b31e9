# SPDX-License-Identifier: GPL-2.0-or-later
"""Warnings and errors of the simulator's program when it runs without Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ns3_env.scenario import Controller, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from tests.processes import program


def incast(flows: int) -> dict[str, Any]:
    return Scenario(
        topology=Dumbbell(senders=4),
        traffic=Incast(flows=flows, size_bytes=10_000),
        controllers=[Controller(name="dcqcn")],
    ).to_simulator_json()


def test_least_rates_beyond_the_link_are_one_line_with_both_rates(tmp_path: Path) -> None:
    done = program({**incast(flows=4), "min_rate_bps": 30e9}, tmp_path)
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"rdma-sim: warning: {tmp_path / 'x.json'}: 'min_rate_bps': 4 flows x 3e+10 bit/s")
    assert "= 1.2e+11 bit/s exceed the link of host 4, 1e+11 bit/s" in line
    assert json.loads(done.stdout)["totals"]["unfinished"] == 0


@pytest.mark.parametrize(
    ("flows", "changes", "start_ns"),
    [
        (4, {}, None),
        (4, {"min_rate_bps": 25e9}, None),  # they fit
        (4, {"min_rate_bps": 30e9}, [0, 100_000, 200_000, 300_000]),  # never two at the same time
        (200, {}, None),  # the default fits a large incast
    ],
)
def test_least_rates_that_fit_are_no_matter_for_words(
    flows: int, changes: dict[str, Any], start_ns: list[int] | None, tmp_path: Path
) -> None:
    content = {**incast(flows), **changes}
    content["flows"]["start_ns"] = start_ns or content["flows"]["start_ns"]
    assert program(content, tmp_path).stderr == ""
