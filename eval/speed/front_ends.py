# SPDX-License-Identifier: GPL-2.0-or-later
"""Decisions per second of each front end, and of policies inside the simulator."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from ns3_env import _native
from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.configuration.registry import find_agent
from ns3_env.agents.training.rollout_env import make_training_env
from ns3_env.agents.training.trainer import Trainer
from ns3_env.decision.observations import FDCC_FIELDS
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import incast_scenario
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.eval.speed.alone import scenario
from ns3_env.policies.file import PolicyFile, write_policy
from ns3_env.policies.header import PolicySpec
from ns3_env.policies.tensors import Layer, Widths, tensor_shapes
from ns3_env.scenario import Scenario, Synchronous

_FLOWS = 4
_VECTOR = 8
_CLOCK = Synchronous(interval_ns=5_000)
#: Wall seconds of one turn: short, so that some are undisturbed by other processes.
_TURN_S = 0.1
#: Runs without end; each step yields its number of decisions.
Steps = Iterator[int]


def _alone(name: str, **arguments: Any) -> Steps:
    """An environment of Gymnasium's registry, with actions of 0."""
    env = gym.make(name, **arguments)
    try:
        action = np.zeros(1, dtype=np.float32)
        env.reset(seed=1)
        while True:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
            yield 1
    finally:
        env.close()


def _vector() -> Steps:
    """The environment of Gymnasium's registry in ``_VECTOR`` networks."""
    envs = gym.make_vec("ns3_env/RdmaIncast-v1", num_envs=_VECTOR, flows=_FLOWS)
    try:
        actions = np.zeros((_VECTOR, 1), dtype=np.float32)
        envs.reset(seed=1)
        while True:
            envs.step(actions)
            yield _VECTOR
    finally:
        envs.close()


def _stable_baselines(flows: int = _FLOWS) -> Steps:
    """Every flow of two networks decides, at every step of the clock; slots that wait are not counted."""
    with FlowVecEnv(_incast(flows), slots=flows, num_simulators=2, telemetry=False) as env:
        env.mask.acknowledge()
        env.reset()
        actions = np.zeros((env.num_envs, 1), dtype=np.float32)
        while True:
            env.step(actions)
            yield int(env.mask.decided.sum())


def _incast(flows: int) -> Scenario:
    return incast_scenario(flows).model_copy(update={"clock": _CLOCK})


def _stream() -> Steps:
    """Every flow decides at its own times, by recv() and send()."""
    with FlowStream(incast_scenario(_FLOWS), slots=_FLOWS, num_simulators=2) as stream:
        stream.start()
        actions = np.zeros((_FLOWS, 1), dtype=np.float32)
        while True:
            batch = stream.recv()
            slots = batch.slots[batch.due]
            stream.send(actions[: len(slots)], slots)
            yield len(slots)


def _pettingzoo() -> Steps:
    """An agent for each flow."""
    env, action = FlowParallelEnv(_incast(_FLOWS)), np.zeros(1, dtype=np.float32)
    try:
        env.reset(seed=1)
        while True:
            if not env.agents:
                env.reset()
            _, _, _, _, infos = env.step(dict.fromkeys(env.agents, action))
            yield sum(bool(info["due"]) for info in infos.values())
    finally:
        env.close()


#: Key of the JSON -> the front end's steps.
FRONT_ENDS: Mapping[str, Callable[[], Steps]] = {
    # One flow decides, the other flows are under HPCC.
    "gymnasium": lambda: _alone("ns3_env/RdmaIncast-v1", flows=_FLOWS),
    "make_vec": _vector,
    "stable_baselines3": _stable_baselines,
    "stable_baselines3_64": lambda: _stable_baselines(32),
    "stable_baselines3_256": lambda: _stable_baselines(128),
    "recv_send": _stream,
    "pettingzoo": _pettingzoo,
}


def steps_per_s(name: str, seconds: float) -> tuple[float, float]:
    """Decisions a wall second of a front end, and Pendulum's steps a wall second, in turns.

    Each is its fastest turn of ``seconds`` in all: other processes can only slow a turn down.
    """
    with closing(FRONT_ENDS[name]()) as front_end, closing(_alone("Pendulum-v1")) as pendulum:  # type: ignore[type-var]
        best = [0.0, 0.0]
        for _ in range(max(round(seconds / _TURN_S / 2), 1)):
            for i, steps in enumerate((front_end, pendulum)):
                best[i] = max(best[i], _turn(steps))
        return best[0], best[1]


def _turn(steps: Steps) -> float:
    """Decisions per wall second of one turn, after a first step that wakes the processes."""
    next(steps)
    start_s = now = time.perf_counter()
    done = 0
    while now < start_s + _TURN_S:
        done += next(steps)
        now = time.perf_counter()
    return done / (now - start_s)


#: Placements of a learning agent.
ROLLOUTS = ("python", "simulator")
#: Key of the JSON: kind of the network, fields, hidden layers, history, number of flows due together.
NETWORKS = {
    "lstm_1": ("lstm", FDCC_FIELDS, (64,), 8, 1),
    "lstm_64": ("lstm", FDCC_FIELDS, (64,), 8, 64),
    "mlp": ("mlp", FDCC_FIELDS[:4], (12, 12), 1, 1),
}
_WIDTH = 64  # of FDCC's LSTM and shortcut


class Nothing(BaseCallback):
    """A callback that does nothing."""

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
    eight = scenario("rollouts")
    training_env = make_training_env(config.env, lambda episode: eight, eight.agent_flow_count, 1)
    try:
        trainer: Trainer = find_agent("fdcc").trainer(config, training_env)
        trainer.learn(decisions // 10, Nothing())  # simulators started, and warm
        before, start_s = trainer.decisions, time.perf_counter()
        trainer.learn(decisions, Nothing())
        return (trainer.decisions - before) / (time.perf_counter() - start_s)
    finally:
        training_env.close()
