# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends of a collective as flows that wait for each other, cut into chunks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ns3_env.scenario.traffic.jobs.algorithms import Send, count_pieces
from ns3_env.scenario.traffic.kind import Flows
from ns3_env.scenario.traffic.tasks import Label, Task, Wait

#: Flows from a rank to another that are under way at a time, in the order of their sends as on one queue
#: pair: one is on the wire while the other's end is on its way.
UNDER_WAY = 2


@dataclass(frozen=True)
class Collected:
    """Collector of a collective's sends, with the common parts of their flows: ``hosts`` of the ranks, and
    ``ranks``, their numbers in the job (none: in this order). ``sent``: the sends so far, by hosts."""

    hosts: Sequence[int]
    job: str
    iteration: int
    part: str
    controller: str | None
    chunk_bytes: int | None
    start_ns: int = 0
    ranks: Sequence[int] | None = None
    sent: dict[tuple[int, int], list[Task]] = field(default_factory=lambda: defaultdict(list))

    def count_pieces(self, size_bytes: int) -> int:
        """Chunks that a send of this size is cut into."""
        return count_pieces(size_bytes, self.chunk_bytes)

    def pieces(self, size_bytes: int) -> list[int]:
        """Sizes of the chunks, equal to a byte."""
        count = self.count_pieces(size_bytes)
        return [(i + 1) * size_bytes // count - i * size_bytes // count for i in range(count)]

    def add(
        self,
        flows: Flows,
        send: Send,
        earlier_flows: Sequence[Sequence[Task]],
        ready: Sequence[Sequence[Task]],
    ) -> list[Task]:
        """Appends a flow for each chunk of a send.

        Args:
            flows: list to which they are appended.
            send: the send, which waits for other sends of its collective.
            earlier_flows: flows of each earlier send.
            ready: further tasks that each chunk waits for; a single entry applies to all.

        Returns:
            The flows, a chunk each.
        """
        pieces = self.pieces(send.size_bytes)
        sent = self.sent[self.hosts[send.src], self.hosts[send.dst]]
        chunks: list[Task] = []
        for i, size in enumerate(pieces):
            after = [*ready[i % len(ready)], *_needed(earlier_flows, send, i, len(pieces))]
            after += [sent[-UNDER_WAY]] if len(sent) >= UNDER_WAY else []
            chunks.append(self._flow(flows, send, size, tuple(dict.fromkeys(after))))
            sent.append(chunks[-1])
        return chunks

    def _flow(self, flows: Flows, send: Send, size: int, after: tuple[Task, ...]) -> Task:
        flow = len(flows)
        flows.add(self.hosts[send.src], self.hosts[send.dst], size, self.start_ns, self.controller)
        if after:
            flows.tasks.waits[flow] = Wait(after, 0)
        ranks = self.ranks or range(len(self.hosts))
        flows.tasks.labels[flow] = Label(
            self.job, self.iteration, self.part, ranks[send.src], ranks[send.dst]
        )
        return flow


def _needed(earlier_flows: Sequence[Sequence[Task]], send: Send, chunk: int, chunks: int) -> list[Task]:
    """Returns the tasks that a chunk waits for: the same chunk of each send before, or all chunks if those
    are cut otherwise."""
    tasks: list[Task] = []
    for before in send.after:
        others = earlier_flows[before]
        tasks += [others[chunk]] if len(others) == chunks else others
    return tasks
