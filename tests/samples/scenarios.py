# SPDX-License-Identifier: GPL-2.0-or-later
"""Small parts of scenarios, and what is said of one that is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator

INCAST = {"kind": "incast", "size_bytes": 1000}


def results_of(scenario: Scenario | Mapping[str, Any]) -> dict[str, Any]:
    """Results of a scenario, or of its contents, in a simulator of its own."""
    with Simulator() as simulator:
        if isinstance(scenario, Scenario):
            return simulator.play(scenario)
        return simulator.play(Scenario.from_mapping(scenario, "x"))


def refusal(content: Mapping[str, Any] | Path, folder: str | Path = "") -> str:
    """What is said of contents, as those of s.yaml, or of a file."""

    def read() -> None:
        if isinstance(content, Path):
            Scenario.load(content)
        else:
            Scenario.from_mapping(content, "s.yaml", folder)

    with pytest.raises(ScenarioError) as caught:
        read()
    return str(caught.value)
