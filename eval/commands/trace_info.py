# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``trace-info``: what ranks' execution traces have in them."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ns3_env.errors import ScenarioError

if TYPE_CHECKING:
    from ns3_env.eval.commands.options import Work
    from ns3_env.scenario.traffic.chakra.trace import Node


def add(options: argparse.ArgumentParser) -> Work:
    """what execution traces of a job compute and send (MLCommons Chakra)"""
    options.add_argument(
        "file", metavar="FILE", help="rank 0's trace, or what a scenario's traffic names, without .0.et"
    )
    options.add_argument("--groups", metavar="FILE", help="process groups, as ASTRA-sim has them in JSON")

    def work(arguments: argparse.Namespace) -> None:
        from rich.console import Console
        from rich.table import Table

        from ns3_env.config.model import validate
        from ns3_env.scenario.traffic import Chakra
        from ns3_env.scenario.traffic.chakra import common_name

        file = common_name(arguments.file)
        context = {"folder": "", "source": file}
        content = {"kind": "chakra", "file": file, "groups": arguments.groups}
        traffic = validate(content, Chakra, file, raises=ScenarioError, context=context)
        traces = traffic.traces()
        flows = traffic.flows_between(range(len(traces)))
        console = Console()
        console.print(
            f"{file}: {len(traces)} ranks, {sum(map(len, traces)):,} nodes, {len(flows):,} flows, "
            f"{sum(flows.size_bytes):,} B sent",
            soft_wrap=True,
        )
        table = Table("node", "groups", "ranks each", "nodes", "bytes each", "time")
        for row in rows(traces):
            table.add_row(*row)
        console.print(table)

    return work


class Row(NamedTuple):
    """One kind of node, as it is printed."""

    what: str
    groups: str
    ranks: str
    nodes: str
    size_bytes: str
    time: str


def rows(traces: Sequence[Sequence[Node]]) -> Iterator[Row]:
    """A row for each kind of node: computations, each kind of collective, sends, receives, others."""
    from ns3_env.scenario.traffic.chakra.trace import COLLECTIVE, COLLECTIVES, COMPUTE, RECEIVE, SEND

    names = {COMPUTE: "computation", SEND: "send", RECEIVE: "receive"}
    kinds: dict[str, list[tuple[int, Node]]] = defaultdict(list)
    for rank, trace in enumerate(traces):
        for node in trace:
            what = names.get(node.type, "other")
            if node.launches():
                what = "launch"
            elif node.type == COLLECTIVE:
                kind = node.number("comm_type", -1)
                what = COLLECTIVES.get(kind, f"collective {kind}").lower().replace("_", "-")
            kinds[what].append((rank, node))
    for what, found in sorted(kinds.items()):
        ranks: dict[str, set[int]] = defaultdict(set)
        for rank, node in found:
            if node.type == COLLECTIVE:
                ranks[node.text("pg_name")].add(rank)
        moves = [node.number("comm_size", 0) for _, node in found if node.type in (COLLECTIVE, SEND, RECEIVE)]
        micros = sum(node.duration_micros for _, node in found)
        yield Row(
            what,
            f"{len(ranks):,}" if ranks else "",
            _range([len(members) for members in ranks.values()]),
            f"{len(found):,}",
            _range(moves),
            f"{micros / 1000:,.3f} ms" if micros else "",
        )


def _range(numbers: Sequence[int]) -> str:
    """The least and the largest; one number where they are the same, nothing without any."""
    if not numbers:
        return ""
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
