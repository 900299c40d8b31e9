# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``trace-info``: contents of execution traces, of logs of jobs, of a node's topology."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ns3_env.errors import ScenarioError

if TYPE_CHECKING:
    from ns3_env.eval.commands.options import Work
    from ns3_env.scenario.traffic.chakra.job import FileJob
    from ns3_env.scenario.traffic.chakra.trace import Node

_MOST_JOBS = 5_000_000


def add(options: argparse.ArgumentParser) -> Work:
    """contents of a job's traces (Chakra, GOAL, ASTRA-sim, SimAI), a CSV of jobs, or NCCL's topology"""
    options.add_argument(
        "file",
        metavar="FILE",
        help="rank 0's trace, or the name in a scenario's traffic, without .0.et; a .goal; a workload's "
        ".txt; a .csv of jobs, or of an all-to-all's sizes; a node's .xml",
    )
    options.add_argument("--groups", metavar="FILE", help="process groups, as ASTRA-sim has them in JSON")
    options.add_argument(
        "--npus", metavar="N", type=int, help="ranks of a workload that does not specify them"
    )

    def work(arguments: argparse.Namespace) -> None:
        from ns3_env.config.command_line import new_console
        from ns3_env.eval.output.table import new_table, print_table

        if arguments.file.endswith((".csv", ".xml")):
            (print_csv if arguments.file.endswith(".csv") else print_node)(arguments.file)
            return
        traffic = read(arguments.file, arguments.groups, arguments.npus)
        traces = traffic.traces()
        flows = traffic.flows_between(range(len(traces)))
        console = new_console()
        console.print(
            f"{traffic.file}: {len(traces)} ranks, {sum(map(len, traces)):,} nodes, {len(flows):,} flows, "
            f"{sum(flows.size_bytes):,} B sent",
            soft_wrap=True,
        )
        numbers = ("ranks each", "nodes", "bytes each", "time")
        table = new_table("", "node", numbers, (0, 1, 0, 0), words=("groups",))
        for row in rows(traces):
            table.add_row(*row)
        print_table(table, console)

    return work


def read(path: str, groups: str | None, npus: int | None) -> FileJob:
    """The job of a file, by the end of its name. Raises ScenarioError."""
    from ns3_env.config.model import validate
    from ns3_env.scenario.traffic import Chakra, Goal, Workload
    from ns3_env.scenario.traffic.chakra import common_name

    context = {"folder": "", "source": path}
    if path.endswith(".goal"):
        return validate({"file": path}, Goal, path, raises=ScenarioError, context=context)
    if path.endswith(".txt"):
        content = {"file": path, "npus": npus}
        return validate(content, Workload, path, raises=ScenarioError, context=context)
    content = {"file": common_name(path), "groups": groups}
    return validate(content, Chakra, path, raises=ScenarioError, context=context)


def print_csv(path: str) -> None:
    """Prints the content of a log of jobs, or of the sizes of an all-to-all, which have no header. Raises
    ScenarioError."""
    from ns3_env.config.files import LineFaults

    heads: list[str] = []
    faults = LineFaults(path)
    faults.read("CSV", lambda text: heads.append(text.read(1)), sys.maxsize)
    if heads and heads[0].isdigit():
        print_pairs(path)
    else:
        print_log(path)


def print_node(path: str) -> None:
    """Prints a node of NCCL's topology, and the keys of a cluster of them. Raises ScenarioError."""
    from ns3_env.config.command_line import new_console
    from ns3_env.scenario.topology.nccl import read_node

    node, console = read_node(path), new_console()
    keys = node.keys()
    up, out = (f"{{rate_bps: {keys[key]['rate_bps'] / 1e9:g}Gbps}}" for key in ("scale_up", "scale_out"))
    rails = f", rails: {node.cards}" if keys["rails"] else ""
    text = f"{path}: {node.gpus} GPUs, each with NVLinks of {node.gpu_bps / 1e9:g} Gb/s together; "
    text += f"{node.cards} network cards of {node.card_bps / 1e9:g} Gb/s"
    cluster = f"kind: cluster, gpus_per_node: {node.gpus}{rails}, scale_up: {up}, scale_out: {out}"
    console.print("\n".join([text, *node.notes, f"topology: {{{cluster}}}"]), soft_wrap=True)


def print_pairs(path: str) -> None:
    """Prints what ranks send in an all-to-all, and the largest part of one pair. Raises ScenarioError."""
    from ns3_env.config.command_line import new_console
    from ns3_env.config.files import LineFaults
    from ns3_env.scenario.traffic.jobs.pairs import read_pairs

    faults = LineFaults(path)
    pairs = read_pairs(faults)
    if faults:
        raise ScenarioError("\n".join(faults.texts()))
    others = [[x for j, x in enumerate(row) if j != i] for i, row in enumerate(pairs)]
    sums, largest = [sum(row) for row in others], max(max(row, default=0) for row in others)
    new_console().print(
        f"{path}: all-to-all of {len(pairs)} ranks, {sum(sums):,} B sent, {_range(sums)} B by a rank, "
        f"at most {largest:,} B from one to another",
        soft_wrap=True,
    )


def print_log(path: str) -> None:
    """Prints a log's columns, and its jobs by their numbers of GPUs. Raises ScenarioError."""
    from ns3_env.config.command_line import new_console
    from ns3_env.config.files import LineFaults
    from ns3_env.eval.output.table import new_table, print_table
    from ns3_env.scenario.traffic.jobs.log import Log

    log, console = Log(LineFaults(path), most=_MOST_JOBS), new_console()
    log.read_file()
    if log.wrong:
        raise ScenarioError("\n".join(log.wrong.texts()))
    first, last = log.jobs[0].arrival_s, log.jobs[-1].arrival_s
    used = ", ".join(f"{what}: {name}" for what, name in log.columns.items())
    console.print(
        f"{path}: {len(log.jobs):,} jobs, which arrive within {last - first:,.0f} s; {log.idle_rows:,} of "
        f"{log.rows:,} rows had no GPU or no duration\ncolumns: {used}",
        soft_wrap=True,
    )
    by_gpus: dict[int, list[float]] = defaultdict(list)
    for job in log.jobs:
        by_gpus[job.gpus].append(job.duration_s)
    table = new_table("", "GPUs", ("jobs", "median duration", "longest", "GPU hours"), (0, 1, 0, 0))
    for gpus, durations in sorted(by_gpus.items()):
        hours = gpus * sum(durations) / 3600
        times = (f"{statistics.median(durations):,.0f} s", f"{max(durations):,.0f} s", f"{hours:,.1f}")
        table.add_row(f"{gpus}", f"{len(durations):,}", *times)
    print_table(table, console)


class Row(NamedTuple):
    """One kind of node, as it is printed."""

    what: str
    groups: str
    ranks: str
    nodes: str
    size_bytes: str
    time: str


def rows(traces: Sequence[Sequence[Node]]) -> Iterator[Row]:
    """A row for each kind of node: computations, each kind of collective, sends, receives, other nodes."""
    from ns3_env.scenario.traffic.chakra.trace import (
        COLLECTIVE,
        COLLECTIVES,
        COMPUTE,
        LOAD,
        METADATA,
        RECEIVE,
        SEND,
        STORE,
    )

    names = {COMPUTE: "computation", SEND: "send", RECEIVE: "receive", LOAD: "load", STORE: "store"}
    names[METADATA] = "metadata"
    kinds: dict[str, list[tuple[int, Node]]] = defaultdict(list)
    for rank, trace in enumerate(traces):
        for node in trace:
            what = names.get(node.type, "other")
            if node.launches():
                what = "launch"
            elif node.type == COMPUTE and node.of_processor():
                what = "processor's computation"
            elif node.type == COLLECTIVE:
                kind = node.number("comm_type", -1)
                what = COLLECTIVES.get(kind, f"collective {kind}").lower().replace("_", "-")
            kinds[what].append((rank, node))
    for what, nodes in sorted(kinds.items()):
        ranks: dict[str, set[int]] = defaultdict(set)
        for rank, node in nodes:
            if node.type == COLLECTIVE:
                ranks[node.group].add(rank)
        moves = [node.number("comm_size", 0) for _, node in nodes if node.type in (COLLECTIVE, SEND, RECEIVE)]
        micros = sum(node.duration_micros for _, node in nodes)
        yield Row(
            what,
            f"{len(ranks):,}" if ranks else "",
            _range([len(members) for members in ranks.values()]),
            f"{len(nodes):,}",
            _range(moves),
            f"{micros / 1000:,.3f} ms" if micros else "",
        )


def _range(numbers: Sequence[int]) -> str:
    """The minimum and the maximum; one number if they are equal, nothing without any."""
    if not numbers:
        return ""
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
