# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies: protocol, file format, native evaluation, released ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ns3_env.config.lazy import lazy

if TYPE_CHECKING:
    from ns3_env.policies.file import PolicyFile, read_policy, write_policy
    from ns3_env.policies.native_policy import NetworkPolicy
    from ns3_env.policies.policy import Policy
    from ns3_env.policies.released import load_policy, released, released_names

__all__ = [
    "NetworkPolicy",
    "Policy",
    "PolicyFile",
    "load_policy",
    "read_policy",
    "released",
    "released_names",
    "write_policy",
]

__getattr__ = lazy(
    __name__,
    {
        "PolicyFile": "ns3_env.policies.file",
        "read_policy": "ns3_env.policies.file",
        "write_policy": "ns3_env.policies.file",
        "NetworkPolicy": "ns3_env.policies.native_policy",
        "Policy": "ns3_env.policies.policy",
        "load_policy": "ns3_env.policies.released",
        "released": "ns3_env.policies.released",
        "released_names": "ns3_env.policies.released",
    },
)
