# SPDX-License-Identifier: GPL-2.0-or-later
"""Environments: Gymnasium, vectorised, PettingZoo, RLlib, streams and rollouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ns3_env.config.lazy import lazy

if TYPE_CHECKING:
    from ns3_env.envs.bottleneck_envs import RdmaIncastEnv, TcpBottleneckEnv
    from ns3_env.envs.flow_stream import FlowStream
    from ns3_env.envs.gym_env import FlowEnv, incast_scenario
    from ns3_env.envs.gym_vector_env import FlowVectorEnv
    from ns3_env.envs.pettingzoo_env import FlowParallelEnv
    from ns3_env.envs.port_env import PortEnv
    from ns3_env.envs.rllib_env import FlowMultiAgentEnv
    from ns3_env.envs.rollouts import Exploration, Rollout, Rollouts
    from ns3_env.envs.sb3_buffers import masked
    from ns3_env.envs.sb3_vec_env import FlowVecEnv
    from ns3_env.envs.script_env import ScriptEnv

__all__ = [
    "Exploration",
    "FlowEnv",
    "FlowMultiAgentEnv",
    "FlowParallelEnv",
    "FlowStream",
    "FlowVecEnv",
    "FlowVectorEnv",
    "PortEnv",
    "RdmaIncastEnv",
    "Rollout",
    "Rollouts",
    "ScriptEnv",
    "TcpBottleneckEnv",
    "incast_scenario",
    "masked",
]

__getattr__ = lazy(
    __name__,
    {
        "FlowStream": "ns3_env.envs.flow_stream",
        "FlowEnv": "ns3_env.envs.gym_env",
        "incast_scenario": "ns3_env.envs.gym_env",
        "FlowVectorEnv": "ns3_env.envs.gym_vector_env",
        "FlowParallelEnv": "ns3_env.envs.pettingzoo_env",
        "PortEnv": "ns3_env.envs.port_env",
        "FlowMultiAgentEnv": "ns3_env.envs.rllib_env",
        "Exploration": "ns3_env.envs.rollouts",
        "Rollout": "ns3_env.envs.rollouts",
        "Rollouts": "ns3_env.envs.rollouts",
        "masked": "ns3_env.envs.sb3_buffers",
        "FlowVecEnv": "ns3_env.envs.sb3_vec_env",
        "ScriptEnv": "ns3_env.envs.script_env",
        "RdmaIncastEnv": "ns3_env.envs.bottleneck_envs",
        "TcpBottleneckEnv": "ns3_env.envs.bottleneck_envs",
    },
)
