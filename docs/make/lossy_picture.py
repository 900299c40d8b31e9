# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws what losses cost by either recovery: a flow on a corrupt link, an incast by buffer.

python docs/make/lossy_picture.py    writes docs/images/lossy.png
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from pictures import IMAGES

from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.metrics import measure
from ns3_env.eval.output.plots import OTHERS, Style
from ns3_env.eval.papers.panels import MODEL, finished, panels
from ns3_env.scenario import Controller, Scenario, Switch
from ns3_env.scenario.reliability import Corruption, GoBackN, Recovery, SelectiveRepeat
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator.pool import LocalPool, Play
from ns3_env.simulator.results import Results

RECOVERIES: dict[str, Recovery] = {
    "go-back-N": GoBackN(),
    "selective repeat": SelectiveRepeat(),
    "selective, no cap": SelectiveRepeat(bdp_cap=None),
}
LOOKS = {
    "go-back-N": Style(OTHERS[0], "-", "o"),
    "selective repeat": Style(OTHERS[1], "-", "s"),
    "selective, no cap": Style(OTHERS[2], "-", "^"),
    "go-back-N, PFC": Style(OTHERS[0], ":", "o"),
    "selective, PFC": Style(OTHERS[1], ":", "s"),
}
RATES = np.logspace(-5.5, -2, 8)
FLOW_BYTES, SEEDS = 50_000_000, range(1, 6)
BUFFERS = {"300kB": 0.3, "1MB": 1.0, "4MB": 4.0}
SHORT = {"gbn": "go-back-N", "irn": "selective repeat"}


def corrupt(recovery: Recovery, rate: float, seed: int) -> Scenario:
    """One flow without a window, over a link that corrupts data packets alone."""
    return Scenario(
        seed=seed,
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
    """The time that the flow takes alone, over what it took."""
    flows = results["flows"]
    return float(flows["standalone_ns"][0] / flows["fct_ns"][0])


def slowdown(results: Results) -> float:
    return measure(results, ("fct_slowdown_avg",))["fct_slowdown_avg"]


def means(
    pool: LocalPool, scenarios: Iterable[Callable[[int], Scenario]], keep: Callable[[Results], float]
) -> list[float]:
    """A number of each scenario, the mean over the seeds."""
    running = [[pool.submit(Play(make(seed), keep)) for seed in SEEDS] for make in scenarios]
    return [float(np.mean([one.result() for one in several])) for several in running]


def draw_corruption(axes: Axes, pool: LocalPool) -> None:
    for name, recovery in RECOVERIES.items():
        shares = means(pool, (partial(corrupt, recovery, rate) for rate in RATES), share_of_link)
        axes.plot(RATES, shares, label=name, **LOOKS[name].of_line, marker=LOOKS[name].marker, markersize=4)
    # a loss is heard of a base RTT (6.24 µs) and a packet later, in which 75.4 packets leave, all in vain
    axes.plot(
        RATES, 1 / (1 + RATES * (6240 / 83.84 + 1)), color=MODEL.colour, linestyle=MODEL.line, linewidth=1
    )
    axes.set(
        xscale="log", ylim=(0, 1.05), xlabel="share of packets corrupted", ylabel="share of the link's rate"
    )


def draw_incast(axes: Axes, pool: LocalPool) -> None:
    suite = Suite.load("lossy")
    scenarios = {entry.name: entry.scenario.under("dcqcn") for entry in suite.scenarios}
    cases = {
        **{SHORT[short]: [f"incast-{buffer}-{short}" for buffer in BUFFERS] for short in SHORT},
        **{f"{SHORT[short].removesuffix(' repeat')}, PFC": [f"incast-4MB-pfc-{short}"] for short in SHORT},
    }
    for name, own in cases.items():
        slowdowns, look = means(pool, (scenarios[one].with_seed for one in own), slowdown), LOOKS[name]
        if len(slowdowns) == 1:
            axes.axhline(slowdowns[0], color=look.colour, linestyle=look.line, linewidth=1.4, label=name)
        else:
            sizes = list(BUFFERS.values())
            axes.plot(sizes, slowdowns, **look.of_line, marker=look.marker, markersize=4, label=name)
    axes.set(xscale="log", ylim=(0, 80), xlabel="buffer of a switch (MB)", ylabel="mean slowdown")
    axes.set_xticks(list(BUFFERS.values()), ["0.3", "1", "4"])
    axes.minorticks_off()


def main() -> None:
    figure, (left, right) = panels(
        ["one flow, one corrupt link, 100 Gb/s", "30-to-1, 500 kB each, DCQCN, 100 Gb/s"], 2, 3.2
    )
    with LocalPool() as pool:
        draw_corruption(left, pool)
        draw_incast(right, pool)
    for name in ("go-back-N, PFC", "selective, PFC"):  # the legend is that of the left
        left.plot([], [], color=LOOKS[name].colour, linestyle=LOOKS[name].line, linewidth=1.4, label=name)
    (IMAGES / "lossy.png").write_bytes(finished(figure, left))


if __name__ == "__main__":
    main()
