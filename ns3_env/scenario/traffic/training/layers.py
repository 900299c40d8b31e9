# SPDX-License-Identifier: GPL-2.0-or-later
"""Layers of a model as ASTRA-sim's and SimAI's workloads list them, and the steps of a training pass.

A line has a layer's name, a number without meaning, and then for the forward pass, the gradient of its
inputs and that of its weights each a time of computation, a collective and its bytes; last the time of an
update, which no simulator runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ns3_env.config.bounds import MAX_BYTES, MAX_TIME_NS
from ns3_env.config.model import shown
from ns3_env.scenario.traffic.chakra.budget import Budget, TraceError
from ns3_env.scenario.traffic.chakra.trace import (
    AT_ONCE,
    COLLECTIVE,
    COMM_TYPES,
    COMPUTE,
    PARALLELISM,
    Node,
)

_WHOLE = re.compile(r"\d{1,19}")
_COLUMNS = 12
#: Nodes that a node waits for; instead of more there is one node that ends with them.
_MOST_WAITS = 16
_COLLECTIVES = {
    "ALLREDUCE": "ALL_REDUCE",
    "ALLGATHER": "ALL_GATHER",
    "REDUCESCATTER": "REDUCE_SCATTER",
    "ALLTOALL": "ALL_TO_ALL",
}
#: Ends of a collective's name, by the group of ranks that it is of; without one it is the part's.
_ENDS = {"_TP": "tensor", "_DP_EP": "same experts", "_DP": "data", "_EP": "expert"}


class Part(NamedTuple):
    """Computation, and the collective after it; ``kind`` "" without one, ``group`` "" for the usual
    one."""

    time: int
    kind: str
    group: str
    size_bytes: int


class Layer(NamedTuple):
    """A layer's three parts."""

    name: str
    forward: Part
    inputs: Part
    weights: Part


class Policy(NamedTuple):
    """The order of a layer's parts under a kind of parallelism, and its groups.

    Args:
        model: group of the forward pass and of inputs' gradients; "" without such collectives.
        data: group of weights' gradients; "" without such collectives.
        waits: true if each collective of inputs' gradients is complete before weights' gradients are
            computed.
        weights_first: true if weights' gradients are computed before inputs' gradients.
        embedding: true if the first layer's all-to-all is waited for only after the bottom, when its data are
            needed.
    """

    model: str
    data: str
    waits: bool = False
    weights_first: bool = False
    embedding: bool = False


#: Policies by the first word of a file. "all" are all ranks.
POLICIES = {
    "DATA": Policy("", "all", weights_first=True),
    "MODEL": Policy("all", ""),
    "HYBRID_DATA_MODEL": Policy("all", "all"),
    "HYBRID_MODEL_DATA": Policy("all", "all"),
    "HYBRID_TRANSFORMER": Policy("tensor", "data", waits=True),
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD": Policy("tensor", "data", waits=True),
    "HYBRID_DLRM": Policy("all", "all", weights_first=True, embedding=True),
    "MICRO": Policy("", "all"),
}


def read_layer(text: str) -> Layer:
    """A line's layer. Raises TraceError."""
    words = text.split()
    if len(words) != _COLUMNS:
        raise TraceError(f"{len(words)} values where a layer's {_COLUMNS} should stand")
    return Layer(words[0], *(_part(words[i : i + 3]) for i in (2, 5, 8)))


def _part(words: Sequence[str]) -> Part:
    for text, most, what in ((words[0], MAX_TIME_NS, "time"), (words[2], MAX_BYTES, "size")):
        if not _WHOLE.fullmatch(text) or int(text) > most:
            raise TraceError(f"the {what} is {shown(text)}, must be a whole number of at most {most}")
    end = next((end for end in _ENDS if words[1].endswith(end)), "")
    name = words[1].removesuffix(end)
    if name not in (*_COLLECTIVES, "NONE"):
        names = ", ".join((*_COLLECTIVES, "NONE"))
        raise TraceError(f"the collective is {shown(words[1])}; it may be {names}, with {', '.join(_ENDS)}")
    kind = _COLLECTIVES.get(name, "") if int(words[2]) else ""
    return Part(int(words[0]), kind, _ENDS.get(end, ""), int(words[2]))


@dataclass
class LayerProgram:
    """Trace of one rank: passes over all layers, forward and backward.

    Args:
        layers: layers of the model.
        policy: the order of their parts.
        groups: name and size of each group of ranks, by its kind.
        unit_ns: unit of the layers' times, ns.
        whole_gathers: true if an all-gather's size is that of its result, and not of each rank's
            contribution.
        budget: budget of the job's nodes.
        bottom: last layer of the bottom, for ``policy.embedding``.
    """

    layers: Sequence[Layer]
    policy: Policy
    groups: Mapping[str, tuple[str, int]]
    unit_ns: int
    whole_gathers: bool
    budget: Budget
    bottom: int = 0
    nodes: list[Node] = field(default_factory=list)
    _last: tuple[int, ...] = ()
    #: Collectives of weights' gradients, which a layer's next forward pass waits for.
    _sums: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _embedding: tuple[int, ...] = ()
    _pass: int = 0

    def play(self, passes: int, only_weights: bool) -> list[Node]:
        """All nodes; ``only_weights``: only the collectives of weights' gradients, side by side."""
        for self._pass in range(passes):
            if only_weights:
                for layer in self.layers:
                    self._collective(layer.weights, self.policy.data, ())
                continue
            self._forward()
            for i in reversed(range(len(self.layers))):
                self._backward(i)
        return self.nodes

    def _forward(self) -> None:
        for i, layer in enumerate(self.layers):
            self._compute(layer.forward, self._sums.pop(i, ()))
            sent = self._collective(layer.forward, self.policy.model, self._last)
            if not self.policy.embedding:
                self._last = sent or self._last
            elif i == 0:
                self._embedding = sent
            if self.policy.embedding and i == self.bottom:
                self._last, self._embedding = self._last + self._embedding, ()

    def _backward(self, i: int) -> None:
        layer, policy = self.layers[i], self.policy
        if policy.weights_first:
            self._compute(layer.weights)
            self._sums[i] = self._collective(layer.weights, policy.data, self._last)
            if i == 0:
                self._last, self._embedding = self._last + self._embedding, ()
                return
            self._compute(layer.inputs)
            if policy.embedding and i == self.bottom + 1:
                self._embedding = self._collective(self.layers[0].inputs, policy.model, self._last)
            return
        self._compute(layer.inputs)
        sent = self._collective(layer.inputs, policy.model if policy.waits or i else "", self._last)
        if policy.waits:
            self._last = sent or self._last
        self._compute(layer.weights)
        self._sums[i] = self._collective(layer.weights, policy.data, self._last)
        if not policy.waits:
            self._last += sent

    def _compute(self, part: Part, after: tuple[int, ...] = ()) -> None:
        self._last = tuple(dict.fromkeys((*self._last, *after)))
        if part.time:
            self._last = (self._add(COMPUTE, part.time * self.unit_ns, self._last, {}, {}),)
        elif len(self._last) > _MOST_WAITS:
            self._last = (self._add(0, 0, self._last, {AT_ONCE: 1}, {}),)

    def _collective(self, part: Part, usual: str, after: tuple[int, ...]) -> tuple[int, ...]:
        """The collective after a part; () if it sends nothing."""
        if not part.kind or not usual:
            return ()
        group = part.group or usual
        name, ranks = self.groups[group]
        if ranks == 1:
            return ()
        size = part.size_bytes
        if part.kind == "ALL_GATHER" and self.whole_gathers:
            size = -(-size // ranks)
        numbers = {"comm_type": COMM_TYPES[part.kind], "comm_size": size}
        return (self._add(COLLECTIVE, 0, after, numbers, {"pg_name": name, PARALLELISM: group}),)

    def _add(
        self, kind: int, ns: int, after: tuple[int, ...], numbers: dict[str, int], texts: dict[str, str]
    ) -> int:
        self.budget.spend(nodes=1)
        number = len(self.nodes)
        if self._pass:
            numbers = {**numbers, "iteration": self._pass}
        self.nodes.append(Node(number, kind, "", after, ns / 1000, numbers, texts))
        return number
