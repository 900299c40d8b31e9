# SPDX-License-Identifier: GPL-2.0-or-later
"""Small parts of scenarios, and the errors of invalid ones."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results, endless

INCAST = {"kind": "incast", "size_bytes": 1000}


def results_of(scenario: Scenario | Mapping[str, Any]) -> dict[str, Any]:
    """Results of a scenario, or of its contents, in a new simulator."""
    with Simulator() as simulator:
        if isinstance(scenario, Scenario):
            return simulator.play(scenario)
        return simulator.play(Scenario.from_mapping(scenario, "x"))


def refusal(content: Mapping[str, Any] | Path, folder: str | Path = "") -> str:
    """The error message on contents, as those of s.yaml, or on a file."""

    def read() -> None:
        if isinstance(content, Path):
            Scenario.load(content)
        else:
            Scenario.from_mapping(content, "s.yaml", folder)

    with pytest.raises(ScenarioError) as caught:
        read()
    return str(caught.value)


def conserved(results: Results) -> None:
    """Checks that each sent byte was delivered, was lost at a port by a cause, or is in flight."""
    totals, flows = results["totals"], results["flows"]
    lost = sum(row["payload_bytes"] for row in results["losses"])
    on_the_way = totals["transmitted_payload_bytes"] - totals["delivered_payload_bytes"] - lost
    assert 0 <= on_the_way <= 1000 * totals["packets_left"]
    assert lost == totals["dropped_payload_bytes"]
    assert sum(row["packets"] for row in results["losses"]) == totals["dropped_packets"]
    columns = (flows[name] for name in ("size_bytes", "acked_bytes", "fct_ns"))
    for never, size, acked, fct in zip(endless(results), *columns, strict=True):
        assert never or (acked == size if fct >= 0 else acked < size)
    streams = results.get("streams", {})
    sums = (streams.get(f"{name}_bytes", ()) for name in ("sent", "received", "lost"))
    for sent, received, dropped in zip(*sums, strict=True):
        assert min(sent, received, dropped) >= 0
        assert 0 <= sent - received - dropped <= on_the_way
