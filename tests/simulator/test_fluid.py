# SPDX-License-Identifier: GPL-2.0-or-later
"""Fluid references as scenarios name them: max_min over either transport, oracle over TCP."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env.errors import ScenarioError
from ns3_env.programs.executable import references
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator

#: Transport and reference.
FLUIDS = [("rdma", "max_min"), ("tcp", "max_min"), ("tcp", "oracle")]
RATE_BPS = 10e9
#: Payload of a packet, and its bytes on the wire.
PACKETS = {"rdma": (1000, 1048), "tcp": (1460, 1502)}

fluids = pytest.mark.parametrize(("transport", "reference"), FLUIDS)


def scenario(transport: str, reference: str, flows: list[dict[str, Any]], **others: Any) -> Scenario:
    keys = {
        "transport": transport,
        "time_limit_ns": "1s",
        "topology": {"kind": "dumbbell", "senders": 3, "rate_bps": RATE_BPS},
        "traffic": {"kind": "list", "flows": flows},
        "controllers": [reference],
    }
    return Scenario.from_mapping({**keys, **others}, "my.yaml")


def sent_by(host: int, size_bytes: int | str, start_ns: int = 0) -> dict[str, Any]:
    return {"src": host, "dst": 3, "size_bytes": size_bytes, "start_ns": start_ns}


def time_ns(transport: str, size_bytes: float) -> float:
    """Time that the bottleneck needs for this payload."""
    payload, wire = PACKETS[transport]
    return size_bytes * wire / payload * 8e9 / RATE_BPS


@fluids
def test_flows_are_as_late_as_by_hand(simulator: Simulator, transport: str, reference: str) -> None:
    """With equal shares, flows end when the link has carried 6, 5 and 3 MB; shortest first: 6, 3 and 1 MB."""
    assert reference in references(transport)  # type: ignore[arg-type]
    sent = [sent_by(0, 3_000_000), sent_by(1, 2_000_000), sent_by(2, 1_000_000)]
    flows = simulator.play(scenario(transport, reference, sent))["flows"]
    late = np.subtract(flows["fct_ns"], flows["standalone_ns"])
    others_bytes = (3e6, 3e6, 2e6) if reference == "max_min" else (3e6, 1e6, 0)
    assert late == pytest.approx([time_ns(transport, x) for x in others_bytes], rel=1e-9, abs=2e-3)


@fluids
def test_a_load_is_conserved_and_no_flow_is_faster_than_alone(
    simulator: Simulator, transport: str, reference: str
) -> None:
    traffic = {"kind": "poisson", "sizes": "websearch", "load": 0.8, "duration_ns": "2ms"}
    topology = {"kind": "fat_tree_3"}
    fluid_scenario = scenario(
        transport, reference, [], traffic=traffic, topology=topology, time_limit_ns="2ms"
    )
    results = simulator.play(fluid_scenario)
    flows, totals = results["flows"], results["totals"]
    done = np.array(flows["fct_ns"]) >= 0
    assert 0 < totals["unfinished"] < len(done)
    assert (np.array(flows["fct_ns"])[done] >= np.array(flows["standalone_ns"])[done]).all()
    assert (
        totals["delivered_payload_bytes"] == totals["transmitted_payload_bytes"] == sum(flows["acked_bytes"])
    )
    at_hosts = sum(port["tx_bytes"] for port in results["queues"] if port["peer"] < 16)
    payload, wire = PACKETS[transport]
    assert at_hosts * payload / wire == pytest.approx(sum(flows["acked_bytes"]), rel=1e-6)
    assert {port["max_bytes"] for port in results["queues"]} == {0}
    assert results["losses"] == []


@fluids
def test_rates_are_recorded_as_other_controllers_are(
    simulator: Simulator, transport: str, reference: str
) -> None:
    sent = [sent_by(0, 2_000_000), sent_by(1, 1_000_000)]
    fluid_scenario = scenario(transport, reference, sent, record={"windows": True})
    rates = [[flow, rate / RATE_BPS] for _, flow, _, rate in simulator.play(fluid_scenario)["windows"]]
    if reference == "max_min":
        assert rates == [[0, 0.5], [1, 0.5], [1, 0], [0, 1], [0, 0]]
    else:
        assert sorted(rates[:2]) == [[0, 0], [1, 1]]
        assert rates[2:] == [[1, 0], [0, 1], [0, 0]]


@fluids
def test_a_window_of_measurement_counts_what_passes_in_it(
    simulator: Simulator, transport: str, reference: str
) -> None:
    window = {"warm_up_ns": 1_000_000, "end_ns": 2_000_000}
    sent = [sent_by(0, "endless"), sent_by(1, "endless")]
    fluid_scenario = scenario(transport, reference, sent, measurement=window, time_limit_ns="3ms")
    results = simulator.play(fluid_scenario)
    carried = 1e6 / time_ns(transport, 1)
    first = 0.5 if reference == "max_min" else 1
    received_bytes = results["measurement"]["received_bytes"]
    assert received_bytes == pytest.approx([carried * first, carried * (1 - first)], abs=1)


@pytest.mark.parametrize(("transport", "other"), [("rdma", "hpcc"), ("tcp", "cubic")])
def test_flows_under_others_are_refused(simulator: Simulator, transport: str, other: str) -> None:
    content = scenario(transport, "max_min", [sent_by(0, 1000), sent_by(1, 1000)]).to_simulator_json()
    content["controllers"].append({"name": other, "attributes": {}})
    content["flows"]["controller"][1] = 1
    with pytest.raises(ScenarioError, match=f"'max_min' is a reference .* some are under '{other}'"):
        simulator.play(content)


@pytest.mark.parametrize(
    ("transport", "controller", "other"), [("rdma", "max_min", "hpcc"), ("tcp", "oracle", "bbr")]
)
def test_they_have_all_flows_those_of_the_traffics_own_controllers_too(
    simulator: Simulator, transport: str, controller: str, other: str
) -> None:
    sent = [sent_by(0, 100_000), {**sent_by(1, 100_000), "controller": other}]
    mixed = scenario(transport, other, sent)
    flows = simulator.play(mixed.under(controller))["flows"]
    assert (
        flows
        == simulator.play(scenario(transport, controller, [sent_by(0, 100_000), sent_by(1, 100_000)]))[
            "flows"
        ]
    )
