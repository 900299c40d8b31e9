# SPDX-License-Identifier: GPL-2.0-or-later
"""Trainer of Stable-Baselines3 algorithms, on the synchronous clock and the slots that are due."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.policies import BasePolicy

from ns3_env.agents.sb3.censored import Symlog
from ns3_env.agents.sb3.config import Sb3Config
from ns3_env.agents.sb3.export import of_sb3
from ns3_env.agents.training.policy_tensors import Exported
from ns3_env.agents.training.trainer import Sb3Policy, Trainer
from ns3_env.config.imports import named_code
from ns3_env.envs.sb3_buffers import mask_of, masked
from ns3_env.envs.slots import Mask
from ns3_env.errors import ConfigError
from ns3_env.policies.history import Floats, Ints, after_steps
from ns3_env.policies.policy import FloatArray, State


class RecurrentSb3Policy(Sb3Policy):
    """An ``Sb3Policy`` whose state, hidden and cell (n, layers, H), has a row for each flow.

    sb3-contrib has the layers first.
    """

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        actions, after = super().predict(observation, _swapped(state), episode_start, deterministic)
        return actions, _swapped(after)


def is_recurrent(policy: BasePolicy) -> bool:
    """Returns whether the policy hands a state from decision to decision."""
    return hasattr(policy, "lstm_actor")


def _swapped(state: State | None) -> State | None:
    return None if state is None else tuple(part.swapaxes(0, 1) for part in state)


class CountsDecisions(BaseCallback):
    """Subtracts rows without decisions from ``num_timesteps``: budgets and schedules count decisions."""

    def __init__(self, mask: Mask) -> None:
        """
        Args:
            mask: the environment's.
        """
        super().__init__()
        self._mask = mask

    def _on_step(self) -> bool:
        self.model.num_timesteps -= int(np.count_nonzero(~self._mask.decided))
        return True


#: Exceptions of an algorithm's constructor for options that are invalid, or need too much memory.
_REFUSALS = (TypeError, ValueError, AssertionError, ArithmeticError, LookupError, RuntimeError, MemoryError)


#: Classes by the names of ``Sb3Config``.
_ALGORITHMS: dict[str, type[BaseAlgorithm]] = {"td3": TD3, "sac": SAC, "ppo": PPO}


class Sb3Trainer(Trainer):
    """TD3, SAC or PPO as Stable-Baselines3 has them."""

    def _class(self) -> type[BaseAlgorithm]:
        """The algorithm's class."""
        name = self.config.agent.name
        algorithm = _ALGORITHMS[name] if name in _ALGORITHMS else named_code(name)
        assert isinstance(algorithm, type)
        assert issubclass(algorithm, BaseAlgorithm)
        return algorithm

    def _make(self) -> BaseAlgorithm:
        agent = self.config.agent
        assert isinstance(agent, Sb3Config)
        options: dict[str, Any] = {
            "device": "cpu",
            "seed": self.config.seed,
            "gamma": agent.gamma_per_rtt,
            **agent.options,
        }
        if agent.action_noise > 0:
            mean = np.zeros(self.env.action_space.shape or ())
            options["action_noise"] = NormalActionNoise(mean, np.full_like(mean, agent.action_noise))
        if agent.compress:
            chosen = options.get("policy_kwargs", {})
            options["policy_kwargs"] = {"features_extractor_class": Symlog, **chosen}
        try:
            algorithm: Any = self._class()  # known only here; each class has these parameters
            model: BaseAlgorithm = algorithm(agent.policy, self.env, **options)
            return masked(model)
        except _REFUSALS as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ConfigError(f"agent: {agent.name} does not accept its options: {reason}") from error

    def learn(self, decisions: int, callback: BaseCallback) -> None:
        mask = mask_of(self.model)
        counted = callback if mask is None else CallbackList([CountsDecisions(mask), callback])
        super().learn(decisions, counted)

    @property
    def _policy_class(self) -> type[Sb3Policy]:
        return RecurrentSb3Policy if is_recurrent(self.model.policy) else Sb3Policy

    def network(self) -> Exported:
        return of_sb3(self.model.policy)

    def _answers(self, histories: Floats, lengths: Ints) -> Floats:
        """See ``Trainer``; a policy with a state goes through histories from the flows' first decisions."""
        if not is_recurrent(self.model.policy):
            return super()._answers(histories, lengths)

        def step(rows: Floats, state: State | None) -> tuple[Floats, State]:
            actions, after = self.policy.predict(rows, state, deterministic=True)
            assert after is not None
            return actions, after

        return after_steps(step, histories, lengths)
