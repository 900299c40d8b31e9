# SPDX-License-Identifier: GPL-2.0-or-later
"""A network with its traffic, as the published simulator's files hold it."""

from __future__ import annotations

from dataclasses import dataclass

#: Rates of links (Gb/s) that the published HPCC knows.
HPCC_RATES = (25, 50, 100, 200, 400)


@dataclass(frozen=True)
class NetworkLink:
    """As topology.txt has it: ``delay`` with its unit."""

    a: int
    b: int
    rate_gbps: int
    delay: str


@dataclass(frozen=True)
class NetworkFlow:
    """As flow.txt has it: ``start`` in seconds."""

    src: int
    dst: int
    size_bytes: int
    start: str


@dataclass(frozen=True)
class PublishedNetwork:
    """A network with its traffic. Node ids are 0 to ``nodes`` - 1, switches anywhere among them."""

    name: str
    nodes: int
    switches: list[int]
    links: list[NetworkLink]
    flows: list[NetworkFlow]
    host_rate_gbps: int
    buffer_mib: int
