# SPDX-License-Identifier: GPL-2.0-or-later
"""RL-CC's algorithm: one gradient step on all decisions of episodes run inside simulators."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium.spaces import Box
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.type_aliases import MaybeCallback

from ns3_env.agents.rlcc.config import RlccConfig
from ns3_env.agents.rlcc.policy import RlccPolicy, inputs
from ns3_env.agents.training.rollout_env import RolloutEnv, SpacesOnly
from ns3_env.decision.rtt_target import RttTarget
from ns3_env.envs.rollouts import Exploration, Rollout
from ns3_env.errors import ConfigError
from ns3_env.policies.history import histories_of, in_a_row

#: Numbers of the published code (docs/sources/baselines.md, "Tessler et al. 2022"): discount per decision,
#: episodes that a step learns from, and the largest absolute value of a gradient.
GAMMA, STEP_EPISODES, GRADIENT_CLIP = 0.99, 4, 0.5
#: Weight of the squared differences between a flow's actions in the loss.
DIFFERENCE_WEIGHT = 0.5

SelfRLCC = TypeVar("SelfRLCC", bound="RLCC")


class RLCC(BaseAlgorithm):
    """Analytic deterministic policy gradient on whole episodes; one policy shared by all flows."""

    policy: RlccPolicy
    env: SpacesOnly

    def __init__(self, env: SpacesOnly, config: RlccConfig, seed: int | None = None) -> None:
        """
        Args:
            env: a ``RolloutEnv``, or only its spaces if nothing is learned.
            config: all parameters of the algorithm.
            seed: seed of the weights.
        """
        self.config = config
        formula = RttTarget(config.base_ns, config.margin, config.target, config.gain)
        super().__init__(
            RlccPolicy,
            env,
            config.learning_rate,
            policy_kwargs={
                "formula": formula,
                "history_length": config.history_length,
                "net_arch": config.net_arch,
            },
            device="cpu",
            support_multi_env=True,
            seed=seed,
        )
        self._setup_model()

    def _setup_model(self) -> None:
        self.set_random_seed(self.seed)
        assert isinstance(self.action_space, Box)
        self.policy = RlccPolicy(self.observation_space, self.action_space, **self.policy_kwargs)
        self.optimizer = th.optim.Adam(self.policy.parameters(), lr=self.config.learning_rate)
        #: The policy's file as it is now, for simulators that evaluate it; set by the trainer.
        self.snapshot: Callable[[], bytes] = _no_snapshot

    def _get_torch_save_params(self) -> tuple[list[str], list[str]]:
        return ["policy", "optimizer"], []

    @classmethod
    def load(cls, path: Any, *arguments: Any, **options: Any) -> NoReturn:
        """Refused: Stable-Baselines3 reads pickled objects from the file. Raises ConfigError."""
        raise ConfigError(f"{path}: {cls.__name__}.load would run code that is in the file: not loaded")

    def learn(
        self: SelfRLCC,
        total_timesteps: int,
        callback: MaybeCallback = None,
        log_interval: int = 16,
        tb_log_name: str = "RLCC",
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> SelfRLCC:
        """Learns as Stable-Baselines3 does; ``log_interval`` counts episodes of flows.

        Callbacks find ``finished`` ((slot, return, length) of each flow of the episode) and ``results`` among
        their locals.
        """
        assert isinstance(self.env, RolloutEnv)
        total, calls = self._setup_learn(
            total_timesteps, callback, reset_num_timesteps, tb_log_name, progress_bar
        )
        calls.on_training_start(locals(), globals())
        goes_on = True
        while goes_on and self.num_timesteps < total:
            calls.on_rollout_start()  # may start episodes
            episodes: list[Rollout] = []
            while goes_on and len(episodes) < STEP_EPISODES:
                rollout = self.env.next(self.snapshot, Exploration(noise=self.config.action_noise))
                episodes.append(rollout)
                self.num_timesteps += rollout.decisions
                finished, results = rollout.finished, self.env.results
                self._log(finished, log_interval)
                calls.update_locals(locals())
                goes_on = calls.on_step()
            self._update_current_progress_remaining(self.num_timesteps, total)
            self.train(episodes)
            calls.on_rollout_end()
        calls.on_training_end()
        return self

    def train(self, episodes: Sequence[Rollout]) -> None:
        """One step of Adam on the mean of the episodes' losses."""
        losses = [self._loss(rollout) for rollout in episodes if rollout.decisions > 0]
        if not losses:
            return
        loss = th.stack(losses).mean()
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.learning_rate * max(self._current_progress_remaining, 0.0)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        th.nn.utils.clip_grad_value_(self.policy.parameters(), GRADIENT_CLIP)
        self.optimizer.step()
        self._n_updates += 1
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record_mean("train/loss", loss.item())

    def _loss(self, rollout: Rollout) -> th.Tensor:
        """The loss on an episode's decisions."""
        config, decided = self.config, rollout.decided
        features = inputs(rollout.observations, self.policy.formula)
        rows = in_a_row(*histories_of(features, rollout.age, config.history_length))[decided]
        distances = features[:, 1].astype(np.float64)
        self.logger.record_mean("train/distance", float(np.abs(distances[~rollout.first]).mean()))
        following = outlook(rollout, distances, GAMMA, config.horizon)
        return adpg_loss(
            self.policy.mu(th.from_numpy(rows))[:, 0],
            th.from_numpy(following.astype(np.float32)),
            th.from_numpy(rollout.flows[decided]),
            config.horizon,
            DIFFERENCE_WEIGHT,
        )

    def _log(self, finished: list[tuple[int, float, int]], log_interval: int) -> None:
        """Logs the ends of flows; one line of the log for a number of them."""
        assert self.ep_info_buffer is not None
        seconds = (time.time_ns() - self.start_time) / 1e9
        before = self._episode_num // log_interval
        for _, episode_return, length in finished:
            self.ep_info_buffer.append({"r": episode_return, "l": length, "t": round(seconds, 6)})
        self._episode_num += len(finished)
        if self._episode_num // log_interval == before:
            return
        since = self.num_timesteps - self._num_timesteps_at_start
        self.logger.record("rollout/ep_rew_mean", float(np.mean([ep["r"] for ep in self.ep_info_buffer])))
        self.logger.record("rollout/ep_len_mean", float(np.mean([ep["l"] for ep in self.ep_info_buffer])))
        self.logger.record("time/episodes", self._episode_num, exclude="tensorboard")
        self.logger.record("time/fps", int(since / max(seconds, 1e-9)))
        self.logger.record("time/time_elapsed", int(seconds), exclude="tensorboard")
        self.logger.record("time/total_timesteps", self.num_timesteps, exclude="tensorboard")
        self.logger.dump(step=self.num_timesteps)


def _no_snapshot() -> bytes:
    raise RuntimeError("RL-CC learns only if its trainer can write a policy's file")


Reals = npt.NDArray[np.float64]


def outlook(rollout: Rollout, distances: Reals, gamma: float, horizon: int) -> Reals:
    """Returns the target of each action: the mean over k < ``horizon`` of gamma^k r_{t+1+k}, up to the
    flow's end.

    Args:
        rollout: an episode of n rows.
        distances: (n,) r of each row.
        gamma: discount.
        horizon: number of rows in the mean.

    Returns:
        (m,) of the rows on which an action was taken.
    """
    rows, last = np.flatnonzero(rollout.decided), np.flatnonzero(~rollout.decided)
    end = last[np.searchsorted(last, rows)]  # the row with which each row's flow ends
    total, count = np.zeros(len(rows)), np.zeros(len(rows))
    for k in range(horizon):
        there = rows + 1 + k <= end
        total[there] += gamma**k * distances[rows[there] + 1 + k]
        count += there
    return total / count


def adpg_loss(
    actions: th.Tensor, following: th.Tensor, flows: th.Tensor, horizon: int, difference_weight: float
) -> th.Tensor:
    """mean_t(a_t R_t) + w mean_{i < j}((a_i - a_j)^2): an action is to decrease if r will be above 0.

    Args:
        actions: (m,) a, of each flow in the order of time.
        following: (m,) R, of ``outlook``.
        flows: (m,) flow of each action; only actions of the same flow are compared.
        horizon: largest j - i.
        difference_weight: w.
    """
    squares = [
        ((actions[:-lag] - actions[lag:]) ** 2)[flows[:-lag] == flows[lag:]]
        for lag in range(1, min(horizon, len(actions) - 1) + 1)
    ]
    pairs = th.cat(squares) if squares else actions[:0]
    apart = pairs.mean() if len(pairs) > 0 else actions.new_zeros(())
    return (actions * following).mean() + difference_weight * apart
