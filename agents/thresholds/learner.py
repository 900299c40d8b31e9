# SPDX-License-Identifier: GPL-2.0-or-later
"""Training of one policy for all ports, its folder, and its actions from the last intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecFrameStack

from ns3_env.agents.thresholds.config import ThresholdsConfig, read_config
from ns3_env.agents.training.layout import write_arrays
from ns3_env.agents.training.learned import POLICY, put_policy
from ns3_env.agents.training.rollout_env import SpacesOnly
from ns3_env.config.files import write_atomically
from ns3_env.config.yaml import to_text
from ns3_env.decision.rewards import Acc
from ns3_env.decision.task import Task
from ns3_env.tasks import make, task

CONFIG = "config.yaml"
_ALGORITHMS: dict[str, type[BaseAlgorithm]] = {"ppo": PPO, "dqn": DQN}


def problem_of(config: ThresholdsConfig) -> Task:
    """The task's observations and actions under the configured reward."""
    return task(config.task).problem(reward=Acc(**config.reward))


def _model(config: ThresholdsConfig, env: VecEnv) -> BaseAlgorithm:
    options = {"device": "cpu", "seed": config.seed, **config.options}
    stacked = VecFrameStack(env, config.history)
    return _ALGORITHMS[config.algorithm]("MlpPolicy", stacked, **options)


def untrained(config: ThresholdsConfig) -> BaseAlgorithm:
    """The model before its first decision."""
    spec = task(config.task)
    return _model(config, SpacesOnly(list(spec.fields), "ecn_thresholds", spec.slots))


class _Progress(BaseCallback):
    """Prints the mean reward of a decision, ten times a run."""

    def __init__(self, decisions: int) -> None:
        super().__init__()
        self._every = max(decisions // 10, 1)
        self._next, self._sum, self._count = self._every, 0.0, 0

    def _on_step(self) -> bool:
        rewards: NDArray[np.float32] = self.locals["rewards"]
        self._sum, self._count = self._sum + float(rewards.sum()), self._count + len(rewards)
        if self.num_timesteps >= self._next:
            print(f"{self.num_timesteps} decisions: reward {self._sum / self._count:.4f}", flush=True)
            self._next, self._sum, self._count = self._next + self._every, 0.0, 0
        return True


def train(config: ThresholdsConfig, folder: Path) -> None:
    """Trains on the task's training scenarios, and writes policy and configuration to ``folder``."""
    env = make(
        config.task,
        "sb3",
        task=problem_of(config),
        seed=config.seed,
        num_simulators=config.simulators,
        telemetry=False,
    )
    try:
        model = _model(config, env)
        model.learn(config.decisions, callback=_Progress(config.decisions))
    finally:
        env.close()
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / CONFIG, to_text(config.model_dump()).encode())
    tensors = model.policy.state_dict()
    write_arrays(folder / POLICY, {name: tensor.cpu().numpy() for name, tensor in tensors.items()})


def load(folder: Path) -> tuple[ThresholdsConfig, BaseAlgorithm]:
    """A trained policy, from the folder that ``train`` wrote. Raises ConfigError."""
    config = read_config(folder / CONFIG)
    model = untrained(config)
    put_policy(model.policy, folder)
    return config, model


class PortActor:
    """The most likely actions of a model for ports 0 to n - 1 that all decide together."""

    def __init__(self, model: BaseAlgorithm, history: int) -> None:
        self._model, self._history = model, history
        self._frames: NDArray[np.float32] | None = None  # (n, history * fields), the last one at the end

    def reset(self) -> None:
        """Starts an episode."""
        self._frames = None

    def __call__(self, observations: NDArray[np.float32]) -> NDArray[np.int64]:
        """Actions (n,) on observations (n, fields)."""
        ports, width = observations.shape
        if self._frames is None:
            self._frames = np.zeros((ports, self._history * width), np.float32)
        self._frames = np.concatenate([self._frames[:, width:], observations], axis=1)
        actions: NDArray[np.int64] = self._model.predict(self._frames, deterministic=True)[0]
        return actions
