# SPDX-License-Identifier: GPL-2.0-or-later
"""How is a policy trained? One interface; each kind of agent behind it with the trainer that suits it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch as th
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, make_output_format
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecEnv

from agents.training.checkpoint import check_layout, write_layout
from agents.training.config import RunConfig
from ns3_env.policy import FloatArray, Policy, State

MODEL, REPLAY_BUFFER = "model.zip", "replay_buffer.pkl"


class Trainer(ABC):
    """Improves a policy by running it in an environment.

    A checkpoint folder holds what ``save`` writes; ``restore`` goes on from it. ``policy`` is what is
    evaluated.
    """

    @abstractmethod
    def __init__(
        self, config: RunConfig, env: VecEnv, logs: Path | None = None, log_suffix: str = ""
    ) -> None:
        """
        Args:
            config: the run's configuration.
            env: where to learn.
            logs: folder of progress.csv and the TensorBoard file; None: no logs.
            log_suffix: put into their names, so that a run that goes on keeps its first ones.
        """

    @property
    @abstractmethod
    def policy(self) -> Policy:
        """The policy as it is now."""

    @property
    @abstractmethod
    def decisions(self) -> int:
        """Decisions trained on so far."""

    @abstractmethod
    def learn(self, decisions: int, callback: BaseCallback) -> None:
        """Trains for so many decisions more, or until the callback ends it."""

    @classmethod
    @abstractmethod
    def load_policy(cls, folder: Path, layout: Mapping[str, Any]) -> Policy:
        """The policy that ``save`` wrote into ``folder``, by its layout, without an environment."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Writes the policy and all that is needed to go on."""

    @abstractmethod
    def restore(self, folder: Path) -> None:
        """Reads what ``save`` wrote. Raises ConfigError where it belongs to other fields or another agent."""


class Sb3Policy:
    """A Stable-Baselines3 algorithm with the fields and the action map it was trained for."""

    def __init__(self, model: BaseAlgorithm, fields: Sequence[str], action_map: str) -> None:
        self.model = model
        self.fields = tuple(fields)
        self.action_map = action_map

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        """See ``Policy``."""
        return self.model.predict(observation, state, episode_start, deterministic)


class GradientTrainer(Trainer):
    """What trainers of Stable-Baselines3 algorithms, FDCC among them, have in common."""

    def __init__(
        self, config: RunConfig, env: VecEnv, logs: Path | None = None, log_suffix: str = ""
    ) -> None:
        """See ``Trainer``."""
        th.set_num_threads(config.train.torch_threads)
        self.config = config
        self.env = env
        self.model = self._make()
        outputs = [] if logs is None else ["csv", "tensorboard"]
        self.logger = Logger(
            None if logs is None else str(logs),
            [make_output_format(form, str(logs), log_suffix) for form in outputs],
        )
        self.model.set_logger(self.logger)

    @classmethod
    @abstractmethod
    def algorithm(cls, name: str) -> type[BaseAlgorithm]:
        """The class of the agent of that name."""

    @abstractmethod
    def _make(self) -> BaseAlgorithm:
        """The algorithm, untrained."""

    @classmethod
    def load_policy(cls, folder: Path, layout: Mapping[str, Any]) -> Policy:
        """See ``Trainer``."""
        model = cls.algorithm(layout["agent"]).load(folder / MODEL, device="cpu")
        return Sb3Policy(model, layout["fields"], layout["action_map"])

    @property
    def policy(self) -> Policy:
        """See ``Trainer``."""
        return Sb3Policy(self.model, self.config.env.fields, self.config.env.action.name)

    @property
    def decisions(self) -> int:
        """See ``Trainer``."""
        return self.model.num_timesteps

    def learn(self, decisions: int, callback: BaseCallback) -> None:
        """See ``Trainer``."""
        self.model.learn(
            decisions,
            callback,
            log_interval=self.config.train.log_every_episodes,
            reset_num_timesteps=self.model.num_timesteps == 0,
        )

    def layout(self) -> dict[str, Any]:
        """What a checkpoint's networks are bound to."""
        env = self.config.env
        return {"agent": self.config.agent.name, "fields": list(env.fields), "action_map": env.action.name}

    def save(self, folder: Path) -> None:
        """See ``Trainer``."""
        self.model.save(folder / MODEL)
        write_layout(folder, self.layout())
        if isinstance(self.model, OffPolicyAlgorithm):
            self.model.save_replay_buffer(folder / REPLAY_BUFFER)

    def restore(self, folder: Path) -> None:
        """See ``Trainer``."""
        check_layout(folder, self.layout())
        self.model = type(self.model).load(folder / MODEL, env=self.env, device="cpu")
        self.model.set_logger(self.logger)
        if isinstance(self.model, OffPolicyAlgorithm) and (folder / REPLAY_BUFFER).exists():
            self.model.load_replay_buffer(folder / REPLAY_BUFFER)
