# SPDX-License-Identifier: GPL-2.0-or-later
"""Durations of a trace's nodes: measured, or by a roofline."""

from __future__ import annotations

from dataclasses import dataclass

from ns3_env.config.bounds import MAX_TIME_NS
from ns3_env.scenario.traffic.chakra.budget import TraceError
from ns3_env.scenario.traffic.chakra.trace import COMPUTE, LOAD, STORE, Node


@dataclass(frozen=True)
class Durations:
    """Times of nodes. One with a duration lasts that long; a computation without one lasts as long as its
    operations or its bytes, whichever is longer (a roofline); loads and stores last as long as their bytes.

    Args:
        flops_per_s: operations per second of an accelerator; None: computation is instantaneous.
        memory_bytes_per_s: memory bandwidth of an accelerator, byte/s; None: memory access is instantaneous.
    """

    flops_per_s: float | None = None
    memory_bytes_per_s: float | None = None

    def ns(self, node: Node) -> int:
        """Nanoseconds that a node lasts. Raises TraceError if they are too many."""
        if node.duration_micros or node.of_processor():
            return round(node.duration_micros * 1000)
        seconds = 0.0
        if self.flops_per_s is not None and node.type == COMPUTE:
            seconds = node.number("num_ops", 0) / self.flops_per_s
        if self.memory_bytes_per_s is not None and node.type in (COMPUTE, LOAD, STORE):
            seconds = max(seconds, node.number("tensor_size", 0) / self.memory_bytes_per_s)
        if not 0 <= seconds * 1e9 <= MAX_TIME_NS:
            raise TraceError(f"{node} takes {seconds:.3g} s, at most {MAX_TIME_NS / 1e9:.3g}")
        return round(seconds * 1e9)
