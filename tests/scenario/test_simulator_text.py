# SPDX-License-Identifier: GPL-2.0-or-later
"""The text that a simulator is sent says what its JSON says, whichever scenarios came before."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ns3_env.config.folders import DATA
from ns3_env.envs.gym_env import incast_scenario
from ns3_env.programs import executable
from ns3_env.scenario import Scenario

FILES = sorted((DATA / "configs" / "scenarios").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_of_every_seed_and_controller(file: Path) -> None:
    scenario = Scenario.load(file)
    others = ("cubic", "dctcp") if scenario.transport == "tcp" else ("dcqcn", "hpcc")
    for under in (scenario, *map(scenario.under, others)):
        for seed in (1, 2, 1):
            variant = under.with_seed(seed)
            assert json.loads(variant.to_simulator_text()) == json.loads(
                json.dumps(variant.to_simulator_json())
            )


def test_what_the_simulator_declares_is_asked_for_again_where_it_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = incast_scenario(2).under("dcqcn")
    assert json.loads(scenario.to_simulator_text())["switch"]["ecn"]["kmin_bytes"] == 100_000
    real = executable.find_executable()
    program = tmp_path / "rdma-sim"
    program.write_text(f'#!/bin/sh\n{real} $@ | sed \'s/"kmin_bytes": 100000/"kmin_bytes": 90000/\'\n')
    os.chmod(program, 0o755)
    monkeypatch.setenv(executable.EXECUTABLE_VARIABLE, str(program))
    assert json.loads(scenario.to_simulator_text())["switch"]["ecn"]["kmin_bytes"] == 90_000
