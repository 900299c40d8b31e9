# SPDX-License-Identifier: GPL-2.0-or-later
"""How does FDCC learn? TD3 with recurrent networks, on flows that decide apart (Zhang 2023, ch. 4).

The gradient step is TD3's, on networks that take histories where TD3 has observations. What differs is how
experience is collected: the environment's ``recv()`` yields the flows that are due and ``send()`` takes their
actions, so a time step is one decision of one flow, and simulators run on while the learner learns.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt
import torch as th
from stable_baselines3 import TD3
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback, CallbackList, ProgressBarCallback
from stable_baselines3.common.noise import ActionNoise, VectorizedActionNoise
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.type_aliases import (
    GymEnv,
    MaybeCallback,
    RolloutReturn,
    Schedule,
    TrainFreq,
    TrainFrequencyUnit,
)
from stable_baselines3.common.utils import polyak_update
from stable_baselines3.common.vec_env import VecEnv
from torch.nn.functional import mse_loss

from agents.fdcc.history import Floats, History, HistoryReplayBuffer, Ints
from agents.fdcc.networks import RecurrentActor, RecurrentCritics, RecurrentTD3Policy

#: Decisions that a random action is held for, on average.
_MEAN_HOLD = 4.0

SelfFDCC = TypeVar("SelfFDCC", bound="FDCC")


class Batch(Protocol):
    """What ``recv()`` returns: the rows of the slots that are due (ns3_env.vec_env)."""

    @property
    def slots(self) -> npt.NDArray[Any]: ...
    @property
    def observations(self) -> npt.NDArray[Any]: ...
    @property
    def rewards(self) -> npt.NDArray[Any]: ...
    @property
    def first(self) -> npt.NDArray[Any]: ...
    @property
    def terminated(self) -> npt.NDArray[Any]: ...
    @property
    def truncated(self) -> npt.NDArray[Any]: ...


class Stream(Protocol):
    """``recv()`` / ``send()``, as EnvPool names them."""

    def recv(self, *, wait_all: bool = False) -> Batch: ...
    def send(self, actions: npt.NDArray[Any], slots: npt.NDArray[Any]) -> None: ...


class _Rows(NamedTuple):
    slots: npt.NDArray[Any]
    observations: npt.NDArray[Any]
    rewards: npt.NDArray[Any]
    first: npt.NDArray[Any]
    terminated: npt.NDArray[Any]
    truncated: npt.NDArray[Any]


class StepStream:
    """``recv()`` / ``send()`` over an ordinary VecEnv, in which every slot is due at every step.

    An episode's end and the beginning of the next come in one batch, the end first.
    """

    def __init__(self, env: VecEnv, observations: npt.NDArray[Any]) -> None:
        """
        Args:
            env: the environment, just reset.
            observations: what ``reset()`` returned, (n, D).
        """
        self.env = env
        self._reset: npt.NDArray[Any] | None = observations
        assert env.action_space.shape is not None
        self._actions = np.zeros((env.num_envs, *env.action_space.shape), dtype=env.action_space.dtype)

    def recv(self, *, wait_all: bool = False) -> _Rows:
        """Rows of all slots; those that ended come twice."""
        n = self.env.num_envs
        slots = np.arange(n)
        if self._reset is not None:
            observations, self._reset = self._reset, None
            no = np.zeros(n, dtype=bool)
            return _Rows(slots, observations, np.zeros(n, np.float32), ~no, no, no)
        following, rewards, dones, infos = self.env.step_wait()
        assert isinstance(following, np.ndarray)
        cut = np.array([bool(info.get("TimeLimit.truncated", False)) for info in infos]) & dones
        outcome = following.copy()
        for slot in np.flatnonzero(dones):
            outcome[slot] = infos[slot]["terminal_observation"]
        begun = np.flatnonzero(dones)
        no = np.zeros(len(begun), dtype=bool)
        return _Rows(
            np.concatenate([slots, begun]),
            np.concatenate([outcome, following[begun]]),
            np.concatenate([rewards, np.zeros(len(begun), rewards.dtype)]),
            np.concatenate([np.zeros(n, dtype=bool), ~no]),
            np.concatenate([dones & ~cut, no]),
            np.concatenate([cut, no]),
        )

    def send(self, actions: npt.NDArray[Any], slots: npt.NDArray[Any]) -> None:
        """Starts the step; ``slots`` are all slots, in any order."""
        self._actions[slots] = actions
        self.env.step_async(self._actions)


class _ProgressBar(ProgressBarCallback):
    """Stable-Baselines3's bar counts num_envs per call; a batch holds as many decisions as flows were due."""

    def _on_step(self) -> bool:
        self.pbar.update(self.model.num_timesteps - self.model._num_timesteps_at_start - self.pbar.n)
        return True


class FDCC(TD3):
    """LSTM-TD3 over the flows of an incast; one policy shared by all.

    Works on ``ns3_env.vec_env.RdmaVecEnv`` through ``recv``/``send`` and on any VecEnv with vector
    observations and Box actions. ``learn``, ``save``, ``load``, ``predict``, callbacks and the logger are
    Stable-Baselines3's; one time step is one decision, so ``train_freq`` and ``total_timesteps`` count
    decisions whatever the number of slots.
    """

    policy: RecurrentTD3Policy  # type: ignore[assignment]
    replay_buffer: HistoryReplayBuffer
    actor: RecurrentActor  # type: ignore[assignment]
    actor_target: RecurrentActor  # type: ignore[assignment]
    critic: RecurrentCritics  # type: ignore[assignment]
    critic_target: RecurrentCritics  # type: ignore[assignment]

    def __init__(
        self,
        policy: str | type[BasePolicy] = RecurrentTD3Policy,
        env: GymEnv | str | None = None,
        learning_rate: float | Schedule = 1e-3,
        buffer_size: int = 200_000,
        learning_starts: int = 1000,
        batch_size: int = 100,
        tau: float = 0.005,
        gamma: float = 0.99,
        train_freq: int | tuple[int, str] = 64,
        gradient_steps: int = 4,
        action_noise: ActionNoise | None = None,
        history_length: int = 8,
        n_step_return: int = 3,
        append_last_action: bool = True,
        compress_rewards: bool = False,
        random_share: float = 0.0,
        saturation_penalty: float = 0.0,
        wait_all: bool = True,
        policy_delay: int = 2,
        target_policy_noise: float = 0.2,
        target_noise_clip: float = 0.5,
        fields: Sequence[str] = (),
        action_map: str = "multiplicative_window",
        stats_window_size: int = 100,
        tensorboard_log: str | None = None,
        policy_kwargs: dict[str, Any] | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: th.device | str = "cpu",
        _init_setup_model: bool = True,
    ) -> None:
        """Parameters not listed are those of Stable-Baselines3's TD3.

        Args:
            policy: ``RecurrentTD3Policy``, or "LstmPolicy" for it.
            env: VecEnv or Gymnasium environment.
            train_freq: decisions (of all slots together) between two rounds of gradient steps.
            gradient_steps: gradient steps in a round; one costs about 10 ms at hidden 64, batch 100, one
                thread.
            action_noise: exploration noise, in units of the scaled action; each slot has its own.
            history_length: K, inputs the LSTM reads at most, the current one included.
            n_step_return: n of the n-step return.
            append_last_action: whether the input is the observation followed by the previous action; not
                needed where ``last_action`` is among the fields.
            compress_rewards: learn from sign(r)·ln(1 + |r|): a reward of −RTT spans decades from a small
                incast to a large one, and drives the actor into saturation before it has seen anything else.
            random_share: share of flows' episodes in which actions stay random, each held for a random number
                of decisions (εz-greedy, Dabney et al. 2021): a window that has shrunk to a packet is only
                left by many steps up in a row, which no noise around an actor that goes down will draw.
            saturation_penalty: weight of the actor's squared output before tanh in its loss. The first lesson
                of an incast is to shrink; without it the actor learns that so well that tanh has no slope
                left.
            wait_all: take the due flows of all simulators as one batch, so that one pass of the network
                serves them all; else those of the simulator that is next.
            fields: telemetry fields of the observation, kept with the model.
            action_map: name of the action map, kept with the model.
        """
        self.field_names = list(fields)
        self.action_map = action_map
        self.history_length = history_length
        self.append_last_action = append_last_action
        self.compress_rewards = compress_rewards
        self.random_share = random_share
        self.saturation_penalty = saturation_penalty
        self.wait_all = wait_all
        super().__init__(
            policy,  # type: ignore[arg-type]
            env,  # type: ignore[arg-type]
            learning_rate,
            buffer_size,
            learning_starts,
            batch_size,
            tau,
            gamma,
            train_freq,
            gradient_steps,
            action_noise=action_noise,
            replay_buffer_class=HistoryReplayBuffer,
            replay_buffer_kwargs={
                "history_length": history_length,
                "n_steps": n_step_return,
                "gamma": gamma,
                "append_last_action": append_last_action,
            },
            policy_delay=policy_delay,
            target_policy_noise=target_policy_noise,
            target_noise_clip=target_noise_clip,
            stats_window_size=stats_window_size,
            tensorboard_log=tensorboard_log,
            policy_kwargs={
                **(policy_kwargs or {}),
                "history_length": history_length,
                "append_last_action": append_last_action,
            },
            verbose=verbose,
            seed=seed,
            device=device,
            _init_setup_model=_init_setup_model,
        )
        self._stream: Stream | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """Telemetry fields of the observation, in the order of its columns."""
        return tuple(self.field_names)

    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {"LstmPolicy": RecurrentTD3Policy}

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_stream"]

    def _init_callback(self, callback: MaybeCallback, progress_bar: bool = False) -> BaseCallback:
        if not progress_bar:
            return super()._init_callback(callback)
        given = (
            callback
            if isinstance(callback, list)
            else [callback]
            if isinstance(callback, BaseCallback)
            else []
        )
        if callable(callback):
            given = [super()._init_callback(callback)]
        both = CallbackList([*given, _ProgressBar()])
        both.init_callback(self)
        return both

    def _setup_learn(
        self,
        total_timesteps: int,
        callback: MaybeCallback = None,
        reset_num_timesteps: bool = True,
        tb_log_name: str = "run",
        progress_bar: bool = False,
    ) -> tuple[int, BaseCallback]:
        resets = reset_num_timesteps or self._last_obs is None or self._stream is None
        if resets:
            self._last_obs = None  # makes the base class reset the environment
            noise, slots = self.action_noise, self.n_envs
            if isinstance(noise, VectorizedActionNoise) and noise.n_envs != slots:
                self.action_noise = VectorizedActionNoise(noise.base_noise, slots)
        result = super()._setup_learn(
            total_timesteps, callback, reset_num_timesteps, tb_log_name, progress_bar
        )
        if resets:
            assert self.env is not None
            assert isinstance(self._last_obs, np.ndarray)
            self._stream = (
                cast(Stream, self.env) if hasattr(self.env, "recv") else StepStream(self.env, self._last_obs)
            )
            self.replay_buffer.start_collection(self.env.num_envs)
            self._returns = np.zeros(self.env.num_envs)
            self._episode_lengths = np.zeros(self.env.num_envs, dtype=np.int64)
            self._at_random = np.zeros(self.env.num_envs, dtype=bool)
            self._held = np.zeros((self.env.num_envs, self.replay_buffer.action_dim), dtype=np.float32)
            self._hold_for = np.zeros(self.env.num_envs, dtype=np.int64)
        return result

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        train_freq: TrainFreq,
        replay_buffer: ReplayBuffer,
        action_noise: ActionNoise | None = None,
        learning_starts: int = 0,
        log_interval: int | None = None,
    ) -> RolloutReturn:
        """Collects ``train_freq`` decisions (or episodes of flows); see Stable-Baselines3 for the parameters.

        Callbacks find ``batch`` (the last ``recv()``), ``actions`` and ``finished`` ((slot, return, length)
        of each flow that ended) among their locals. They are called after the actions were sent, so training
        may stop and go on between any two steps.
        """
        assert isinstance(replay_buffer, HistoryReplayBuffer)
        assert self._stream is not None
        self.policy.set_training_mode(False)
        decisions = episodes = 0
        callback.on_rollout_start()
        while (decisions if train_freq.unit == TrainFrequencyUnit.STEP else episodes) < train_freq.frequency:
            batch = self._stream.recv(wait_all=self.wait_all)
            slots = np.asarray(batch.slots, dtype=np.int64)
            observations = np.asarray(batch.observations, dtype=np.float32)
            first = np.asarray(batch.first, dtype=bool)
            ended = np.asarray(batch.terminated, dtype=bool) | np.asarray(batch.truncated, dtype=bool)
            went_on = ~first
            rewards = np.asarray(batch.rewards, dtype=np.float32)
            learned = np.sign(rewards) * np.log1p(np.abs(rewards)) if self.compress_rewards else rewards
            replay_buffer.outcome(
                slots[went_on],
                learned[went_on],
                observations[went_on],
                np.asarray(batch.terminated, dtype=bool)[went_on],
                np.asarray(batch.truncated, dtype=bool)[went_on],
            )
            replay_buffer.begin(slots[first], observations[first])
            if first.any():
                drawn = np.random.random(int(first.sum()))  # noqa: NPY002, what set_random_seed() seeds
                self._at_random[slots[first]] = drawn < self.random_share
            self._returns[slots[went_on]] += rewards[went_on]
            self._episode_lengths[slots[went_on]] += 1
            finished = [
                (int(slot), float(self._returns[slot]), int(self._episode_lengths[slot]))
                for slot in slots[ended]
            ]
            for slot, episode_return, length in finished:
                self._end_episode(slot, episode_return, length, log_interval)
            episodes += len(finished)

            due = slots[~ended]
            scaled = self._explore(due, replay_buffer, learning_starts, action_noise)
            replay_buffer.act(due, scaled)
            actions = self.policy.unscale_action(scaled)
            self._stream.send(actions, due)
            self.num_timesteps += len(due)
            decisions += len(due)

            callback.update_locals(locals())
            if not callback.on_step():
                return RolloutReturn(decisions, episodes, continue_training=False)
            self._update_current_progress_remaining(self.num_timesteps, self._total_timesteps)
        callback.on_rollout_end()
        return RolloutReturn(decisions, episodes, continue_training=True)

    def _explore(
        self, slots: Ints, replay_buffer: HistoryReplayBuffer, learning_starts: int, noise: ActionNoise | None
    ) -> Floats:
        """Scaled actions (m, A): uniform before ``learning_starts``, then the actor's plus noise."""
        histories = replay_buffer.histories
        at_random = self._at_random[slots] | (self.num_timesteps < learning_starts)
        scaled = np.zeros((len(slots), replay_buffer.action_dim), dtype=np.float32)
        for row in np.flatnonzero(at_random):
            slot = slots[row]
            if self._hold_for[slot] == 0:
                self._held[slot] = self.policy.scale_action(self.action_space.sample()).reshape(-1)
                self._hold_for[slot] = np.random.geometric(1 / _MEAN_HOLD)  # noqa: NPY002
            self._hold_for[slot] -= 1
            scaled[row] = self._held[slot]
        decided = slots[~at_random]
        if len(decided) > 0:
            actions = self.policy.act_on(histories.windows[decided], histories.lengths[decided])
            if isinstance(noise, VectorizedActionNoise):
                actions = np.clip(actions + np.stack([noise.noises[slot]() for slot in decided]), -1.0, 1.0)
            elif noise is not None:
                actions = np.clip(actions + noise(), -1.0, 1.0)
            scaled[~at_random] = actions
        return scaled

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """TD3's gradient steps (Fujimoto et al. 2018, Algorithm 1; Zhang 2023, eqs. 4.1-4.3) on histories."""
        self.policy.set_training_mode(True)
        self._update_learning_rate([self.actor.optimizer, self.critic.optimizer])
        actor_losses, critic_losses = [], []
        for _ in range(gradient_steps):
            self._n_updates += 1
            data = self.replay_buffer.sample(batch_size, env=self._vec_normalize_env)
            history, following = cast(History, data.observations), cast(History, data.next_observations)
            with th.no_grad():
                noise = th.randn_like(data.actions) * self.target_policy_noise
                noise = noise.clamp(-self.target_noise_clip, self.target_noise_clip)
                next_actions = (self.actor_target(following) + noise).clamp(-1, 1)
                next_values = (
                    th.cat(self.critic_target(following, next_actions), dim=1).min(dim=1, keepdim=True).values
                )
                # discounts holds γ^m of an m-step return; after a termination nothing follows.
                targets = data.rewards + (1 - data.dones) * cast(th.Tensor, data.discounts) * next_values
            values = self.critic(history, data.actions)
            critic_loss = th.stack([mse_loss(value, targets) for value in values]).sum()
            critic_losses.append(critic_loss.item())
            self.critic.optimizer.zero_grad()
            critic_loss.backward()  # type: ignore[no-untyped-call]
            self.critic.optimizer.step()
            if self._n_updates % self.policy_delay == 0:
                raw = self.actor.raw(history)
                actor_loss = -self.critic.q1_forward(history, th.tanh(raw)).mean()
                actor_losses.append(actor_loss.item())
                self.actor.optimizer.zero_grad()
                (actor_loss + self.saturation_penalty * (raw**2).mean()).backward()  # type: ignore[no-untyped-call]
                self.actor.optimizer.step()
                polyak_update(self.critic.parameters(), self.critic_target.parameters(), self.tau)
                polyak_update(self.actor.parameters(), self.actor_target.parameters(), self.tau)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        if actor_losses:
            self.logger.record("train/actor_loss", float(np.mean(actor_losses)))
        self.logger.record("train/critic_loss", float(np.mean(critic_losses)))

    def _end_episode(self, slot: int, episode_return: float, length: int, log_interval: int | None) -> None:
        """Logs the end of one flow's episode."""
        assert self.ep_info_buffer is not None
        self.ep_info_buffer.append(
            {
                "r": episode_return,
                "l": length,
                "t": round((time.time_ns() - self.start_time) / 1e9, 6),
            }
        )
        self._returns[slot], self._episode_lengths[slot] = 0.0, 0
        self._episode_num += 1
        if isinstance(self.action_noise, VectorizedActionNoise):
            self.action_noise.reset(indices=[slot])
        elif self.action_noise is not None:
            self.action_noise.reset()
        if log_interval is not None and self._episode_num % log_interval == 0:
            self.dump_logs()

    def learn(
        self: SelfFDCC,
        total_timesteps: int,
        callback: MaybeCallback = None,
        log_interval: int = 16,
        tb_log_name: str = "FDCC",
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> SelfFDCC:
        """As in Stable-Baselines3; ``log_interval`` counts episodes of flows."""
        return super().learn(
            total_timesteps, callback, log_interval, tb_log_name, reset_num_timesteps, progress_bar
        )
