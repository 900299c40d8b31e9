# SPDX-License-Identifier: GPL-2.0-or-later
"""FDCC's algorithm: TD3 with recurrent networks on asynchronous flows (Zhang 2023, ch. 4).

The gradient step is TD3's (``td3``), on networks that read histories where TD3's read observations. The
difference is the collection of experience: the environment's ``recv()`` yields the flows that are due,
``send()`` accepts their actions (``stream``), so a time step is one decision of one flow, and simulators run
on while the learner learns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn, TypeVar, cast

import numpy as np
import torch as th
from stable_baselines3 import TD3
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.type_aliases import (
    GymEnv,
    MaybeCallback,
    RolloutReturn,
    TrainFreq,
    TrainFrequencyUnit,
)
from stable_baselines3.common.vec_env import VecEnv

from ns3_env.agents.fdcc import td3
from ns3_env.agents.fdcc.config import FdccConfig
from ns3_env.agents.fdcc.exploration import Exploration, StepStream
from ns3_env.agents.fdcc.networks import RecurrentActor, RecurrentCritics
from ns3_env.agents.fdcc.passes import read
from ns3_env.agents.fdcc.policy import RecurrentTD3Policy
from ns3_env.agents.fdcc.replay import History, HistoryReplayBuffer
from ns3_env.agents.fdcc.td3 import descend, follow
from ns3_env.agents.training.progress import LEARNING, SIMULATING, STORING, DecisionsBar, Stopwatch
from ns3_env.agents.training.rollout_env import RolloutEnv
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.rollouts import Exploration as Exploring
from ns3_env.errors import ConfigError
from ns3_env.policies.history import Floats, Ints

SelfFDCC = TypeVar("SelfFDCC", bound="FDCC")


def _no_snapshot() -> bytes:
    raise RuntimeError("FDCC learns from rollouts only if its trainer can write a policy's file")


class FDCC(TD3):
    """LSTM-TD3 over the flows of an incast; one policy shared by all.

    Works on ``ns3_env.envs.sb3_vec_env.FlowVecEnv`` through ``recv``/``send`` and on any VecEnv with vector
    observations and Box actions. ``learn``, ``save``, ``set_parameters``, ``predict``, callbacks and the
    logger are Stable-Baselines3's; its ``load`` executes the file's contents and is refused. One time step is
    one decision, so ``train_freq`` and ``total_timesteps`` count decisions for any number of slots.
    """

    policy: RecurrentTD3Policy  # type: ignore[assignment]
    replay_buffer: HistoryReplayBuffer
    actor: RecurrentActor  # type: ignore[assignment]
    actor_target: RecurrentActor  # type: ignore[assignment]
    critic: RecurrentCritics  # type: ignore[assignment]
    critic_target: RecurrentCritics  # type: ignore[assignment]
    policy_aliases: ClassVar[dict[str, type[BasePolicy]]] = {"LstmPolicy": RecurrentTD3Policy}

    def __init__(
        self,
        policy: str | type[BasePolicy] = RecurrentTD3Policy,
        env: GymEnv | str | None = None,
        config: FdccConfig | None = None,
        *,
        fields: Sequence[str] = (),
        action_map: str = "multiplicative_window",
        tensorboard_log: str | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: th.device | str = "cpu",
        _init_setup_model: bool = True,
    ) -> None:
        """Parameters not listed are those of Stable-Baselines3's TD3.

        Args:
            policy: ``RecurrentTD3Policy``, or "LstmPolicy" for it.
            env: VecEnv or Gymnasium environment.
            config: all parameters of the algorithm; None: ``FdccConfig()``.
            fields: fields of the observation, kept with the model. Without ``last_action`` among
                them the networks read the observation followed by the previous action.
            action_map: name of the action map, kept with the model.
            device: only the CPU.

        Raises ConfigError for another device.
        """
        if th.device("cpu" if device == "auto" else device).type != "cpu":
            raise ConfigError(f"device: FDCC's networks run on the CPU ('cpu'), not on {device}")
        self.config = config = config or FdccConfig()
        self.field_names = list(fields)
        self.action_map = action_map
        histories = {
            "history_length": config.history_length,
            "append_last_action": "last_action" not in self.field_names,
        }
        super().__init__(
            policy,  # type: ignore[arg-type]
            env,  # type: ignore[arg-type]
            config.learning_rate,
            config.buffer_size,
            config.learning_starts,
            config.batch_size,
            config.tau,
            config.gamma_per_rtt,
            config.train_freq,
            config.gradient_steps,
            replay_buffer_class=HistoryReplayBuffer,
            replay_buffer_kwargs={
                **histories,
                "n_steps": config.n_step_return,
                "gamma": config.gamma_per_rtt,
            },
            policy_delay=config.policy_delay,
            target_policy_noise=config.target_policy_noise,
            target_noise_clip=config.target_noise_clip,
            tensorboard_log=tensorboard_log,
            policy_kwargs={
                **histories,
                "hidden": config.hidden,
                "shortcut": config.shortcut,
                "net_arch": list(config.net_arch),
            },
            verbose=verbose,
            seed=seed,
            device="cpu",
            _init_setup_model=_init_setup_model,
        )
        self._stream: FlowStream | StepStream | None = None
        self._owed_steps = 0.0  # gradient steps for rollouts that came
        self.stopwatch = Stopwatch()
        #: The policy's file as it is now, for simulators that evaluate it; set by the trainer.
        self.snapshot: Callable[[], bytes] = _no_snapshot

    @property
    def fields(self) -> tuple[str, ...]:
        """Telemetry fields of the observation, in the order of its columns."""
        return tuple(self.field_names)

    @classmethod
    def load(cls, path: Any, *arguments: Any, **options: Any) -> NoReturn:
        """Refused: Stable-Baselines3 reads pickled objects from the file. Raises ConfigError."""
        raise ConfigError(
            f"{path}: {cls.__name__}.load would run code that is in the file: use "
            f"{cls.__name__}(policy, env, config).set_parameters(path), which reads weights only, or "
            "ns3_env.agents.training.checkpoint.resolve for a run's checkpoint"
        )

    def load_replay_buffer(self, path: Any, truncate_last_traj: bool = True) -> NoReturn:
        """Refused: it is a pickle. Raises ConfigError."""
        raise ConfigError(
            f"{path}: load_replay_buffer would run code that is in the file: a run's checkpoint keeps its "
            "buffer as arrays, train.py --resume continues with it"
        )

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_stream", "_exploration", "snapshot"]

    def _init_callback(self, callback: MaybeCallback, progress_bar: bool = False) -> BaseCallback:
        base_callback = super()._init_callback(callback)
        if not progress_bar:
            return base_callback
        both = CallbackList([base_callback, DecisionsBar()])
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
        result = super()._setup_learn(
            total_timesteps, callback, reset_num_timesteps, tb_log_name, progress_bar
        )
        if resets:
            assert isinstance(self._last_obs, np.ndarray)
            self._collect_from(self._last_obs)
        return result

    def begin_episodes(self) -> None:
        """Gives up the episodes under way and starts the next ones; not within ``collect_rollouts``' loop."""
        assert self.env is not None
        observations = self.env.reset()
        assert isinstance(observations, np.ndarray)
        self._last_obs = observations
        self._collect_from(observations)

    def _collect_from(self, observations: Floats) -> None:
        """Starts all episodes with ``observations``, the result of the environment's reset."""
        assert self.env is not None
        slots = self.env.num_envs
        self._owed_steps = 0.0
        if isinstance(self.env, RolloutEnv):
            self.replay_buffer.start_collection(slots)
            return
        is_stream = hasattr(self.env, "recv")
        self._stream = cast(FlowStream, self.env) if is_stream else StepStream(self.env, observations)
        self.replay_buffer.start_collection(slots)
        self._exploration = Exploration(
            slots,
            self.policy.action_box,
            self.config.random_share,
            self.config.action_noise,
        )
        self._returns = np.zeros(slots)
        self._episode_lengths = np.zeros(slots, dtype=np.int64)

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

        All simulators are waited for, so that one pass of the network serves the due flows of all. Callbacks
        find ``batch`` (the last ``recv()``), ``actions`` and ``finished`` ((slot, return, length) of each
        flow that ended) among their locals. They are called after the actions were sent, so training may stop
        and continue between any two steps.
        """
        assert isinstance(replay_buffer, HistoryReplayBuffer)
        self.policy.set_training_mode(False)
        decisions = episodes = 0
        callback.on_rollout_start()  # may start episodes
        if isinstance(env, RolloutEnv):
            return self._collect_rollout(env, callback, learning_starts, log_interval)
        assert self._stream is not None
        while (decisions if train_freq.unit == TrainFrequencyUnit.STEP else episodes) < train_freq.frequency:
            with self.stopwatch.measuring(SIMULATING):
                batch = self._stream.recv(wait_all=True)
            slots = np.asarray(batch.slots, dtype=np.int64)
            observations = np.asarray(batch.observations, dtype=np.float32)
            rewards = np.asarray(batch.rewards, dtype=np.float32)
            first = np.asarray(batch.first, dtype=bool)
            ended, went_on = np.asarray(batch.terminated | batch.truncated, dtype=bool), ~first
            learned = self._to_learn_from(rewards)
            replay_buffer.outcome(
                slots[went_on],
                learned[went_on],
                observations[went_on],
                batch.elapsed[went_on],
                batch.final[went_on],
                ended[went_on],
            )
            replay_buffer.begin(slots[first], observations[first])
            self._exploration.begin(slots[first])
            self._returns[slots[went_on]] += rewards[went_on]
            self._episode_lengths[slots[went_on]] += 1
            finished = [
                (int(slot), float(self._returns[slot]), int(self._episode_lengths[slot]))
                for slot in slots[ended]
            ]
            for slot, episode_return, length in finished:
                self._log_episode(episode_return, length, log_interval)
                self._returns[slot], self._episode_lengths[slot] = 0.0, 0
            episodes += len(finished)

            due = slots[~ended]
            scaled = self._exploration.actions(due, self._decide, self._knows_nothing(learning_starts))
            replay_buffer.act(due, scaled)
            actions = self.policy.unscale_action(scaled)
            self._stream.send(actions, due)
            self.num_timesteps += len(due)
            decisions += len(due)

            results = getattr(batch, "results", [])
            callback.update_locals(locals())
            if not callback.on_step():
                return RolloutReturn(decisions, episodes, continue_training=False)
            self._update_current_progress_remaining(self.num_timesteps, self._total_timesteps)
        callback.on_rollout_end()
        return RolloutReturn(decisions, episodes, continue_training=True)

    def _collect_rollout(
        self, env: RolloutEnv, callback: BaseCallback, learning_starts: int, log_interval: int | None
    ) -> RolloutReturn:
        """Collects an episode that was run inside a simulator; ``collect_rollouts`` describes what callbacks
        find.

        It counts for gradient steps like the same decisions across the channel.
        """
        config = self.config
        share = 1.0 if self._knows_nothing(learning_starts) else config.random_share
        with self.stopwatch.measuring(SIMULATING):
            rollout = env.next(self.snapshot, Exploring(config.action_noise, share))
        with self.stopwatch.measuring(STORING):
            rewards = rollout.rewards.astype(np.float32)
            self.replay_buffer.add_rollout(rollout, self._to_learn_from(rewards))
        finished = rollout.finished
        for _, episode_return, length in finished:
            self._log_episode(episode_return, length, log_interval)
        decisions = rollout.decisions
        self.num_timesteps += decisions
        if self.num_timesteps > learning_starts:
            assert isinstance(self.train_freq, TrainFreq)
            self._owed_steps += decisions * config.gradient_steps / self.train_freq.frequency
        results = env.results
        callback.update_locals(locals())
        goes_on = callback.on_step()
        self._update_current_progress_remaining(self.num_timesteps, self._total_timesteps)
        callback.on_rollout_end()
        return RolloutReturn(decisions, len(finished), continue_training=goes_on)

    def _knows_nothing(self, learning_starts: int) -> bool:
        """Returns whether all flows are random: the actor has not learned yet, and started untrained."""
        return self.config.start is None and self.num_timesteps < learning_starts

    def _to_learn_from(self, rewards: Floats) -> Floats:
        """The rewards in their stored form, of the same shape."""
        small: Floats = td3.compress(rewards) if self.config.compress_rewards else rewards
        small = small - np.float32(self.config.reward_center)
        return small

    def _decide(self, slots: Ints) -> Floats:
        """The actor's scaled actions (k, A) for the slots (k,)."""
        histories = self.replay_buffer.histories
        return self.policy.act_on(histories.windows[slots], histories.lengths[slots])

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """TD3's gradient steps (Fujimoto et al. 2018, Algorithm 1; Zhang 2023, eqs. 4.1-4.3) on histories."""
        if isinstance(self.env, RolloutEnv):
            gradient_steps, self._owed_steps = int(self._owed_steps), self._owed_steps % 1.0
            if gradient_steps == 0:
                return
        with self.stopwatch.measuring(LEARNING):
            self._descend(gradient_steps, batch_size)
        self.stopwatch.made_gradient_steps(gradient_steps)

    def _descend(self, gradient_steps: int, batch_size: int) -> None:
        self.policy.set_training_mode(True)
        self._update_learning_rate([self.actor.optimizer, self.critic.optimizer])
        actor_losses, critic_losses = [], []
        for _ in range(gradient_steps):
            self._n_updates += 1
            data = self.replay_buffer.sample(batch_size, env=self._vec_normalize_env)
            history, following = (
                read(cast(History, histories)) for histories in (data.observations, data.next_observations)
            )
            targets = td3.targets(
                data.rewards,
                data.dones,
                cast(th.Tensor, data.discounts),
                following,
                self.actor_target,
                self.critic_target,
                self.target_policy_noise,
                self.target_noise_clip,
            )
            critic_loss = td3.critic_loss(self.critic(history, data.actions), targets)
            critic_losses.append(critic_loss.detach())
            descend(self.critic.optimizer, critic_loss)
            if self._n_updates % self.policy_delay == 0:
                if self._n_updates > self.config.actor_starts:
                    raw = self.actor.raw(history)
                    actor_loss = td3.actor_loss(self.critic.climbed(history, th.tanh(raw)))
                    actor_losses.append(actor_loss.detach())
                    penalty = self.config.saturation_penalty * td3.saturation(raw)
                    descend(self.actor.optimizer, actor_loss + penalty)
                follow(self.critic_target, self.critic, self.tau)
                follow(self.actor_target, self.actor, self.tau)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        if actor_losses:
            self.logger.record("train/actor_loss", th.stack(actor_losses).mean().item())
        self.logger.record("train/critic_loss", th.stack(critic_losses).mean().item())

    def _log_episode(self, episode_return: float, length: int, log_interval: int | None) -> None:
        """Logs the end of one flow's episode."""
        assert self.ep_info_buffer is not None
        seconds = round((time.time_ns() - self.start_time) / 1e9, 6)
        self.ep_info_buffer.append({"r": episode_return, "l": length, "t": seconds})
        self._episode_num += 1
        if log_interval is not None and self._episode_num % log_interval == 0:
            self.stopwatch.report(self.logger)
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
        """Learns as Stable-Baselines3 does; ``log_interval`` counts episodes of flows."""
        return super().learn(
            total_timesteps, callback, log_interval, tb_log_name, reset_num_timesteps, progress_bar
        )
