# SPDX-License-Identifier: GPL-2.0-or-later
"""On-policy algorithms of Stable-Baselines3 that learn from whole episodes, run inside simulators."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import torch as th
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.common.type_aliases import MaybeCallback
from stable_baselines3.common.vec_env import VecEnv
from typing_extensions import Self

from ns3_env.agents.sb3.censored import CensoredPolicy
from ns3_env.agents.sb3.config import EpisodeConfig, Sb3Config
from ns3_env.agents.sb3.episode_buffer import EpisodeBuffer
from ns3_env.agents.sb3.export import of_sb3
from ns3_env.agents.sb3.trainer import Sb3Trainer
from ns3_env.agents.training.learned import start_tensors
from ns3_env.agents.training.rollout_env import RolloutEnv, SpacesOnly
from ns3_env.envs.rollouts import Exploration, Rollout
from ns3_env.errors import ConfigError


class OfEpisodes(OnPolicyAlgorithm):
    """Base of PPO and TRPO that learn from whole episodes, which their policy has run inside simulators.

    An update follows ``n_steps`` decisions and the episodes they are part of, all of them under the policy of
    the last update. Simulators explore by the policy's own standard deviation.
    """

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {
        **OnPolicyAlgorithm.policy_aliases,
        "MlpPolicy": CensoredPolicy,
    }
    rollout_buffer: EpisodeBuffer

    def __init__(self, policy: str | type[ActorCriticPolicy], env: SpacesOnly, **options: Any) -> None:
        """Parameters are the algorithm's, for a ``RolloutEnv``, or only its spaces if nothing is learned;
        ``gamma`` counts per base RTT. Raises ValueError for ``use_sde``: simulators explore with their own
        noise."""
        if options.get("use_sde") and isinstance(env, RolloutEnv):
            raise ValueError("use_sde: simulators know independent noise alone: needs env.placement=python")
        #: The policy's file as it is now; set by the trainer.
        self.snapshot: Callable[[], bytes] = _no_snapshot
        self._spaces = env
        #: Scaling of advantages. Set by a trainer with a configuration.
        self.by_episode = False
        with warnings.catch_warnings():
            # It warns of minibatches that do not add up to n_steps, but episodes vary in length.
            warnings.filterwarnings("ignore", message="You have specified a mini-batch size")
            super().__init__(policy, env, rollout_buffer_class=EpisodeBuffer, **options)

    def learn(
        self,
        total_timesteps: int,
        callback: MaybeCallback = None,
        log_interval: int = 1,
        tb_log_name: str = "run",
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> Self:
        """Learns as Stable-Baselines3 does, with a line of the log for each update."""
        return super().learn(total_timesteps, callback, 1, tb_log_name, reset_num_timesteps, progress_bar)

    def collect_rollouts(
        self, env: VecEnv, callback: BaseCallback, rollout_buffer: RolloutBuffer, n_rollout_steps: int
    ) -> bool:
        """Runs the episodes that the next update learns from; False if the callback ends the training.

        Callbacks find ``finished`` ((slot, return, length) of each flow of the episode) and ``results`` among
        their locals.
        """
        assert isinstance(self._spaces, RolloutEnv)
        callback.on_rollout_start()
        rollouts: list[Rollout] = []
        for rollout in self._spaces.batch(self.snapshot, self._exploration(), n_rollout_steps):
            rollouts.append(rollout)
            self.num_timesteps += rollout.decisions
            finished, results = rollout.finished, self._spaces.results
            self._remember(finished)
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        self.rollout_buffer.fill(rollouts, self.policy, by_episode=self.by_episode)
        callback.update_locals(locals())
        callback.on_rollout_end()
        return True

    def _exploration(self) -> Exploration:
        return Exploration(noise=float(np.exp(self.policy.log_std.item())))

    def _remember(self, finished: list[tuple[int, float, int]]) -> None:
        assert self.ep_info_buffer is not None
        self.ep_info_buffer.extend({"r": total, "l": length} for _, total, length in finished)


def _no_snapshot() -> bytes:
    raise RuntimeError("episodes are run only if the trainer can write a policy's file")


class EpisodeTrainer(Sb3Trainer):
    """Trainer of an algorithm of whole episodes, or across the channel of Stable-Baselines3's."""

    of_episodes: type[OfEpisodes]

    def _class(self) -> type[BaseAlgorithm]:
        return self.of_episodes if isinstance(self.env, SpacesOnly) else super()._class()

    def _make(self) -> BaseAlgorithm:
        agent, algorithm = self.config.agent, super()._make()
        assert isinstance(agent, EpisodeConfig)
        if not isinstance(algorithm, OfEpisodes):
            for key, of in type(agent).model_fields.items():
                if key not in Sb3Config.model_fields and getattr(agent, key) != of.default:
                    raise ConfigError(f"agent.{key}: needs env.placement=simulator")
            return algorithm
        algorithm.by_episode = agent.advantages == "episode"
        if agent.start is not None:
            begin_as(algorithm.policy, agent.start, self.config.env.fields)
        return algorithm


def begin_as(policy: BasePolicy, start: str, fields: Sequence[str]) -> None:
    """Gives the actor the network of a policy's file; arguments and errors are those of ``start_tensors``."""
    tensors = start_tensors(start, of_sb3(policy), fields)
    assert isinstance(policy, CensoredPolicy)
    layers = [*(x for x in policy.mlp_extractor.policy_net if isinstance(x, th.nn.Linear)), policy.action_net]
    for n, layer in enumerate(layers):
        layer.load_state_dict({part: tensors[f"layers.{n}.{part}"] for part in ("weight", "bias")})
