# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws a picture of each task: its network, and an episode under two controllers.

python docs/make/task_pictures.py [TASK...]    writes docs/images/tasks/*.png
"""

from __future__ import annotations

import sys
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import BLUE, save
from PIL import Image

from ns3_env.eval.episodes.flow_series import draw_flow_series
from ns3_env.eval.episodes.recording import recorded
from ns3_env.eval.film.layout import places
from ns3_env.eval.output.multiples import band
from ns3_env.eval.output.plots import settings, time_unit
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Network
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import bottleneck
from ns3_env.tasks import TASKS, TaskSpec, task

PALETTE = {"colors": 128, "method": Image.Quantize.MAXCOVERAGE, "dither": Image.Dither.NONE}
#: Controllers shown, if other than DCQCN and HPCC.
SHOWN = {"Layer2": ("qcn", "smcc"), "Tcp": ("newreno", "dctcp"), "Variable": ("cubic", "vegas")}


def through_nodes(network: Network) -> list[tuple[int, int]]:
    """Switches of nodes with several GPUs, each with each card that its GPUs have in the fabric."""
    pairs = [(network.access_switch(host), card) for host, own in network.cards.items() for card in own[1:]]
    return list(dict.fromkeys(pairs))


def draw_network(axes: Axes, scenario: Scenario) -> None:
    """As a film places it; links the wider the faster, hosts that receive orange."""
    network = scenario.topology.build()
    at, most = places(network), max(link.rate_bps for link in network.links)
    for link in network.links:
        (x, y), (u, v) = at[link.a], at[link.b]
        axes.plot([x, u], [y, v], color="#999999", linewidth=0.5 + 1.2 * link.rate_bps / most, zorder=1)
    for a, b in through_nodes(network):
        axes.plot([at[a][0], at[b][0]], [at[a][1], at[b][1]], ":", color="#999999", linewidth=0.7, zorder=1)
    receivers = set(scenario.flows().dst)
    for node, (x, y) in enumerate(at):
        switch = network.nodes[node] == "switch"
        colour = "#444444" if switch else "#E69F00" if node in receivers else "#56B4E9"
        axes.scatter([x], [y], s=46 if switch else 18, marker="s" if switch else "o", color=colour, zorder=2)
    axes.invert_yaxis()
    axes.set_axis_off()


def draw_episode(above: Axes, below: Axes, results: dict[str, Any]) -> None:
    """Rates, or windows if no controller paces, over the longest queue."""
    end = float(results["totals"]["end_ns"])
    unit, name = time_unit(1e6)  # of both controllers
    windows = np.asarray(results["windows"], dtype=np.float64).reshape(-1, 4)
    column, scale, text = (2, 1e3, "windows (kB)") if "rtt" in results else (3, 1e9, "rates (Gb/s)")
    draw_flow_series(above, results, windows, column, scale, end, unit)
    above.set(ylabel=text)
    above.tick_params(labelbottom=False)
    port = bottleneck(results)
    assert port is not None
    times, lengths = (np.asarray(port["series"][key], dtype=np.float64) for key in ("t_ns", "bytes"))
    band(below, times / unit, lengths / 1e3, BLUE, bins=300)
    below.set(ylabel="queue (kB)", xlabel=f"time ({name})")
    for axes in (above, below):
        axes.set_xlim(0, end / unit)
        axes.grid(alpha=0.3, linewidth=0.6)


def align(one: Axes, other: Axes) -> None:
    """Both on the same axes."""
    if "log" in (one.get_yscale(), other.get_yscale()):
        one.set_yscale("log")
        other.set_yscale("log")
    logarithmic = one.get_yscale() == "log"
    least = max(0.5, min(axes.get_ylim()[0] for axes in (one, other))) if logarithmic else 0.0
    limits = least, max(axes.get_ylim()[1] for axes in (one, other))
    last = max(one.get_xlim()[1], other.get_xlim()[1])
    for axes in (one, other):
        axes.set(ylim=limits, xlim=(0, last))


def draw(spec: TaskSpec) -> Figure:
    """The picture of test scenario 0."""
    scenario = recorded(spec.test(0))
    record = scenario.record.model_copy(update={"windows": True, "queues": True})
    with matplotlib.rc_context({**settings(), "font.size": 8}):
        figure = Figure(figsize=(8.6, 3.3), layout="constrained", facecolor="white")
        parts = figure.subplot_mosaic([["net", "a", "b"], ["net", "c", "d"]], width_ratios=[1.1, 1.4, 1.4])
        draw_network(parts["net"], scenario)
        with Simulator() as simulator:
            for above, below, name in zip("ab", "cd", SHOWN.get(spec.name, ("dcqcn", "hpcc")), strict=True):
                played = scenario.model_copy(update={"record": record}).under(name)
                draw_episode(parts[above], parts[below], simulator.play(played))
                parts[above].set_title(name, fontsize=9)
        align(parts["a"], parts["b"])
        align(parts["c"], parts["d"])
    return figure


def main(names: list[str]) -> None:
    """Draws those, or all."""
    for spec in map(task, names or TASKS):
        save(draw(spec), f"tasks/{spec.name.lower()}", **PALETTE)


if __name__ == "__main__":
    main(sys.argv[1:])
