# SPDX-License-Identifier: GPL-2.0-or-later
"""Small good scenarios to be damaged; ``python -m tests.fuzz.corpus FOLDER`` writes them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ns3_env.scenario import AGENT, Controller, Ecn, PerAck, PerFlowRtt, Record, Scenario, Switch, Synchronous
from ns3_env.scenario.tcp_queue import Tcp
from ns3_env.scenario.topology import Dumbbell, FatTree2, ParkingLot
from ns3_env.scenario.traffic import ConstantRate, Incast, Joining, LongShort, Mix
from ns3_env.simulator import default_attributes, list_controllers
from tests.samples.policy_files import needed_attributes


def scenarios() -> Iterator[tuple[str, Scenario]]:
    """Small ones: every controller with all its attributes, kinds of topology, clock, traffic and record."""
    small = Incast(flows=3, size_bytes=20_000, spread_ns=1000)
    for name in list_controllers():
        if name != AGENT:
            controller = Controller(
                name=name, attributes={**default_attributes(name), **needed_attributes(name)}
            )
            yield name, Scenario(topology=Dumbbell(senders=3), traffic=small, controllers=[controller])
    dcqcn = [Controller(name="dcqcn")]
    joining = Joining(sizes_bytes=[20_000, 10_000])
    yield "parking-lot", Scenario(topology=ParkingLot(), traffic=joining, controllers=dcqcn)
    all_recorded = {"windows": True, "events": True, "controller_state": True, "controller_counters": True}
    published = Scenario(
        preset="published",
        topology=FatTree2(access=2, aggregation=2, hosts_per_access=2),
        traffic=LongShort(long_bytes=50_000, short_bytes=20_000),
        controllers=dcqcn,
        switch=Switch(ecn=Ecn(), flow_counter="timeout", pfc=False),
        loss_probability=0.01,
        min_rate_bps=1e7,
        record=Record.model_validate({"queue_series_ns": 1000, **all_recorded}),
    )
    yield "fat-tree", published
    parts: list[Any] = [
        LongShort(long_bytes="endless", short_bytes=20_000, short_start_ns=2000),
        ConstantRate(src=1, dst=3, rate_bps=2e10),
        ConstantRate(src=2, dst=3, rate_bps=9e10, start_ns=1000, stop_ns=8000),
    ]
    yield "streams", Scenario(topology=Dumbbell(senders=3), traffic=Mix(parts=parts), controllers=dcqcn)
    queues = {"dctcp": {"limit": "60 packets", "marking": {"threshold": "20 packets"}}, "cubic": {}}
    slow = Dumbbell(senders=3, rate_bps=1e10)
    for name, queue in queues.items():
        tcp = Tcp.model_validate({"queue": queue, "min_rto_ns": "5ms", "delayed_ack_timeout_ns": "500us"})
        keys: dict[str, Any] = {"transport": "tcp", "controllers": [Controller(name=name)], "tcp": tcp}
        yield f"tcp-{name}", Scenario(topology=slow, traffic=small, **keys)
    eight = Incast(flows=8, size_bytes=20_000, spread_ns=1000)
    agent = [Controller(name=AGENT)]
    clocks = {"agent": PerFlowRtt(), "agent-per-ack": PerAck(), "agent-synchronous": Synchronous()}
    for name, clock in clocks.items():
        yield name, Scenario(traffic=eight, topology=Dumbbell(senders=8), controllers=agent, clock=clock)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, scenario in scenarios():
        content: dict[str, Any] = {"min_rate_bps": None, **scenario.to_simulator_json()}
        (folder / f"{name}.json").write_text(json.dumps(content))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
