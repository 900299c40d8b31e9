# SPDX-License-Identifier: GPL-2.0-or-later
"""Warnings and errors of the simulator's program when it runs without Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
