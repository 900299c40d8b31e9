# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes execution traces (MLCommons Chakra) of one training step, a file for each rank.

python examples/chakra_traces.py data_parallel dp --ranks 8       writes dp.0.et to dp.7.et
python examples/chakra_traces.py tensor_parallel tp --ranks 8
python examples/chakra_traces.py mixture_of_experts moe --ranks 8

They are used as traffic: {kind: chakra, file: dp}.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ns3_env.scenario.traffic.chakra import COLLECTIVE, COMM_TYPES, COMPUTE, Node, written_trace


class Step:
    """The nodes of one rank, in their order."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def compute(self, name: str, micros: int, *after: int) -> int:
        """Computation after other nodes; its id."""
        self.nodes.append(Node(len(self.nodes), COMPUTE, name, after, micros, {"is_cpu_op": 0}))
        return len(self.nodes) - 1

    def collective(self, name: str, kind: str, size_bytes: int, *after: int) -> int:
        """A collective of all ranks; its id."""
        numbers = {"comm_type": COMM_TYPES[kind], "comm_size": size_bytes, "is_cpu_op": 0}
        self.nodes.append(Node(len(self.nodes), COLLECTIVE, name, after, 0, numbers, {"pg_name": "0"}))
        return len(self.nodes) - 1


def data_parallel(layers: int, size_bytes: int, micros: int) -> Step:
    """Backward layer by layer; each layer's gradients are summed while the next one computes."""
    step = Step()
    before: tuple[int, ...] = (step.compute("forward", layers * micros // 2),)
    sums = []
    for layer in reversed(range(layers)):
        before = (step.compute(f"backward {layer}", micros, *before),)
        sums.append(step.collective(f"gradients {layer}", "ALL_REDUCE", size_bytes, *before))
    step.compute("optimizer", micros, *sums)
    return step


def tensor_parallel(layers: int, size_bytes: int, micros: int) -> Step:
    """Each layer's activations are summed before the next one computes, forward and backward."""
    step = Step()
    before: tuple[int, ...] = ()
    for way in ("forward", "backward"):
        for layer in range(layers):
            before = (step.compute(f"{way} {layer}", micros, *before),)
            before = (step.collective(f"{way} sum {layer}", "ALL_REDUCE", size_bytes, *before),)
    return step


def mixture_of_experts(layers: int, size_bytes: int, micros: int) -> Step:
    """Tokens go to their experts and come back, layer by layer; then gradients are summed."""
    step = Step()
    before: tuple[int, ...] = ()
    for layer in range(layers):
        before = (step.compute(f"attention {layer}", micros, *before),)
        before = (step.collective(f"dispatch {layer}", "ALL_TO_ALL", size_bytes, *before),)
        before = (step.compute(f"experts {layer}", micros, *before),)
        before = (step.collective(f"combine {layer}", "ALL_TO_ALL", size_bytes, *before),)
    step.collective("gradients", "ALL_REDUCE", size_bytes, *before)
    return step


STEPS = {step.__name__: step for step in (data_parallel, tensor_parallel, mixture_of_experts)}


def write(
    kind: str,
    prefix: str | Path,
    ranks: int = 8,
    layers: int = 4,
    size_bytes: int = 1_000_000,
    micros: int = 50,
) -> None:
    """Writes the files; ``size_bytes`` of each collective, ``micros`` of each computation."""
    step = STEPS[kind](layers, size_bytes, micros)
    for rank in range(ranks):
        Path(f"{prefix}.{rank}.et").write_bytes(written_trace(step.nodes))


def main() -> None:
    parser = argparse.ArgumentParser(description="writes execution traces of one training step")
    parser.add_argument("kind", choices=list(STEPS))
    parser.add_argument("prefix", help="of the files")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--size-bytes", type=int, default=1_000_000, help="of each collective")
    parser.add_argument("--micros", type=int, default=50, help="of each computation")
    write(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
