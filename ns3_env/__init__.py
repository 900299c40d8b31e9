# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands between a policy and ns-3? Gymnasium environments over RDMA networks, and over TCP."""

from __future__ import annotations

import gymnasium as gym

from ns3_env.errors import (
    PaddingError,
    ScenarioError,
    SimulatorDied,
    SimulatorError,
    SimulatorHung,
    SimulatorNotFound,
)

__all__ = [
    "PaddingError",
    "ScenarioError",
    "SimulatorDied",
    "SimulatorError",
    "SimulatorHung",
    "SimulatorNotFound",
]

if "ns3_env/RdmaIncast-v0" not in gym.registry:
    gym.register(
        id="ns3_env/RdmaIncast-v0",
        entry_point="ns3_env.flow_env:RdmaIncastEnv",
        vector_entry_point="ns3_env.vector_env:RdmaIncastVectorEnv",
        nondeterministic=False,
    )
    gym.register(
        id="ns3_env/TcpBottleneck-v0",
        entry_point="ns3_env.tcp_env:TcpBottleneckEnv",
        vector_entry_point="ns3_env.tcp_env:TcpBottleneckVectorEnv",
        nondeterministic=False,
    )
    gym.register(id="ns3_env/Ns3Ai-v0", entry_point="ns3_env.ns3ai:Ns3AiEnv", nondeterministic=True)
