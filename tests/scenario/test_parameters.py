# SPDX-License-Identifier: GPL-2.0-or-later
"""Presets of controllers' parameters: their own papers', or the published simulator's."""

from __future__ import annotations

import pytest

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


#: Each number that a paper prints, by the attribute that has it.
PRINTED = {
    "dcqcn": {  # Zhu 2015: sec. 3 (N, K, F, B, T), sec. 5 (marking, R_AI at 40 Gb/s)
        "DecreaseInterval": "50us",
        "AlphaInterval": "55us",
        "IncreaseInterval": "55us",
        "ByteCounter": 10e6,
        "FastRecoveryStages": 5,
        "AdditiveIncrease": 40e6 / 40e9,
        "Kmin": 5e3,
        "Kmax": 200e3,
        "Pmax": 0.01,
        "MarkingRate": 40e9,
        "KeepTarget": False,
    },
    "timely": {"HyperBelowLow": False},  # Mittal 2015, Algorithm 1
    "hpcc": {"MaxStage": 5, "AdditiveIncrease": pytest.approx(80 * 8 / 13e-6 / 100e9, rel=0.01)},
    "dctcp": {"PacketIncrease": True},  # Alizadeh 2010, sec. 3
}


@pytest.mark.parametrize("controller", PAPER)
def test_the_papers_numbers_are_printed_ones(controller: str) -> None:
    assert PAPER[controller] == PRINTED[controller]


def test_switches_mark_by_the_thresholds_of_the_paper() -> None:
    paper = {"name": "dcqcn", "parameters": "paper"}
    scenario = Scenario.from_mapping({**NETWORK, "controllers": [paper]}, "x.yaml")
    ecn = scenario.to_simulator_json()["switch"]["ecn"]
    assert (ecn["kmin_bytes"], ecn["kmax_bytes"], ecn["pmax"], ecn["at_rate_bps"]) == (5e3, 200e3, 0.01, 40e9)
