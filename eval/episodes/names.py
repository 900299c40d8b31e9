# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks controller names of the command line against the scenario's transport."""

from __future__ import annotations

from collections.abc import Sequence

from ns3_env.errors import ScenarioError, SimulatorNotFound
from ns3_env.policies.released import controller_names, released_names, unfit
from ns3_env.programs.transport import SHOWN, TRANSPORTS, Transport, other
from ns3_env.scenario import POLICY


def check_names(names: Sequence[str], transport: Transport = "rdma") -> None:
    """Raises ScenarioError for a controller that is neither the transport's nor a released policy which can
    play under it, or that is there twice."""
    known = controller_names(transport)
    for i, name in enumerate(names):
        if name not in known:
            raise ScenarioError(f"--controllers: {wrong(name, transport)}; known: {', '.join(known)}")
        if name in names[:i]:
            raise ScenarioError(f"--controllers: {name!r} is there twice")


def wrong(name: str, transport: Transport, whose: str = "the scenario's transport") -> str:
    """What is wrong with a controller's name that is not known under the transport.

    Args:
        name: the controller's.
        transport: under which it is to play.
        whose: transport that is, for the error.
    """
    if name == POLICY:
        return f"{name!r} plays a policy's file: name it, --checkpoint NAME=FILE"
    if name in released_names():
        return f"{name!r} cannot play: it observes {unfit(name, transport)}"
    if name in _of(other(transport)):
        return f"{name!r} is {SHOWN[other(transport)]}'s, and {whose} is {transport}"
    return f"unknown controller {name!r}"


def is_known(name: str) -> bool:
    """Whether it is a controller of some transport, or a released policy."""
    return any(name in _of(transport) for transport in TRANSPORTS)


def _of(transport: Transport) -> list[str]:
    """Nothing where its simulator is not there."""
    try:
        return controller_names(transport)
    except SimulatorNotFound:
        return []
