# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws what losses cost by either recovery: a flow on a corrupt link, an incast by buffer.

python docs/make/lossy_picture.py    writes docs/images/lossy.png
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from pictures import IMAGES

from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.metrics import measure
from ns3_env.eval.output.plots import OTHERS, Style
from ns3_env.eval.papers.experiment import in_parallel
from ns3_env.eval.papers.panels import MODEL, Drawing, Panel
from ns3_env.scenario import Controller, Scenario, Switch
from ns3_env.scenario.reliability import Corruption, GoBackN, Recovery, SelectiveRepeat
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator.results import Results

RECOVERIES: dict[str, Recovery] = {
    "go-back-N": GoBackN(),
    "selective repeat": SelectiveRepeat(),
    "selective, no cap": SelectiveRepeat(bdp_cap=None),
}
LOOKS = {
    name: {**Style(OTHERS[number], "-", marker).of_points, "markersize": 4}
    for number, (name, marker) in enumerate(zip(RECOVERIES, "os^", strict=True))
}
#: With PFC, from the suite's names.
PAUSED = {
    name: {"color": OTHERS[number], "linestyle": ":", "linewidth": 1.4}
    for number, name in enumerate(("go-back-N, PFC", "selective, PFC"))
}
RATES = np.logspace(-5.5, -2, 8)
FLOW_BYTES, SEEDS = 50_000_000, range(1, 6)
BUFFERS = {"300kB": 0.3, "1MB": 1.0, "4MB": 4.0}
#: Recoveries as the suite's scenarios call them.
SHORT = ("gbn", "irn")


def corrupt(recovery: Recovery, rate: float) -> Scenario:
    """One flow without a window, over a link that corrupts only data packets."""
    return Scenario(
        time_limit_ns=4_000_000_000,
        topology=Dumbbell(senders=1),
        traffic=Incast(size_bytes=FLOW_BYTES),
        switch=Switch(pfc=False),
        retransmission_timeout_ns=320_000,
        corruption=[Corruption(link=(2, 3), towards=3, packet_rate=rate)],
        recovery=recovery,
        controllers=[Controller(name="fixed-window")],
    )


def share_of_link(results: Results) -> float:
    """The flow's time on an idle path, over its time here."""
    flows = results["flows"]
    return float(flows["standalone_ns"][0] / flows["fct_ns"][0])


def slowdown(results: Results) -> float:
    return measure(results, ("fct_slowdown_avg",))["fct_slowdown_avg"]


def means(cases: Mapping[Any, Scenario], keep: Callable[[Results], float]) -> dict[Any, float]:
    """A number of each case, the mean over the seeds."""
    every = {(case, seed): one.with_seed(seed) for case, one in cases.items() for seed in SEEDS}
    values = in_parallel(every, keep, lambda text: None)
    return {case: float(np.mean([values[case, seed] for seed in SEEDS])) for case in cases}


def corruption() -> Panel:
    """Shares of the link by the rate of corruption; its legend is that of both panels."""
    flows = {(name, rate): corrupt(how, rate) for name, how in RECOVERIES.items() for rate in RATES}
    shares = means(flows, share_of_link)
    curves = [(RATES, [shares[name, rate] for rate in RATES], name, look) for name, look in LOOKS.items()]
    # a loss is heard of a base RTT (6.24 µs) and a packet later, in which 75.4 packets leave, all in vain
    model = {"color": MODEL.colour, "linestyle": MODEL.line, "linewidth": 1}
    curves.append((RATES, 1 / (1 + RATES * (6240 / 83.84 + 1)), None, model))
    curves += [([], [], name, look) for name, look in PAUSED.items()]
    axes = {"xlabel": "share of packets corrupted", "ylabel": "share of the link's rate"}
    limits = {"xscale": "log", "ylim": (0, 1.05)}
    return Panel("one flow, one corrupt link, 100 Gb/s", curves, {**axes, **limits})


def incast() -> Panel:
    """Mean slowdowns by buffer."""
    scenarios = {one.name: one.scenario.under("dcqcn") for one in Suite.load("lossy").scenarios}
    names = [f"incast-{buffer}-{short}" for short in SHORT for buffer in (*BUFFERS, "4MB-pfc")]
    values = means({name: scenarios[name] for name in names}, slowdown)
    sizes = list(BUFFERS.values())
    curves = [
        (sizes, [values[f"incast-{buffer}-{short}"] for buffer in BUFFERS], name, look)
        for short, (name, look) in zip(SHORT, LOOKS.items(), strict=False)
    ]
    levels = [
        (values[f"incast-4MB-pfc-{short}"], name, look)
        for short, (name, look) in zip(SHORT, PAUSED.items(), strict=True)
    ]
    return Panel(
        "30-to-1, 500 kB each, DCQCN, 100 Gb/s",
        curves,
        {"xscale": "log", "ylim": (0, 80), "xlabel": "buffer of a switch (MB)", "ylabel": "mean slowdown"},
        levels,
        (sizes, ["0.3", "1", "4"], {}),
        more=lambda axes: axes.minorticks_off(),
    )


if __name__ == "__main__":
    (IMAGES / "lossy.png").write_bytes(Drawing([corruption(), incast()], height=3.2).png())
