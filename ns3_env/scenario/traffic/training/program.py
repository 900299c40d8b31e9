# SPDX-License-Identifier: GPL-2.0-or-later
"""Program of each rank of a training step: computations, collectives and sends, as nodes of a trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ns3_env.scenario.traffic.chakra.trace import (
    COLLECTIVE,
    COMM_TYPES,
    COMPUTE,
    PARALLELISM,
    RECEIVE,
    SEND,
    Node,
)


@dataclass(frozen=True)
class Amounts:
    """Bytes and computation of a block of layers, for one microbatch and rank.

    Args:
        forward_us: computation time of the forward pass; the backward pass needs twice as long.
        tensor_bytes: size of an all-reduce among tensor-parallel ranks.
        expert_bytes: size of an all-to-all among expert-parallel ranks.
        stage_bytes: size of the data passed to the next stage.
        gradient_bytes: size of the gradients of dense parameters, reduced among data-parallel ranks.
        expert_gradient_bytes: the same for expert parameters, reduced among ranks with the same experts.
    """

    forward_us: int
    tensor_bytes: int
    expert_bytes: int
    stage_bytes: int
    gradient_bytes: int
    expert_gradient_bytes: int


@dataclass(frozen=True)
class Layout:
    """Ranks of a job: tensor-parallel ones are neighbours, then data-parallel ones, then stages.

    Args:
        tp: tensor-parallel ranks.
        pp: pipeline stages.
        dp: data-parallel ranks.
        ep: expert-parallel ranks among the data-parallel ones; 1: no experts.
        blocks: number of blocks of layers in a stage.
        micro_batches: number of microbatches per step and data-parallel rank.
    """

    tp: int
    pp: int
    dp: int
    ep: int
    blocks: int
    micro_batches: int

    @property
    def ranks(self) -> int:
        """Ranks of the job."""
        return self.tp * self.pp * self.dp

    def place(self, rank: int) -> tuple[int, int, int]:
        """A rank's stage, and its places among data-parallel and tensor-parallel ranks."""
        rest, tensor = divmod(rank, self.tp)
        return (*divmod(rest, self.dp), tensor)

    def groups(self, rank: int) -> dict[str, tuple[str, int]]:
        """Name and size of each process group that a rank is in, by its kind."""
        stage, data, tensor = self.place(rank)
        experts, place = divmod(data, self.ep)
        return {
            "tensor": (f"tensor {stage} {data}", self.tp),
            "data": (f"data {stage} {tensor}", self.dp),
            "expert": (f"expert {stage} {tensor} {experts}", self.ep),
            "same experts": (f"same experts {stage} {tensor} {place}", self.dp // self.ep),
        }

    def schedule(self, stage: int) -> Iterator[tuple[bool, int]]:
        """Forward (True) and backward passes of a stage with their microbatches, in turn (1F1B)."""
        warm_up = min(self.pp - 1 - stage, self.micro_batches)
        for i in range(warm_up):
            yield True, i
        for i in range(self.micro_batches - warm_up):
            yield True, warm_up + i
            yield False, i
        for i in range(self.micro_batches - warm_up, self.micro_batches):
            yield False, i


def fill_buckets(size_bytes: int, blocks: int, least_bytes: int | None) -> dict[int, int]:
    """Bytes of gradients that are summed behind a block's backward pass, by block: as soon as there are
    ``least_bytes`` (None: each block's), and behind the last block."""
    each = 1 if not (least_bytes and size_bytes) else min(blocks, -(-least_bytes // size_bytes))
    ends = {*range(each - 1, blocks, each), blocks - 1}
    return {block: size_bytes * ((block % each) + 1) for block in sorted(ends)}


@dataclass
class RankProgram:
    """Trace of one rank, node by node; each comes after the one before on the path of its data.

    Args:
        layout: layout of the job's ranks.
        amounts: bytes and computation of a block.
        rank: the rank, from 0.
        bucket_bytes: size from which gradients of blocks are summed together; None: each block by itself.
    """

    layout: Layout
    amounts: Amounts
    rank: int
    bucket_bytes: int | None = None
    nodes: list[Node] = field(default_factory=list)
    _iteration: int = 0
    #: Gradient reductions of the previous step, and of this one.
    _summed: tuple[int, ...] = ()
    _sums: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._stage, self._data, self._tensor = self.layout.place(self.rank)
        self._groups = self.layout.groups(self.rank)

    def play(self, iterations: int = 1) -> list[Node]:
        """All nodes of a number of steps."""
        for self._iteration in range(iterations):
            for forward, batch in self.layout.schedule(self._stage):
                self._pass(forward, batch)
            self._summed, self._sums = tuple(dict.fromkeys(self._sums)), []
        return self.nodes

    def _pass(self, forward: bool, batch: int) -> None:
        before = self._stage - 1 if forward else self._stage + 1
        after = self._stage + 1 if forward else self._stage - 1
        last: tuple[int, ...] = ()
        if 0 <= before < self.layout.pp:
            last = (self._pass_on(RECEIVE, before, forward, batch, ()),)
        if forward and batch == 0:
            last += self._summed
        for block in range(self.layout.blocks):
            last = (self._block(forward, last),)
            if not forward and batch == self.layout.micro_batches - 1:
                self._reduce_gradients(block, last[0])
        if 0 <= after < self.layout.pp:
            self._pass_on(SEND, after, forward, batch, last)

    def _block(self, forward: bool, last: tuple[int, ...]) -> int:
        """Attention and MLP, or experts, of a block; backward needs twice as long and sends as much."""
        half = self.amounts.forward_us * (1 if forward else 2)
        parts = [half // 2, half - half // 2]
        node = self._compute(parts[0], last)
        node = self._collective("ALL_REDUCE", "tensor", self.amounts.tensor_bytes, node)
        node = self._collective("ALL_TO_ALL", "expert", self.amounts.expert_bytes, node)
        node = self._compute(parts[1], (node,))
        node = self._collective("ALL_TO_ALL", "expert", self.amounts.expert_bytes, node)
        return self._collective("ALL_REDUCE", "tensor", self.amounts.tensor_bytes, node)

    def _reduce_gradients(self, block: int, after: int) -> None:
        """Data-parallel ranks sum gradients, while earlier blocks still compute."""
        for group, size in (
            ("data", self.amounts.gradient_bytes),
            ("same experts", self.amounts.expert_gradient_bytes),
        ):
            buckets = fill_buckets(size, self.layout.blocks, self.bucket_bytes)
            if block in buckets:
                self._sums.append(self._collective("ALL_REDUCE", group, buckets[block], after, f"{block} "))

    def _collective(self, kind: str, group: str, size: int, after: int, of_block: str = "") -> int:
        name, ranks = self._groups[group]
        if ranks == 1 or size == 0:
            return after
        texts = {"pg_name": of_block + name, PARALLELISM: group}
        return self._add(
            COLLECTIVE, group, (after,), 0, {"comm_type": COMM_TYPES[kind], "comm_size": size}, texts
        )

    def _compute(self, micros: int, after: tuple[int, ...]) -> int:
        return self._add(COMPUTE, "compute", after, micros, {})

    def _pass_on(self, kind: int, stage: int, forward: bool, batch: int, after: tuple[int, ...]) -> int:
        """A send to the rank of the same place in another stage, or the receive of that rank's send."""
        other = (stage * self.layout.dp + self._data) * self.layout.tp + self._tensor
        ends = {"comm_dst": other} if kind == SEND else {"comm_src": other}
        numbers = {"comm_tag": 2 * batch + forward, "comm_size": self.amounts.stage_bytes, **ends}
        return self._add(kind, "stage", after, 0, numbers)

    def _add(
        self,
        kind: int,
        name: str,
        after: tuple[int, ...],
        micros: int,
        numbers: dict[str, int],
        texts: dict[str, str] | None = None,
    ) -> int:
        number = len(self.nodes)
        if self._iteration:
            numbers = {**numbers, "iteration": self._iteration}
        self.nodes.append(Node(number, kind, name, after, micros, numbers, texts or {}))
        return number
