# SPDX-License-Identifier: GPL-2.0-or-later
"""Training of a transformer as traffic: tensor, pipeline, data and expert parallelism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ns3_env.config.bounds import MAX_FLOWS, WHY_FLOWS, Bytes, few
from ns3_env.config.model import Strict
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.chakra.job import TraceJob
from ns3_env.scenario.traffic.jobs.algorithms import count_flows, ranks_of_a_node
from ns3_env.scenario.traffic.jobs.collective import MAX_ITERATIONS, MAX_RANKS, WHY_RANKS
from ns3_env.scenario.traffic.kind import Flows, rank_faults
from ns3_env.scenario.traffic.training.program import Amounts, Layout, RankProgram, fill_buckets

#: Attention's share of a transformer layer's parameters: 4 h², next to the MLP's 8 h².
_ATTENTION = 1 / 3
#: Bytes of an activation, and of a gradient.
ELEMENT_BYTES = 2


class Model(Strict):
    """A transformer, and the speed of a rank."""

    parameters: float = Field(default=7e9, gt=0, description="of all layers; embeddings do not count")
    layers: int = Field(default=32, ge=1)
    hidden: int = Field(default=4096, ge=1)
    sequence: int = Field(default=4096, ge=1, description="tokens of a sequence")
    experts: int = Field(
        default=1, ge=1, description="MLPs of a layer, which expert-parallel ranks share among them"
    )
    top_k: int = Field(default=1, ge=1, description="experts that a token goes to")
    flops_per_s: float = Field(default=400e12, gt=0, description="that a rank reaches")


class Parallel(Strict):
    """Numbers of ranks per kind of parallelism: ``tp`` · ``pp`` · ``dp`` ranks, a GPU each."""

    tp: int = Field(default=1, ge=1, description="tensor parallel")
    pp: int = Field(default=1, ge=1, description="stages of the pipeline")
    dp: int = Field(default=1, ge=1, description="data parallel")
    ep: int = Field(default=1, ge=1, description="expert parallel, among the data-parallel ranks")


class Training(TraceJob):
    """Steps of training a transformer: forward and backward passes of all microbatches, gradients summed.

    Of each block of layers, forward and backward: two all-reduces of activations among tensor-parallel ranks
    (Shoeybi 2019), two all-to-alls among expert-parallel ones. Stages pass activations on, one forward, one
    backward (Narayanan 2021). Gradients of a block, or of several (``bucket_bytes``), are summed as soon as
    the last backward pass is over, while blocks before are at work; a rank's next step waits for all of them.
    """

    kind: Literal["training"] = "training"
    model: Model = Field(default_factory=Model)
    parallel: Parallel = Field(default_factory=lambda: Parallel(dp=2))
    micro_batches: int = Field(
        default=1, ge=1, description="of a step and data-parallel rank, a sequence each"
    )
    layers_together: int = Field(
        default=1, ge=1, description="layers that compute and communicate as one, with the same bytes"
    )
    bucket_bytes: Bytes | None = Field(
        default=None,
        ge=1,
        description="gradients of a rank's layers are summed together once they reach this; none: each "
        "block's by themselves",
    )
    iterations: int = Field(default=1, ge=1, le=MAX_ITERATIONS, description="steps, one after the other")
    scale: float = Field(default=1.0, gt=0, description="of all bytes and times: 0.01 is a hundredth")
    ranks: Annotated[list[int], few(MAX_RANKS, WHY_RANKS)] | None = Field(
        default=None, description="host of each rank; several may be on one; none: the first ones"
    )
    job: str = Field(default="training", min_length=1, description="its name in results")

    @property
    def layout(self) -> Layout:
        """The job's ranks and passes."""
        of = self.parallel
        blocks = self.model.layers // (of.pp * self.layers_together)
        return Layout(of.tp, of.pp, of.dp, of.ep, blocks, self.micro_batches)

    @property
    def amounts(self) -> Amounts:
        """Bytes and computation of a block, for one microbatch and rank."""
        model, of = self.model, self.parallel
        activation = model.sequence * model.hidden * ELEMENT_BYTES
        parameters = model.parameters / model.layers * self.layers_together / of.tp
        dense = parameters * (_ATTENTION if model.experts > 1 else 1)
        experts = parameters * (1 - _ATTENTION) * model.experts / of.ep if model.experts > 1 else 0
        flops = 2 * model.sequence * (dense + (parameters - dense) * model.top_k)

        def scaled(amount: float, least: int = 0) -> int:
            return max(least, round(amount * self.scale)) if amount else 0

        return Amounts(
            forward_us=scaled(1e6 * flops / model.flops_per_s, 1),
            tensor_bytes=scaled(activation * self.layers_together, of.tp),
            expert_bytes=scaled(activation * self.layers_together * model.top_k / of.tp, of.ep)
            if model.experts > 1
            else 0,
            stage_bytes=scaled(activation / of.tp, 1),
            gradient_bytes=scaled(dense * ELEMENT_BYTES, of.dp),
            expert_gradient_bytes=scaled(experts * ELEMENT_BYTES, of.dp),
        )

    def _hosts(self, network: Network) -> Sequence[int]:
        return network.hosts[: self.layout.ranks] if self.ranks is None else self.ranks

    def faults(self, network: Network) -> list[str]:
        of, layers = self.parallel, self.model.layers
        ranks = of.tp * of.pp * of.dp
        most = min(MAX_RANKS, len(network.hosts)) if self.ranks is None else MAX_RANKS
        if not 2 <= ranks <= most:
            return [
                f"parallel: tp · pp · dp are {ranks} ranks; there are {len(network.hosts)} hosts, and there "
                f"may be 2 to {MAX_RANKS} ranks: {WHY_RANKS}"
            ]
        if strange := rank_faults(network, self._hosts(network), ranks):
            return strange
        if layers % (of.pp * self.layers_together):
            return [
                f"model.layers: {layers} layers are no multiple of pp · layers_together, "
                f"{of.pp} · {self.layers_together}"
            ]
        if of.dp % of.ep or self.model.experts % of.ep:
            return [
                f"parallel.ep: {of.ep} does not divide dp, {of.dp}, and model.experts, {self.model.experts}"
            ]
        for name in ("tp", "dp"):
            count = getattr(of, name)
            if self.all_reduce == "halving_doubling_all_reduce" and count & (count - 1):
                return [f"parallel.{name}: halving and doubling needs a power of two, not {count}"]
        if (flows := self.expected_flows(network)) > MAX_FLOWS:
            return [
                f"layers_together: about {flows:.3g} flows; there may be at most {MAX_FLOWS}: {WHY_FLOWS}"
            ]
        return []

    def expected_flows(self, network: Network) -> float:
        of, layout, sizes, chunk = self.parallel, self.layout, self.amounts, self.chunk_bytes

        def reduced(ranks: range, size: int) -> int:
            near = ranks_of_a_node(ranks, self.node_ranks)
            several = len(ranks) > 1 and size
            return count_flows(self.all_reduce, len(ranks), size, chunk, near) if several else 0

        def summed(ranks: range, size: int) -> int:
            buckets = fill_buckets(size, layout.blocks, self.bucket_bytes)
            return sum(reduced(ranks, size) for size in buckets.values())

        block = 2 * reduced(range(of.tp), sizes.tensor_bytes) * of.dp
        if sizes.expert_bytes:
            near = ranks_of_a_node(range(0, of.ep * of.tp, of.tp), self.node_ranks)
            exchange = count_flows(self.all_to_all, of.ep, sizes.expert_bytes, chunk, near)
            block += 2 * exchange * of.tp * of.dp // of.ep
        passes = 2 * of.pp * layout.blocks * self.micro_batches * block
        between = 2 * (of.pp - 1) * self.micro_batches * of.tp * of.dp
        gradients = summed(range(0, of.dp * of.tp, of.tp), sizes.gradient_bytes)
        same_experts = range(0, of.dp * of.tp, of.ep * of.tp)
        gradients += of.ep * summed(same_experts, sizes.expert_gradient_bytes)
        return self.iterations * (passes + between + gradients * of.tp * of.pp)

    def senders_at(self, network: Network) -> Counter[int]:
        return Counter(dict.fromkeys(self._hosts(network), 4))

    def first_start_ns(self) -> int | None:
        return self.start_ns

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        layout, amounts, bucket = self.layout, self.amounts, self.bucket_bytes
        programs = (RankProgram(layout, amounts, rank, bucket) for rank in range(layout.ranks))
        return self._play([x.play(self.iterations) for x in programs], self._hosts(network))
