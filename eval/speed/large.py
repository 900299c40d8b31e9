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
from ns3_env.eval.speed.alone import play_alone
from ns3_env.scenario import Scenario

#: Fat-trees of three tiers by their hosts, and the duration of flow arrivals (ns).
NETWORKS: dict[int, tuple[dict[str, int], int]] = {
    16: ({"pods": 2, "tors_per_pod": 2, "aggregation_per_pod": 2, "cores": 4, "hosts_per_tor": 4}, 4_000_000),
    128: (
        {"pods": 4, "tors_per_pod": 2, "aggregation_per_pod": 2, "cores": 8, "hosts_per_tor": 16},
        1_000_000,
    ),
    1024: (
        {"pods": 16, "tors_per_pod": 4, "aggregation_per_pod": 4, "cores": 16, "hosts_per_tor": 16},
        500_000,
    ),
    8192: (
        {"pods": 32, "tors_per_pod": 8, "aggregation_per_pod": 8, "cores": 64, "hosts_per_tor": 32},
        200_000,
    ),
    16384: (
        {"pods": 64, "tors_per_pod": 8, "aggregation_per_pod": 8, "cores": 64, "hosts_per_tor": 32},
        100_000,
    ),
}
#: How a network is simulated: as a whole, or in parts on this number of threads.
THREADS: tuple[int | None, ...] = (None, 1, 2)
#: Approximate numbers of flows and hosts of the networks.
FLOWS_HOSTS = 64
FLOWS = (100, 1_000, 10_000, 100_000, 1_000_000)
_FLOWS_PER_MS = 40_000  # 10 kB each at 50 % of 64 links of 100 Gb/s
_AFTER_THE_LAST = 100_000  # ns until the run is truncated


def network(hosts: int, threads: int | None) -> Scenario:
    """WebSearch at 50 % under HPCC, cut 100 µs after the last arrival.

    Raises:
        KeyError: ``hosts`` is not in :data:`NETWORKS`.
    """
    topology, arrivals = NETWORKS[hosts]
    return Scenario.from_mapping(
        {
            "topology": {"kind": "fat_tree_3", **topology},
            "traffic": {"kind": "poisson", "sizes": "websearch", "load": 0.5, "duration_ns": arrivals},
            "controllers": ["hpcc"],
            "switch": {"buffer_bytes": "128MB"},
            "time_limit_ns": arrivals + _AFTER_THE_LAST,
            "record": {"queues": False},
            "simulator": {"threads": threads},
        },
        "large networks",
    )


def many_flows(count: int) -> Scenario:
    """About ``count`` flows of 10 kB, at 50 % of the links of 64 hosts in a leaf-spine, under DCQCN."""
    return Scenario.from_mapping(
        {
            "topology": {"kind": "leaf_spine", "leaves": 4, "spines": 4, "hosts_per_leaf": FLOWS_HOSTS // 4},
            "traffic": {
                "kind": "poisson",
                "sizes": [[10_000, 0], [10_001, 100]],
                "load": 0.5,
                "duration_ns": round(1e6 * count / _FLOWS_PER_MS),
            },
            "controllers": ["dcqcn"],
            "time_limit_ns": "1s",
            "record": {"queues": False},
        },
        "many flows",
    )


def measure(turns: int = 3, progress: Callable[[str], None] = lambda text: None) -> pd.DataFrame:
    """Simulates each network in ``turns`` alternating turns.

    Returns:
        A row for each network, number of threads and number of flows: ``hosts``, ``threads`` (0: as a
        whole), ``flows``, ``packet_hops``, ``wall_s`` and ``cpu_s`` (medians), ``ns_per_hop`` of wall time,
        ``peak_bytes``.
    """
    rows = []
    for turn in range(turns):
        for hosts in NETWORKS:
            for threads in THREADS:
                progress(f"turn {turn + 1} of {turns}: {hosts:,} hosts, {_how(threads or 0)}")
                rows.append({"hosts": hosts, "threads": threads or 0, **_row(network(hosts, threads))})
    for count in FLOWS:
        progress(f"{count:,} flows")
        rows.append({"hosts": FLOWS_HOSTS, "threads": 0, **_row(many_flows(count))})
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
        if threads != max(THREADS[1:], key=lambda count: count or 0):
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
