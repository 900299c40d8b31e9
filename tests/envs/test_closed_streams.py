# SPDX-License-Identifier: GPL-2.0-or-later
"""Environments and pools start in a process without standard streams, a daemon's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import os, sys
for fd in map(int, sys.argv[1]):
    os.close(fd)
import gymnasium, numpy as np, ns3_env
from ns3_env.envs.gym_env import incast_scenario
from ns3_env.scenario import Controller, Scenario
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator.pool import LocalPool, Play

if __name__ == "__main__":
    env = gymnasium.make("ns3_env/RdmaIncast-v0", scenario=incast_scenario(2, 20_000))
    env.reset(seed=1)
    branch = env.unwrapped.branch()
    branch.step(np.zeros(1))
    branch.close()
    env.close()
    with LocalPool(1) as pool:
        scenario = Scenario(controllers=[Controller(name="hpcc")], traffic=Incast(flows=2, size_bytes=9_000))
        pool.submit(Play(scenario, len)).result()
    open(sys.argv[2], "w").write("played")
"""


@pytest.mark.parametrize("closed", ["0", "012"])
def test_environments_and_pools_start_without_standard_streams(closed: str, tmp_path: Path) -> None:
    program, report = tmp_path / "program.py", tmp_path / "told"
    program.write_text(_PROGRAM)
    subprocess.run([sys.executable, program, closed, report], check=True, timeout=60)
    assert report.read_text() == "played"
