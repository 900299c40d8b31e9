# SPDX-License-Identifier: GPL-2.0-or-later
"""Telemetry fields that each transport knows; refuses others to agents and rewards by name."""

from __future__ import annotations

from collections.abc import Sequence

from ns3_env import _native
from ns3_env.decision import observations
from ns3_env.decision.rewards import REWARDS, Reward
from ns3_env.programs.transport import SHOWN, Transport


def knows(transport: Transport, field: str) -> bool:
    """Whether flows of the transport know the field: TCP's sender has its own numbers and its RTT, but no
    telemetry of hops, and no feedback frames of switches. Raises KeyError for an unknown field."""
    known = _native.known_without_switches(observations.field_indices([field])[0])
    return transport == "rdma" or known


def fields_of(transport: Transport) -> list[str]:
    """Names of the fields that flows of the transport know."""
    return [field.name for field in observations.FIELDS if knows(transport, field.name)]


def unknown_fields(transport: Transport, fields: Sequence[str]) -> str | None:
    """What is wrong with observing ``fields``; None where all are known."""
    lacking = [field for field in fields if not knows(transport, field)]
    if not lacking:
        return None
    return (
        f"{' and '.join(map(repr, lacking))}: telemetry of switches, which {SHOWN[transport]} has not; "
        f"there are {', '.join(fields_of(transport))}"
    )


def unknown_to_reward(transport: Transport, reward: Reward) -> str | None:
    """What is wrong with such a reward; None where it reads what is known, or does not say what it reads."""
    lacking = [field for field in _read_by(reward) if not knows(transport, field)]
    if not lacking:
        return None
    fit = [name for name in REWARDS if _fits(transport, name)]
    return (
        f"reads {' and '.join(map(repr, lacking))}, telemetry of switches, which {SHOWN[transport]} has not; "
        f"{', '.join(fit)} does without, or write one of your own (pkg.module:name)"
    )


def _fits(transport: Transport, name: str) -> bool:
    """Whether the reward of that name, as it is by default, says that it reads what is known."""
    try:
        fields = _read_by(REWARDS[name]())
    except TypeError:  # it has no default
        return False
    return bool(fields) and all(knows(transport, field) for field in fields)


def _read_by(reward: Reward) -> Sequence[str]:
    return tuple(getattr(reward, "fields", ()))
