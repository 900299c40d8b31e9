# SPDX-License-Identifier: GPL-2.0-or-later
"""Placement of jobs on the GPUs of a cluster: when each starts, and on which."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.jobs.log import LoggedJob

Placement = Literal["packed", "spread", "random"]


class PlacedJob(NamedTuple):
    """A job of a log with its start, in the log's own time, and the hosts of its ranks."""

    job: LoggedJob
    start_s: float
    hosts: list[int]


def place_jobs(
    jobs: Sequence[LoggedJob], network: Network, placement: Placement, random: np.random.Generator
) -> list[PlacedJob]:
    """Starts jobs in the order of their arrivals, each once there are enough free GPUs, which it has for its
    duration in the log.

    Args:
        jobs: jobs by arrival; none needs more GPUs than there are.
        network: hosts, a GPU each; those whose first cards share a switch are a node.
        placement: ``packed``: as few nodes as possible, of those that fit the fullest; ``spread``: a GPU at a
            time from the emptiest node; ``random``: any free GPUs.
        random: generator for ``random``.
    """
    free: dict[int, list[int]] = {}
    for host in network.hosts:
        free.setdefault(network.access_switch(host), []).append(host)
    running: list[tuple[float, int, list[int]]] = []
    placed: list[PlacedJob] = []
    now = 0.0
    for job in jobs:
        now = max(now, job.arrival_s)
        while running and (running[0][0] <= now or sum(map(len, free.values())) < job.gpus):
            end, _, hosts = heapq.heappop(running)
            now = max(now, end)
            for host in hosts:
                free[network.access_switch(host)].append(host)
        hosts = _take(list(free.values()), job.gpus, placement, random)
        for host in hosts:
            free[network.access_switch(host)].remove(host)
        heapq.heappush(running, (now + job.duration_s, len(placed), hosts))
        placed.append(PlacedJob(job, now, hosts))
    return placed


def _take(
    free: Sequence[Sequence[int]], count: int, placement: Placement, random: np.random.Generator
) -> list[int]:
    """Chooses free GPUs; returns them in their order, so that those of a node are neighbours in a ring."""
    if placement == "random":
        all_free = sorted(host for node in free for host in node)
        return sorted(random.choice(all_free, count, replace=False).tolist())
    left = [sorted(node) for node in free]
    chosen: list[int] = []
    while len(chosen) < count:
        needed = count - len(chosen)
        node = max(left, key=len)
        if placement == "packed":
            node = min((x for x in left if len(x) >= needed), key=len, default=node)
        size = needed if placement == "packed" else 1
        chosen += node[:size]
        del node[:size]
    return sorted(chosen)
