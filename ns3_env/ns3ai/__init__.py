# SPDX-License-Identifier: GPL-2.0-or-later
"""ns3-ai interoperability: its Python on our networks, our Python on its simulations."""

from __future__ import annotations

try:
    from ns3_env.ns3ai.segments import SegmentError
except ImportError:
    raise ModuleNotFoundError(
        "this ns3-env was built without Boost's headers, and so without ns3-ai's wire: build it again where "
        "the package cmeel-boost is installed",
        name="ns3_env._ns3ai",
    ) from None
from ns3_env.ns3ai.env import Ns3AiEnv
from ns3_env.ns3ai.gym_wire import MessageTooLargeError, WireError
from ns3_env.ns3ai.targets import TARGETS
from ns3_env.ns3ai.tree import path

__all__ = ["TARGETS", "MessageTooLargeError", "Ns3AiEnv", "SegmentError", "WireError", "path"]
