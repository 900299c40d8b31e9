# SPDX-License-Identifier: GPL-2.0-or-later
"""How is a policy trained? One interface; each kind of agent behind it with the trainer that suits it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium import spaces
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, make_output_format
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecEnv

from agents.fdcc import FDCC
from agents.policy import FloatArray, Policy, State
from agents.training.config import FdccAgent, RunConfig, Sb3Agent
from ns3_env.errors import ConfigError

MODEL, REPLAY_BUFFER, LAYOUT = "model.zip", "replay_buffer.pkl", "layout.json"


class Trainer(ABC):
    """Improves a policy by running it in an environment.

    A checkpoint folder holds what ``save`` writes; ``restore`` goes on from it. ``policy`` is what is
    evaluated.
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
        """
        Args:
            config: the run's configuration.
            env: where to learn.
            logs: folder of progress.csv and the TensorBoard file; None: no logs.
            log_suffix: put into their names, so that a run that goes on keeps its first ones.
        """
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

    @abstractmethod
    def _make(self) -> BaseAlgorithm:
        """The algorithm, untrained."""

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
        (folder / LAYOUT).write_text(json.dumps(self.layout()), encoding="utf-8")
        if isinstance(self.model, OffPolicyAlgorithm):
            self.model.save_replay_buffer(folder / REPLAY_BUFFER)

    def restore(self, folder: Path) -> None:
        """See ``Trainer``."""
        check_layout(folder, self.layout())
        self.model = type(self.model).load(folder / MODEL, env=self.env, device="cpu")
        self.model.set_logger(self.logger)
        if isinstance(self.model, OffPolicyAlgorithm) and (folder / REPLAY_BUFFER).exists():
            self.model.load_replay_buffer(folder / REPLAY_BUFFER)


def check_layout(folder: Path, expected: dict[str, Any]) -> None:
    """Raises ConfigError, naming file and key, where a checkpoint's layout is not the ``expected`` one."""
    path = folder / LAYOUT
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: not a checkpoint: cannot be read") from error
    for key, value in expected.items():
        if found.get(key) != value:
            raise ConfigError(f"{path}: {key} is {found.get(key)}, but the run is configured for {value}")


class FdccTrainer(GradientTrainer):
    """FDCC, by gradient, on any clock."""

    def _make(self) -> FDCC:
        agent, env = self.config.agent, self.config.env
        assert isinstance(agent, FdccAgent)
        noise = None
        if agent.action_noise > 0:
            noise = NormalActionNoise(np.zeros(1), np.full(1, agent.action_noise))
        return FDCC(
            "LstmPolicy",
            self.env,
            learning_rate=agent.learning_rate,
            buffer_size=agent.buffer_size,
            learning_starts=agent.learning_starts,
            batch_size=agent.batch_size,
            tau=agent.tau,
            gamma=agent.gamma,
            train_freq=agent.train_freq,
            gradient_steps=agent.gradient_steps,
            action_noise=noise,
            history_length=agent.history_length,
            n_step_return=agent.n_step_return,
            append_last_action="last_action" not in env.fields,
            compress_rewards=agent.compress_rewards,
            random_share=agent.random_share,
            saturation_penalty=agent.saturation_penalty,
            policy_delay=agent.policy_delay,
            target_policy_noise=agent.target_policy_noise,
            target_noise_clip=agent.target_noise_clip,
            fields=env.fields,
            action_map=env.action.name,
            policy_kwargs={
                "hidden": agent.hidden,
                "shortcut": agent.shortcut,
                "net_arch": list(agent.net_arch),
                "compress": agent.compress,
            },
            seed=self.config.seed,
        )


class DueReplayBuffer(ReplayBuffer):
    """Keeps the transitions of slots that are due; a slot without a flow only repeats what it saw last."""

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        device: th.device | str = "auto",
        n_envs: int = 1,
        optimize_memory_usage: bool = False,
    ) -> None:
        """Parameters are ReplayBuffer's; the slots (``n_envs``) share one ring."""
        super().__init__(buffer_size, observation_space, action_space, device, 1, optimize_memory_usage)
        self._acted = np.zeros(n_envs, dtype=bool)

    def add(
        self,
        obs: npt.NDArray[Any],
        next_obs: npt.NDArray[Any],
        action: npt.NDArray[Any],
        reward: npt.NDArray[Any],
        done: npt.NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Adds the rows of slots that were due, so that their action was taken; infos say who is due next."""
        for i in np.flatnonzero(self._acted):
            row = slice(i, i + 1)
            super().add(obs[row], next_obs[row], action[row], reward[row], done[row], infos[row])
        self._acted = np.array([info.get("due", True) for info in infos])

    def __getstate__(self) -> dict[str, Any]:
        """Without who acted last: the environment will have been reset."""
        return {**self.__dict__, "_acted": np.zeros_like(self._acted)}


class Sb3Trainer(GradientTrainer):
    """TD3, SAC or PPO as Stable-Baselines3 has them, on the synchronous clock."""

    ALGORITHMS: ClassVar[dict[str, type[BaseAlgorithm]]] = {"td3": TD3, "sac": SAC, "ppo": PPO}

    def _make(self) -> BaseAlgorithm:
        agent = self.config.agent
        assert isinstance(agent, Sb3Agent)
        algorithm = self.ALGORITHMS[agent.name]
        options: dict[str, Any] = {"device": "cpu", "seed": self.config.seed, **agent.options}
        if issubclass(algorithm, OffPolicyAlgorithm):
            options.setdefault("replay_buffer_class", DueReplayBuffer)
        try:
            return algorithm(agent.policy, self.env, **options)
        except (TypeError, ValueError, AssertionError) as error:
            raise ConfigError(f"agent: {agent.name} does not accept its options: {error}") from error


TRAINERS: dict[str, type[GradientTrainer]] = {
    "fdcc": FdccTrainer,
    **dict.fromkeys(Sb3Trainer.ALGORITHMS, Sb3Trainer),
}


def make_trainer(config: RunConfig, env: VecEnv, logs: Path | None = None, log_suffix: str = "") -> Trainer:
    """The trainer of the configured agent."""
    return TRAINERS[config.agent.name](config, env, logs, log_suffix)


def load_policy(checkpoint: Path) -> Policy:
    """The policy in a checkpoint's folder, without an environment. Raises ConfigError."""
    path = checkpoint / LAYOUT
    try:
        layout = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{checkpoint}: not a checkpoint: {LAYOUT} cannot be read") from error
    if layout["agent"] not in TRAINERS:
        raise ConfigError(f"{path}: {layout['agent']!r} is no policy; policies: {', '.join(TRAINERS)}")
    algorithm = FDCC if layout["agent"] == "fdcc" else Sb3Trainer.ALGORITHMS[layout["agent"]]
    model = algorithm.load(checkpoint / MODEL, device="cpu")
    return Sb3Policy(model, layout["fields"], layout["action_map"])
