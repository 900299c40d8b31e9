# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws where the policy courier loses: telemetry on small flows, the end of a burst's flows.

Needs the extra report.

python docs/make/courier_picture.py    writes docs/images/where-courier-lost.png
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ns3_env.eval.output.plots import settings
from ns3_env.policies.released import named_controller
from ns3_env.scenario import Controller, Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats, flow_column

OUT = Path(__file__).parents[1] / "images" / "where-courier-lost.png"
SEEDS = (1, 2, 3)
#: Of a host's link where sizes are told in BDPs.
RATE_BPS = 100e9
LEAVES = {"kind": "leaf_spine", "leaves": 4, "spines": 2, "hosts_per_leaf": 6}
RPCS: dict[str, Any] = {
    "time_limit_ns": "1s",
    "topology": {**LEAVES, "rate_bps": "50Gbps", "uplink_bps": "150Gbps"},
    "traffic": {"kind": "poisson", "load": 0.5, "duration_ns": "1ms"},
}
RPC_SIZES = [[300, 0], [2000, 60], [8000, 92], [30000, 100]]
BURSTS: dict[str, Any] = {
    "time_limit_ns": "1s",
    "topology": {"kind": "fat_tree_3"},
    "traffic": {
        "kind": "mix",
        "parts": [
            {"kind": "poisson", "sizes": "websearch", "load": 0.3, "duration_ns": "2ms"},
            {
                "kind": "poisson_incast",
                "fan_in": 14,
                "size_bytes": "60kB",
                "load": 0.06,
                "duration_ns": "2ms",
            },
        ],
    },
}
#: Bytes of telemetry: of the rules that are named, and of courier with another number of them.
RULES = {"dctcp": 0, "hpcc-pint": 1, "swift": 8, "hpcc": 42}
COURIER = (0, 1, 8, 18, 42)
SHOWN = {
    "courier": ("#0072B2", "o"),
    "dctcp": ("#E69F00", "s"),
    "hpcc-pint": ("#009E73", "^"),
    "mpcc": ("#CC79A7", "v"),
    "oracle": ("#777777", "x"),
}
#: Ends of the classes of sizes, in BDPs of a flow's own path.
CLASSES = (0.0, 0.1, 0.5, 1.0, 1.5, 3.0, 10.0, 1e9)


def played(simulator: Simulator, keys: dict[str, Any], who: Controller) -> tuple[Floats, Floats]:
    """Slowdowns, and sizes in BDPs of the flows' own paths at RATE_BPS; all seeds together."""
    slowdowns, sizes = [], []
    for seed in SEEDS:
        scenario = Scenario.from_mapping(keys, "picture").with_seed(seed)
        results = simulator.play(scenario.under(who.name, who.attributes))
        slowdowns.append(flow_column(results, "fct_ns") / flow_column(results, "standalone_ns"))
        sizes.append(
            flow_column(results, "size_bytes") * 8e9 / (RATE_BPS * flow_column(results, "base_rtt_ns"))
        )
    return np.concatenate(slowdowns), np.concatenate(sizes)


def bytes_of_telemetry(axes: Axes, simulator: Simulator) -> None:
    """Mean slowdown of small RPCs over bytes on the wire."""
    keys = {**RPCS, "traffic": {**RPCS["traffic"], "sizes": RPC_SIZES}}
    courier = named_controller("courier")
    line = []
    for carried in COURIER:
        who = Controller(name=courier.name, attributes={**courier.attributes, "TelemetryBytes": carried})
        line.append(played(simulator, keys, who)[0].mean())
    axes.plot(COURIER, line, "o-", color=SHOWN["courier"][0], label="courier, with so many")
    for name, carried in RULES.items():
        mean = played(simulator, keys, Controller(name=name))[0].mean()
        axes.plot(carried, mean, "s", color="#E69F00")
        beside = (0, 8) if carried == 1 else (4, -10)
        axes.annotate(name, (carried, mean), xytext=beside, textcoords="offset points", fontsize=8)
    axes.set_ylim(1.25, 1.335)
    axes.set(xlabel="telemetry of a packet (B)", ylabel="mean FCT slowdown", title="Small RPCs, 50 % load")
    axes.legend(loc="upper left")


def by_size(axes: Axes, simulator: Simulator) -> None:
    """Mean slowdown over size where bursts meet a workload."""
    names = [f"{a:g}-{b:g}" if b < 1e9 else f"> {a:g}" for a, b in pairwise(CLASSES)]
    for name, (colour, marker) in SHOWN.items():
        slowdowns, sizes = played(simulator, BURSTS, named_controller(name))
        means = [slowdowns[(sizes > a) & (sizes <= b)].mean() for a, b in pairwise(CLASSES)]
        axes.plot(names, means, marker=marker, color=colour, label=f"{name}: mean {slowdowns.mean():.2f}")
    axes.set(xlabel="size (BDPs of its path)", ylabel="mean FCT slowdown")
    axes.set(title="14-to-1 of 60 kB amid WebSearch", ylim=(0, 17))
    axes.tick_params(axis="x", labelrotation=30)
    axes.legend(ncols=2, fontsize=7, loc="upper right")


def main() -> None:
    """Writes the picture."""
    matplotlib.use("agg")
    with matplotlib.rc_context(settings()), Simulator() as simulator:
        figure = Figure(figsize=(8.4, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        bytes_of_telemetry(left, simulator)
        by_size(right, simulator)
        figure.savefig(OUT, dpi=130)


if __name__ == "__main__":
    main()
