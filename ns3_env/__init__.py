# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium environments over RDMA and TCP networks of ns-3."""

from __future__ import annotations

import ns3_env.config.interrupts  # noqa: F401 (before slow imports)

# isort: split
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ns3_env.config.lazy import lazy
from ns3_env.errors import (
    ConfigError,
    PaddingError,
    ScenarioError,
    SimulatorDied,
    SimulatorError,
    SimulatorHung,
    SimulatorNotFound,
)
from ns3_env.ids import VERSIONS, register, register_task

if TYPE_CHECKING:
    from ns3_env.agents.export.models import export
    from ns3_env.decision.task import Task
    from ns3_env.envs.flow_stream import FlowStream
    from ns3_env.envs.gym_env import FlowEnv
    from ns3_env.envs.pettingzoo_env import FlowParallelEnv
    from ns3_env.envs.rollouts import Rollouts
    from ns3_env.envs.sb3_buffers import masked
    from ns3_env.envs.sb3_vec_env import FlowVecEnv
    from ns3_env.eval import load_flows, load_results
    from ns3_env.eval.output.results import Results
    from ns3_env.eval.results.evaluation import compare, evaluate
    from ns3_env.policies.released import load_policy
    from ns3_env.scenario import Scenario

#: Imported at the first use: some of it needs libraries that are extras.
_LAZY = {
    "FlowEnv": "ns3_env.envs.gym_env",
    "FlowParallelEnv": "ns3_env.envs.pettingzoo_env",
    "FlowStream": "ns3_env.envs.flow_stream",
    "FlowVecEnv": "ns3_env.envs.sb3_vec_env",
    "Results": "ns3_env.eval.output.results",
    "Rollouts": "ns3_env.envs.rollouts",
    "Scenario": "ns3_env.scenario",
    "Task": "ns3_env.decision.task",
    "compare": "ns3_env.eval.results.evaluation",
    "evaluate": "ns3_env.eval.results.evaluation",
    "export": "ns3_env.agents.export.models",
    "load_flows": "ns3_env.eval",
    "load_policy": "ns3_env.policies.released",
    "load_results": "ns3_env.eval",
    "masked": "ns3_env.envs.sb3_buffers",
}

__all__ = [
    "ConfigError",
    "FlowEnv",
    "FlowParallelEnv",
    "FlowStream",
    "FlowVecEnv",
    "PaddingError",
    "Results",
    "Rollouts",
    "Scenario",
    "ScenarioError",
    "SimulatorDied",
    "SimulatorError",
    "SimulatorHung",
    "SimulatorNotFound",
    "Task",
    "compare",
    "evaluate",
    "export",
    "load_flows",
    "load_policy",
    "load_results",
    "masked",
]


_public = lazy(__name__, _LAZY)


def __getattr__(name: str) -> Any:
    """The public names, and ``__version__``."""
    return version("ns3-env") if name == "__version__" else _public(name)


# Gymnasium warns of version 0, whose fields, action, reward and clock are not those of the tasks.
register("ns3_env/RdmaIncast-v0", "ns3_env.envs.gym_env:FlowEnv", "ns3_env.envs.gym_vector_env:FlowVectorEnv")
register(
    "ns3_env/RdmaIncast-v1",
    "ns3_env.envs.bottleneck_envs:RdmaIncastEnv",
    "ns3_env.envs.bottleneck_envs:RdmaIncastVectorEnv",
)
register(
    "ns3_env/TcpBottleneck-v0",
    "ns3_env.envs.bottleneck_envs:TcpBottleneckEnv",
    "ns3_env.envs.bottleneck_envs:TcpBottleneckVectorEnv",
)
for _name in VERSIONS:
    register_task(_name)
register("ns3_env/Script-v0", "ns3_env.envs.script_env:ScriptEnv")
register("ns3_env/Ns3Ai-v0", "ns3_env.ns3ai:Ns3AiEnv", nondeterministic=True)
