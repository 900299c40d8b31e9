# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of tasks that the same controllers can play, and the controllers that scores there stand on."""

from __future__ import annotations

from dataclasses import dataclass

from ns3_env.eval.benchmark.way import DEPLOYED
from ns3_env.tasks import TaskSpec
from ns3_env.tasks.definition import RDMA_FIELDS


@dataclass(frozen=True)
class Group:
    """A group.

    Attributes:
        name: as the leaderboard has it.
        base: the rule that is deployed there.
    """

    name: str
    base: str


RDMA = Group("RDMA", DEPLOYED["rdma"])
#: Flows hear feedback frames of switches alone.
LAYER2 = Group("Layer2", "qcn")
TCP = Group("TCP", DEPLOYED["tcp"])
#: In the leaderboard's order.
GROUPS = (RDMA, LAYER2, TCP)


def group_of(spec: TaskSpec) -> Group:
    """The task's group: by its transport, and by what flows observe."""
    if spec.test(0).transport == "tcp":
        return TCP
    return RDMA if spec.fields == RDMA_FIELDS else LAYER2
