# SPDX-License-Identifier: GPL-2.0-or-later
"""Transports, RDMA and TCP: two programs, each with its own controllers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

Transport = Literal["rdma", "tcp"]

TRANSPORTS: tuple[Transport, ...] = get_args(Transport)

#: Names in texts.
SHOWN: dict[Transport, str] = {"rdma": "RDMA", "tcp": "TCP"}


def transport_of(content: Mapping[str, Any]) -> Transport:
    """Returns the transport of a scenario as the simulator reads it, which omits RDMA's name."""
    return "tcp" if content.get("transport") == "tcp" else "rdma"


def other(transport: Transport) -> Transport:
    """The other transport."""
    return "tcp" if transport == "rdma" else "rdma"
