# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws queue and window of HPCC, PINT, PowerTCP and NSCC after an incast, from pinned curves.

python docs/make/controller_pictures.py    writes docs/images/controllers-incast.png
"""

from __future__ import annotations

import math

from pictures import BLUE, GREEN, ORANGE, picture

from ns3_env.eval.output.curves import CURVES, read_curve

COLOURS = {
    "hpcc": GREEN,
    "hpcc-pint": "#56B4E9",
    "powertcp": ORANGE,
    "theta-powertcp": "#CC79A7",
    "nscc": BLUE,
}


def main() -> None:
    """The bottleneck's queue on the left (values below 0.5 kB at 0.5), the window of flow 0 on the right."""
    with picture("controllers-incast", 8.4, 3.2, dpi=150, colors=64) as figure:
        queue, window = figure.subplots(1, 2)
        for name, colour in COLOURS.items():
            curve = read_curve(CURVES / f"{name}-8to1.csv")
            us = [time / 1e3 for time in curve["time_ns"]]
            queue.plot(us, [max(x, 500) / 1e3 for x in curve["queue_bytes"]], color=colour, label=name)
            window.plot(us, [x / 1e3 if x > 0 else math.nan for x in curve["window_bytes"]], color=colour)
        for axes, what in ((queue, "bottleneck queue (kB)"), (window, "window of flow 0 (kB)")):
            axes.set(yscale="log", xlabel="time (µs)", ylabel=what, xlim=(0, 700))
            axes.grid(alpha=0.3, linewidth=0.6)
        figure.legend(loc="outside upper center", ncols=len(COLOURS), frameon=False)


if __name__ == "__main__":
    main()
