# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles and runs examples/ns3/rdma-beside-tcp.cc; draws each flow's rate, and prints a table.

Needs a C++ compiler.

python docs/make/ns3_picture.py    writes docs/images/rdma-beside-tcp.png
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from pictures import BLUE, ORANGE, ROOT, picture

from ns3_env.programs.plugins import compiler_flags
from ns3_env.programs.scripts import linker_flags

EXAMPLE = ROOT / "examples" / "ns3" / "rdma-beside-tcp.cc"
SIZE = 2_000_000
NETWORKS = {
    "classes of their own": (),
    "one class": ("--classes=false",),
    "one class, no PFC": ("--classes=false", "--pfc=false"),
}
TCPS = {"CUBIC": "TcpCubic", "DCTCP": "TcpDctcp"}
#: Microseconds of each RDMA flow, of each TCP flow, pauses, drops.
Run = tuple[list[int], list[int], int, int]


def play(program: Path, options: tuple[str, ...]) -> Run:
    """Runs the script with these options."""
    text = subprocess.run([program, *options], capture_output=True, text=True, check=True).stdout
    rdma = [int(x) for x in re.findall(r"^rdma \d+: (\d+) us", text, re.MULTILINE)]
    sent = re.findall(r"^tcp flow \d+: (\d+) B in (\d+) us", text, re.MULTILINE)
    tcp = [int(us) for received, us in sent if int(received) > SIZE]  # the rest are acknowledgements
    pauses, drops = map(int, re.findall(r"pauses: (\d+), drops: (\d+)", text)[0])
    return rdma, tcp, pauses, drops


def draw(figure: Figure, runs: dict[tuple[str, str], Run]) -> None:
    """Mean rates of the four flows of each kind, with the slowest and the fastest."""
    axes = figure.subplots(1, len(TCPS), sharey=True)
    for panel, tcp in zip(axes, TCPS, strict=True):
        for shift, colour, label in ((-0.2, BLUE, "RDMA (DCQCN)"), (0.2, ORANGE, f"TCP ({tcp})")):
            for x, network in enumerate(NETWORKS):
                rates = SIZE * 8e-3 / np.array(runs[tcp, network][shift > 0])
                span = [[rates.mean() - rates.min()], [rates.max() - rates.mean()]]
                name = label if x == 0 else None
                panel.bar(x + shift, rates.mean(), 0.36, yerr=span, capsize=3, color=colour, label=name)
        panel.set_xticks(range(len(NETWORKS)), [name.replace(", ", ",\n") for name in NETWORKS])
        panel.grid(axis="y", alpha=0.3, linewidth=0.6)
        panel.legend(frameon=False)
    axes[0].set_ylabel("rate of a flow (Gb/s)")


def main() -> None:
    runs: dict[tuple[str, str], Run] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "both")
        command = ["g++", str(EXAMPLE), *compiler_flags(), *linker_flags(), "-o", str(program)]
        subprocess.run(command, check=True)
        for tcp, name in TCPS.items():
            for network, options in NETWORKS.items():
                run = runs[tcp, network] = play(program, (f"--tcp={name}", f"--size={SIZE}", *options))
                spans = [f"{min(times)} to {max(times)}" for times in run[:2]]
                print("", tcp, network, *spans, *run[2:], "", sep=" | ")
    with picture("rdma-beside-tcp", 8.4, 3.2, dpi=150, colors=64) as figure:
        draw(figure, runs)


if __name__ == "__main__":
    main()
