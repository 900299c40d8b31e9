# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium environments over RDMA and TCP networks of ns-3."""

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
        entry_point="ns3_env.envs.gym_env:RdmaIncastEnv",
        vector_entry_point="ns3_env.envs.gym_vector_env:RdmaIncastVectorEnv",
        nondeterministic=False,
    )
    gym.register(
        id="ns3_env/TcpBottleneck-v0",
        entry_point="ns3_env.envs.tcp_env:TcpBottleneckEnv",
        vector_entry_point="ns3_env.envs.tcp_env:TcpBottleneckVectorEnv",
        nondeterministic=False,
    )
    gym.register(id="ns3_env/Ns3Ai-v0", entry_point="ns3_env.ns3ai:Ns3AiEnv", nondeterministic=True)
