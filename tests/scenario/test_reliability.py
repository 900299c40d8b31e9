# SPDX-License-Identifier: GPL-2.0-or-later
"""The keys recovery, corruption and nic: their meaning, and errors on invalid values."""

from __future__ import annotations

from typing import Any

from ns3_env.config.yaml import parse
from ns3_env.scenario import Scenario

SMALL = {"topology": {"kind": "dumbbell", "senders": 2}, "traffic": {"kind": "incast", "size_bytes": 20_000}}


def read(text: str, **more: Any) -> Scenario:
    return Scenario.from_mapping({**SMALL, **parse(text), **more}, "s.yaml")


def test_what_is_off_is_not_written() -> None:
    plain = read("seed: 1").to_simulator_json()
    off = "recovery: go_back_n\ncorruption: []\nnic: {cnp_delay_ns: 0, ack_delay_ns: 0, ack_every: 1}"
    assert read(off).to_simulator_json() == plain
    assert not plain.keys() & {"selective_repeat", "nic"}
    assert plain["loss"] == {"probability": 0.0}
    assert "reordering" not in plain["record"]


def test_a_name_stands_for_all_defaults_and_units_are_read() -> None:
    short_form, spelled = read("recovery: selective_repeat"), read("recovery: {kind: selective_repeat}")
    assert short_form.to_simulator_json() == spelled.to_simulator_json()
    content = short_form.to_simulator_json()
    assert content["selective_repeat"] == {
        "rto_low_ns": 100_000,
        "rto_low_packets": 3,
        "bdp_cap": 1.0,
        "reorder_packets": 0,
    }
    assert content["record"]["reordering"] is True
    yaml_text = (
        "recovery: {kind: selective_repeat, rto_low_ns: 40us, bdp_cap: null}\nnic: {cnp_delay_ns: 55us}"
    )
    content = read(yaml_text).to_simulator_json()
    assert content["selective_repeat"]["rto_low_ns"] == 40_000
    assert content["selective_repeat"]["bdp_cap"] is None
    assert content["nic"] == {"cnp_delay_ns": 55_000, "ack_delay_ns": 0, "ack_every": 1}


def test_the_last_that_names_a_link_counts_in_each_direction() -> None:
    rows = read(
        "corruption: [{link: all, packet_rate: 0.1}, {link: [0, 3], bit_error_rate: 1e-9}, "
        "{link: [3, 0], towards: 0, packet_rate: 0.5}]"
    ).to_simulator_json()["loss"]["links"]
    loss_rates = {(row["from"], row["to"]): (row["packet_rate"], row["bit_error_rate"]) for row in rows}
    assert len(loss_rates) == len(rows) == 8  # four links
    assert loss_rates.pop((0, 3)) == (0.0, 1e-9)
    assert loss_rates.pop((3, 0)) == (0.5, 0.0)
    assert set(loss_rates.values()) == {(0.1, 0.0)}
