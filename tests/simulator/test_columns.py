# SPDX-License-Identifier: GPL-2.0-or-later
"""Windows and queue series have the same content as arrays and as lists."""

from __future__ import annotations

import numpy as np
import pytest

from ns3_env.scenario import Record, Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Windows, results_with_columns


def recorded(controller: str, transport: str = "rdma") -> Scenario:
    keys = {
        "transport": transport,
        "topology": {"kind": "dumbbell", "senders": 3},
        "traffic": {"kind": "incast", "size_bytes": 200_000, "spread_ns": 5_000},
        "controllers": [{"name": controller}],
        "record": {"windows": True, "queue_series_ns": 700},
        "seed": 3,
    }
    return Scenario.from_mapping(keys, "columns")


@pytest.mark.parametrize(("controller", "transport"), [("hpcc", "rdma"), ("swift", "rdma"), ("cubic", "tcp")])
def test_columns_are_the_rows(simulator: Simulator, controller: str, transport: str) -> None:
    scenario = recorded(controller, transport)
    rows, columns = simulator.play(scenario), simulator.play(scenario, columns=True)
    for one, other in zip(Windows.of(rows), Windows.of(columns), strict=True):
        assert len(one) > 10
        assert (one == other).all()
    for one, other in zip(rows["queues"], columns["queues"], strict=True):
        for name in ("t_ns", "bytes"):
            assert (np.array(one["series"][name]) == other["series"][name]).all()
        assert {**one, "series": None} == {**other, "series": None}
    rest = {key: value for key, value in rows.items() if key not in ("windows", "queues")}
    assert rest == {key: columns[key] for key in rest}


def test_what_records_nothing_has_no_columns(simulator: Simulator) -> None:
    scenario = recorded("hpcc").model_copy(update={"record": Record()})
    assert simulator.play(scenario, columns=True) == simulator.play(scenario)


@pytest.mark.parametrize("blob", [b"{}", b"[]\0\0\0\0\0\0", b'{"queues": [], "windows": 3}\0\0\0\0'])
def test_what_are_no_columns_is_refused(blob: bytes) -> None:
    with pytest.raises(ValueError, match=r"columns|numbers|unpack|buffer|size"):
        results_with_columns(blob)
