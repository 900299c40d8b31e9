# SPDX-License-Identifier: GPL-2.0-or-later
"""Process groups: the ranks of each, from a file or as PyTorch wrote it into ranks' traces."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ns3_env.config.files import read_text
from ns3_env.config.model import shown
from ns3_env.scenario.traffic.chakra.budget import TraceError
from ns3_env.scenario.traffic.chakra.trace import INPUTS, METADATA, Node

#: Names of the group of all ranks, for ASTRA-sim and for PyTorch.
EVERYONE = ("", "0")


class ProcessGroups:
    """Ranks of groups by their names, which each rank's trace may contain, or a file for all.

    Args:
        traces: trace of each rank; nodes of PyTorch's ``process_group:init`` list groups.
        for_all: ranks of each group, the same for all ranks; None: only the traces list them.
    """

    def __init__(
        self, traces: Sequence[Sequence[Node]], for_all: Mapping[str, Sequence[int]] | None = None
    ) -> None:
        self._ranks = len(traces)
        self._for_all = for_all
        self._in_traces = [_read_records(trace) for trace in traces]

    def members(self, node: Node, rank: int) -> tuple[int, ...] | None:
        """Ranks of the group that a node of a rank is in; None if unknown.

        Raises:
            TraceError: there is no such group, this rank is not in it, or no trace is of one of its ranks.
        """
        name = node.group
        members = self._find(name, rank)
        if members is None:
            if self._for_all is None or name in EVERYONE:
                return None if self._for_all is None else tuple(range(self._ranks))
            names = ", ".join(self._for_all)
            raise TraceError(f"{node} of rank {rank}: no process group {shown(name)}; there are {names}")
        if strangers := [member for member in members if not 0 <= member < self._ranks]:
            text = f"process group {shown(name)} has rank {strangers[0]}"
            raise TraceError(f"{node} of rank {rank}: {text}; there are ranks 0 to {self._ranks - 1}")
        if rank not in members:
            text = f"process group {shown(name)} has ranks {shown(list(members))[1:-1]}"
            raise TraceError(f"{node} of rank {rank}: {text}, and not this one")
        return members

    def _find(self, name: str, rank: int) -> tuple[int, ...] | None:
        if self._for_all is not None and name in self._for_all:
            return tuple(sorted(set(self._for_all[name])))
        members = self._in_traces[rank].get(name)
        return tuple(range(self._ranks)) if members == () else members


def _read_records(trace: Sequence[Node]) -> dict[str, tuple[int, ...]]:
    """Ranks of groups as PyTorch writes them down; () are all ranks. Raises TraceError."""
    groups: dict[str, tuple[int, ...]] = {}
    for node in trace:
        text = node.texts.get(INPUTS, "") if node.type == METADATA else ""
        begin, end = text.find("[{"), text.rfind("}]")
        if begin < 0 or end < begin or "pg_name" not in text:
            continue
        try:
            for group in json.loads(text[begin : end + 2]):
                groups[str(group["pg_name"])] = tuple(sorted({int(rank) for rank in group["ranks"]}))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise TraceError(f"{node}: its process groups cannot be read: {error}") from None
    return groups


def read_groups(path: str) -> dict[str, list[int]]:
    """Process groups of a file of ASTRA-sim: an object of lists of ranks, by name.

    Raises OSError, and TraceError if it has another form.
    """
    try:
        content: Any = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise TraceError(f"no JSON: {error}") from None
    if not isinstance(content, dict) or not all(map(_are_ranks, content.values())):
        raise TraceError('must be an object of lists of ranks, such as {"1": [0, 1], "2": [2, 3]}')
    return content


def _are_ranks(value: Any) -> bool:
    return isinstance(value, list) and all(type(rank) is int for rank in value)
