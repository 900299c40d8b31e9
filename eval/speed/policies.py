# SPDX-License-Identifier: GPL-2.0-or-later
"""Cost of a policy's decision inside the simulator, and the rate of rollouts to a learner."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from ns3_env import _native
from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.configuration.registry import find_agent
from ns3_env.agents.training.rollout_env import make_training_env
from ns3_env.agents.training.trainer import Trainer
from ns3_env.decision.observations import FDCC_FIELDS
from ns3_env.policies.file import PolicyFile, write_policy
from ns3_env.policies.header import PolicySpec
from ns3_env.policies.tensors import Layer, Widths, tensor_shapes
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast

#: Where an agent that learns decides.
ROLLOUTS = ("python", "simulator")
#: Key of the JSON: kind of the network, fields, hidden layers, history, flows that are due together.
NETWORKS = {
    "lstm_1": ("lstm", FDCC_FIELDS, (64,), 8, 1),
    "lstm_64": ("lstm", FDCC_FIELDS, (64,), 8, 64),
    "mlp": ("mlp", FDCC_FIELDS[:4], (12, 12), 1, 1),
}
_WIDTH = 64  # of FDCC's LSTM and shortcut


class Nothing(BaseCallback):
    """Nothing happens beside the learning."""

    def _on_step(self) -> bool:
        return True


def native_us(name: str, seconds: float = 0.2) -> float:
    """Microseconds per decision of one of ``NETWORKS``, from the observation to the action."""
    kind, fields, hidden, history, together = NETWORKS[name]
    spec = PolicySpec.model_validate(
        {
            "observation": [{"field": field, "transform": "symlog"} for field in fields],
            "history": history,
            "network": {"kind": kind, "hidden_activation": "relu", "output_activation": "tanh"},
            "action": {"name": "multiplicative_window", "alpha": 0.5},
            "clock": {"name": "per_flow_rtt"},
            "telemetry_bytes": 16,
        }
    )
    widths = Widths((*map(Layer, hidden), Layer(1)), hidden=_WIDTH, shortcut=_WIDTH)
    random = np.random.default_rng(1)
    tensors = {
        tensor: random.normal(0, 0.1, shape).astype(np.float32)
        for tensor, shape in tensor_shapes(spec, widths).items()
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.safetensors")
        write_policy(path, PolicyFile(spec, tensors))
        return _native.Policy(str(path)).measure_us(together, seconds)


def rollout_decisions_per_s(where: str, decisions: int) -> float:
    """Decisions a second that reach FDCC's replay buffer; nothing is learned."""
    agent = {"name": "fdcc", "gradient_steps": 0, "learning_starts": 0}
    env = {"simulators": 2, "placement": where, "fields": list(FDCC_FIELDS)}
    config = RunConfig.model_validate({"agent": agent, "env": env})
    scenario = Scenario(
        topology=Dumbbell(senders=8),
        traffic=Incast(size_bytes=100_000_000, spread_ns=20_000),
        time_limit_ns=5_000_000,
        record=Record(queues=False),
    )
    training_env = make_training_env(config.env, lambda episode: scenario, scenario.agent_flow_count, 1)
    try:
        trainer: Trainer = find_agent("fdcc").trainer(config, training_env)
        trainer.learn(decisions // 10, Nothing())  # simulators started, and warm
        before, began = trainer.decisions, time.perf_counter()
        trainer.learn(decisions, Nothing())
        return (trainer.decisions - before) / (time.perf_counter() - began)
    finally:
        training_env.close()
