# SPDX-License-Identifier: GPL-2.0-or-later
"""Presets of controllers' parameters: their own papers', or the published simulator's."""

from __future__ import annotations

import pytest

from ns3_env.errors import ScenarioError
from ns3_env.eval.episodes.entry import Entry
from ns3_env.scenario import Scenario
from ns3_env.scenario.parameters import PAPER
from ns3_env.simulator import default_attributes

NETWORK = {"topology": {"kind": "dumbbell", "senders": 2}, "traffic": {"kind": "incast"}}


def test_a_preset_stands_for_attributes_and_a_files_own_take_their_place() -> None:
    written = {"name": "dcqcn", "parameters": "paper", "attributes": {"FastRecoveryStages": 3}}
    scenario = Scenario.from_mapping({**NETWORK, "controllers": [written]}, "x.yaml")
    assert scenario.controllers[0].attributes == {**PAPER["dcqcn"], "FastRecoveryStages": 3}
    entry = Entry.model_validate({"name": "mine", "controller": "hpcc", "parameters": "paper"})
    assert entry.attributes == PAPER["hpcc"]
    published = Entry.model_validate({"name": "mine", "controller": "hpcc", "parameters": "published"})
    assert published.attributes == {}


@pytest.mark.parametrize("controller", PAPER)
def test_presets_name_attributes_that_the_controller_has(controller: str) -> None:
    assert set(PAPER[controller]) <= set(default_attributes(controller))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"name": "mpcc", "parameters": "paper"}, "'mpcc' has no 'paper'; those that have: dcqcn"),
        ({"name": "hpcc", "parameters": "thesis"}, "must be published or paper"),
    ],
)
def test_a_preset_that_there_is_not_is_refused(written: dict[str, str], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        Scenario.from_mapping({**NETWORK, "controllers": [written]}, "x.yaml")
