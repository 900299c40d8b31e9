# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws queue and window of HPCC, PINT, PowerTCP and NSCC after an incast, from pinned curves.

Needs the extra report.

python docs/make/controller_pictures.py    writes docs/images/controllers-incast.png
"""

from __future__ import annotations

import math

import matplotlib
from matplotlib.figure import Figure
from pictures import save

from ns3_env.eval.output.curves import CURVES, read_curve
from ns3_env.eval.output.plots import settings

COLOURS = {
    "hpcc": "#009E73",
    "hpcc-pint": "#56B4E9",
    "powertcp": "#D55E00",
    "theta-powertcp": "#CC79A7",
    "nscc": "#0072B2",
}


def draw() -> Figure:
    """The bottleneck's queue on the left (what is below 0.5 kB at 0.5), the window of flow 0 on the right."""
    figure = Figure(figsize=(8.4, 3.2), layout="constrained")
    queue, rate = figure.subplots(1, 2)
    for name, colour in COLOURS.items():
        curve = read_curve(CURVES / f"{name}-8to1.csv")
        us = [time / 1e3 for time in curve["time_ns"]]
        queue.plot(us, [max(x, 500) / 1e3 for x in curve["queue_bytes"]], color=colour, label=name)
        rate.plot(us, [x / 1e3 if x > 0 else math.nan for x in curve["window_bytes"]], color=colour)
    queue.set(yscale="log", xlabel="time (µs)", ylabel="bottleneck queue (kB)", xlim=(0, 700))
    rate.set(yscale="log", xlabel="time (µs)", ylabel="window of flow 0 (kB)", xlim=(0, 700))
    figure.legend(loc="outside upper center", ncols=len(COLOURS), frameon=False)
    for axes in (queue, rate):
        axes.grid(alpha=0.3, linewidth=0.6)
    return figure


def main() -> None:
    with matplotlib.rc_context(settings()):
        save(draw(), "controllers-incast", dpi=150, colors=64)


if __name__ == "__main__":
    main()
