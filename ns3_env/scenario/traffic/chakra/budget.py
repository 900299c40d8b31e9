# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits of a job's files, and the error of a trace that is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from ns3_env.config.bounds import MAX_JOB_BYTES, MAX_NODES, WHY_NODES


class TraceError(ValueError):
    """A trace that is damaged, or that does not fit the job's other ones."""


@dataclass
class Budget:
    """Nodes and bytes that the files of a job may still have, all ranks together."""

    nodes: int = MAX_NODES
    size_bytes: int = MAX_JOB_BYTES

    def spend(self, nodes: int = 0, size_bytes: int = 0) -> None:
        """Subtracts the amount read. Raises TraceError if it is more than a job may have."""
        self.nodes -= nodes
        self.size_bytes -= size_bytes
        if self.nodes < 0:
            raise TraceError(f"a job may have at most {MAX_NODES} nodes, of all ranks together: {WHY_NODES}")
        if self.size_bytes < 0:
            raise TraceError(f"a job's files may have at most {MAX_JOB_BYTES} B together: {WHY_NODES}")
