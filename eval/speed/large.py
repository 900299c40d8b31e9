# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures large networks: time and memory over hosts, threads and flows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from ns3_env.config.command_line import new_console
from ns3_env.config.files import write_file
from ns3_env.eval.output.plots import legend, picture, settings, size
from ns3_env.eval.output.table import new_table, print_table
from ns3_env.eval.speed.alone import SCENARIOS, play_alone
from ns3_env.scenario import Scenario

#: Networks by their hosts and threads (0: as a whole), and numbers of flows of a network of 64 hosts.
NETWORKS, FLOWS = SCENARIOS["networks"].cases(), SCENARIOS["flows"].cases()
FLOWS_HOSTS = 64


def measure(turns: int = 3, progress: Callable[[str], None] = lambda text: None) -> pd.DataFrame:
    """Simulates each network in ``turns`` alternating turns.

    Returns:
        A row for each network, number of threads and number of flows: ``hosts``, ``threads`` (0: as a
        whole), ``flows``, ``packet_hops``, ``wall_s`` and ``cpu_s`` (medians), ``ns_per_hop`` of wall time,
        ``peak_bytes``.
    """
    rows = []
    for turn in range(turns):
        for (hosts, threads), scenario in NETWORKS.items():
            progress(f"turn {turn + 1} of {turns}: {hosts:,} hosts, {_how(threads)}")
            rows.append({"hosts": hosts, "threads": threads, **_row(scenario)})
    for count, scenario in FLOWS.items():
        progress(f"{count:,} flows")
        rows.append({"hosts": FLOWS_HOSTS, "threads": 0, **_row(scenario)})
    table = pd.DataFrame(rows).groupby(["hosts", "threads", "flows"], as_index=False).median()
    table["ns_per_hop"] = 1e9 * table["wall_s"] / table["packet_hops"]
    return table


def _row(scenario: Scenario) -> dict[str, Any]:
    run = play_alone(scenario)
    return {
        "flows": len(run.results["flows"]["fct_ns"]),
        "packet_hops": run.packet_hops,
        "wall_s": run.wall_s,
        "cpu_s": run.cpu_s,
        "peak_bytes": run.peak_bytes,
    }


def _how(threads: int) -> str:
    return "as a whole" if threads == 0 else f"in parts, {threads} thread{'s' * (threads > 1)}"


def sheet(measured: pd.DataFrame) -> Table:
    """The figures of :func:`measure`, to be printed."""
    columns = ("flows", "packet-hops", "wall", "a hop", "memory")
    table = new_table("Large networks on this machine", "hosts", columns, (0, 1, 0, 0), words=("played",))
    for row in measured.itertuples():
        table.add_row(
            f"{row.hosts:,}",
            _how(row.threads),
            f"{row.flows:,}",
            f"{row.packet_hops / 1e6:.1f} M",
            f"{row.wall_s:.2f} s",
            f"{row.ns_per_hop:.0f} ns",
            f"{row.peak_bytes / 1e6:.0f} MB",
        )
    return table


def report(folder: Path, console: Console | None = None) -> pd.DataFrame:
    """Measures, prints the table and writes ``large-networks.csv`` and ``.png`` into ``folder``."""
    out = console or new_console()
    with out.status("measuring") as status:
        measured = measure(progress=lambda text: status.update(f"measuring: {text}"))
    print_table(sheet(measured), out)
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "large-networks.csv", measured.to_csv(index=False))
    write_file(folder / "large-networks.png", picture(draw(measured), "png"))
    out.print(f"table and figure: {folder}/large-networks.csv, .png")
    return measured


def draw(measured: pd.DataFrame) -> Figure:
    """Wall time of a hop over hosts, and memory over hosts and over flows."""
    with matplotlib.rc_context(settings()):
        figure = Figure(figsize=size(10.5, 3.2))
        time, memory, flows = figure.subplots(1, 3, gridspec_kw={"wspace": 0.35})
    networks = measured[measured["hosts"] != FLOWS_HOSTS]
    for threads, rows in networks.groupby("threads"):
        time.plot(rows["hosts"], rows["ns_per_hop"], marker="o", label=_how(int(str(threads))))
        if threads != networks["threads"].max():
            memory.plot(rows["hosts"], rows["peak_bytes"] / 1e6, marker="o")
    of_flows = measured[measured["hosts"] == FLOWS_HOSTS]
    flows.plot(of_flows["flows"], of_flows["peak_bytes"] / 1e6, marker="o", color="C3")
    for axes, x, y in (
        (time, "hosts", "wall time of a hop (ns)"),
        (memory, "hosts", "memory (MB)"),
        (flows, f"flows of {FLOWS_HOSTS} hosts", "memory (MB)"),
    ):
        axes.set_xscale("log")
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        if axes is time:
            axes.set_ylim(bottom=0)
        else:
            axes.set_yscale("log")
        axes.grid(alpha=0.3, linewidth=0.6)
    legend(figure, time)
    return figure
