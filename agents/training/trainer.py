# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of trainers, and policies' files from their networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch as th
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv
from typing_extensions import Self

from ns3_env.agents.configuration.config import EnvConfig, RunConfig
from ns3_env.agents.configuration.inputs import make_task
from ns3_env.agents.configuration.registry import find_agent
from ns3_env.agents.configuration.run_folder import versions
from ns3_env.agents.training.layout import PolicyLayout, check_layout, refuse_pickles, write_layout
from ns3_env.agents.training.learned import put_policy, restore_learner, save_learner
from ns3_env.agents.training.policy_tensors import Exported
from ns3_env.agents.training.progress import RunLogger, Stopwatch
from ns3_env.agents.training.rollout_env import RolloutEnv, SpacesOnly
from ns3_env.config.imports import is_code
from ns3_env.config.model import validate
from ns3_env.decision.observations import converted, is_formula, wire_bytes
from ns3_env.errors import ConfigError
from ns3_env.policies.file import POLICY_FILE, PolicyFile, policy_bytes, write_policy
from ns3_env.policies.header import AnyInput, Input, PolicySpec, Training
from ns3_env.policies.history import Floats, Ints
from ns3_env.policies.policy import FloatArray, Policy, State
from ns3_env.policies.released import LAYOUT

#: Episodes of flows between lines of the log.
_LOG_EVERY_EPISODES = 16


class Sb3Policy:
    """A Stable-Baselines3 algorithm with the fields and the action map it was trained for."""

    def __init__(
        self,
        model: BaseAlgorithm,
        fields: Sequence[str],
        action_map: str,
        action_settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.fields = tuple(fields)
        self.action_map = action_map
        self.action_settings = dict(action_settings or {})

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        return self.model.predict(observation, state, episode_start, deterministic)


class Trainer:
    """Improves a policy by running it in an environment; the common part of Stable-Baselines3's algorithms.

    A checkpoint folder contains the files that ``save`` writes; ``restore`` continues from it. ``policy`` is
    the policy as it learns; evaluated is the checkpoint's ``policy.safetensors`` if ``network`` describes the
    contents of that file, and otherwise the policy that ``load`` reads from the folder.
    """

    def __init__(
        self, config: RunConfig, env: VecEnv, logs: Path | None = None, log_suffix: str = ""
    ) -> None:
        """
        Args:
            config: the run's configuration.
            env: environment to learn in.
            logs: folder of progress.csv and the TensorBoard file; None: no logs.
            log_suffix: suffix of their names, so that a resumed run keeps its earlier files.
        """
        th.set_num_threads(1)
        self.config = config
        self.env = env
        self.run_name = None if logs is None else logs.name
        self.stopwatch = Stopwatch()  # of learners that report where their time goes
        self.model = self._make()
        if isinstance(env, RolloutEnv):
            learner: Any = self.model  # of an agent that declares rollouts
            learner.snapshot = self._snapshot
        self.logger = RunLogger(logs, log_suffix)
        self.model.set_logger(self.logger)

    def _make(self) -> BaseAlgorithm:
        """The algorithm, untrained; a subclass that trains another one overrides all methods that use it."""
        raise NotImplementedError(f"{type(self).__name__} does not define which algorithm it trains")

    @classmethod
    def load(cls, folder: Path, layout: Mapping[str, Any]) -> Self:
        """A trainer with the policy that ``save`` wrote into ``folder``, by its layout, without an
        environment: it cannot learn. Raises ConfigError if the folder contains anything but such a policy."""
        source = str(folder / LAYOUT)
        refuse_pickles(folder)
        policy_layout = validate(layout, PolicyLayout, source)
        agent = find_agent(policy_layout.agent)
        needed = {"name": "synchronous" if agent.synchronous else "per_flow_rtt"}
        env = {
            "fields": policy_layout.fields,
            "action": {**policy_layout.action_settings, "name": policy_layout.action_map},
            "clock": needed if policy_layout.clock is None else policy_layout.clock.model_dump(),
            "placement": "python" if agent.channel else "simulator",
        }
        settings = {**policy_layout.settings, "name": policy_layout.agent}
        config = validate({"agent": settings, "env": env}, RunConfig, source)
        threads = th.get_num_threads()
        make_task(config.env, source)  # names are checked
        try:
            trainer = cls(
                config,
                SpacesOnly(
                    policy_layout.fields,
                    policy_layout.action_map,
                    policy_layout.slots,
                    policy_layout.action_settings,
                ),
            )
        except Exception as error:  # any error of an algorithm for settings that users have written
            raise ConfigError(f"{source}: no agent can be made of it: {error}") from error
        finally:
            th.set_num_threads(threads)
        put_policy(trainer.model.policy, folder)
        return trainer

    @property
    def policy(self) -> Policy:
        """The policy as it is now."""
        action = self.config.env.action
        return self._policy_class(self.model, self.config.env.fields, action.name, action.settings)

    @property
    def _policy_class(self) -> type[Sb3Policy]:
        return Sb3Policy

    @property
    def decisions(self) -> int:
        """Decisions trained on so far."""
        return self.model.num_timesteps

    def learn(self, decisions: int, callback: BaseCallback) -> None:
        """Trains for this many further decisions, or until the callback ends it."""
        self.model.learn(
            decisions,
            callback,
            log_interval=_LOG_EVERY_EPISODES,
            reset_num_timesteps=self.model.num_timesteps == 0,
        )

    def begin_episodes(self) -> None:
        """Gives up the episodes under way and starts the next ones, as a run that continues does.

        Called between the rounds of ``learn``, after each checkpoint.
        """
        model = self.model
        model._last_obs = self.env.reset()  # type: ignore[assignment]
        model._last_episode_starts = np.ones(self.env.num_envs, dtype=bool)
        buffer: Any = getattr(model, "replay_buffer", None)
        if hasattr(buffer, "start_collection"):  # it knows of episodes under way
            buffer.start_collection(self.env.num_envs)
        if model.use_sde:
            # The round's noise was drawn before the checkpoint: a run that continues also draws it again.
            noisy: Any = getattr(model, "actor", model.policy)
            noisy.reset_noise(self.env.num_envs)

    @classmethod
    def exports(cls) -> bool:
        """Returns whether checkpoints contain the policy's own file."""
        return cls.network is not Trainer.network

    def network(self) -> Exported:
        """The network in the form of a policy's file.

        Raises:
            ConfigError: the format does not know something in it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define how its network becomes a file")

    def act(self, histories: Floats, lengths: Ints) -> Floats:
        """Returns the networks' answers to histories (n, K, D) of lengths (n,): (n, 1) in [-1, 1].

        K and D are those of ``export()``, whose fields are all declared ones.
        """
        fields = self.config.env.fields
        if any(map(is_formula, fields)):
            histories = converted(histories, (*fields, *self.network().appended))
        return self._answers(histories, lengths)

    def _answers(self, histories: Floats, lengths: Ints) -> Floats:
        """Returns the answers to histories of observations. A policy that reads histories has ``act_on``."""
        actions: Floats
        if (act_on := getattr(self.model.policy, "act_on", None)) is not None:
            actions = act_on(histories, lengths)
        else:
            actions = self.model.predict(histories[:, 0], deterministic=True)[0]
        return actions

    def export(self) -> PolicyFile:
        """The policy as it is now, in the form of its file. Raises ConfigError, as ``network`` does."""
        training = Training(
            run=self.run_name,
            agent=self.config.agent.name,
            decisions=self.decisions,
            seed=self.config.seed,
            versions=versions(),
        )
        return policy_file(self.network(), self.config.env, training)

    def _snapshot(self) -> bytes:
        """The policy's file as it is now, for simulators that evaluate it."""
        return policy_bytes(policy_file(self.network(), self.config.env, Training()))

    def file(self) -> PolicyFile | None:
        """The policy's file; None if this class evaluates the policy itself, across the channel.

        That is the case if the action map is custom code, or if the algorithm is and has a network that
        the format does not know.
        """
        if not self.exports() or is_code(self.config.env.action.name):
            return None
        try:
            return self.export()
        except ConfigError:
            if is_code(self.config.agent.name):
                return None
            raise

    def layout(self) -> dict[str, Any]:
        """Returns the settings that a checkpoint's networks are bound to."""
        env = self.config.env
        return {"agent": self.config.agent.name, "fields": list(env.fields), "action_map": env.action.name}

    def save(self, folder: Path) -> None:
        """Writes the policy and all that is needed to continue."""
        agent = self.config.agent.model_dump(mode="json", exclude={"name"})
        file = self.file()
        write_layout(
            folder,
            {
                **self.layout(),
                "settings": agent,
                "slots": self.env.num_envs,
                "action_settings": self.config.env.action.settings,
                "clock": self.config.env.clock.model_dump(mode="json"),
                "inside": file is not None,
            },
        )
        if file is not None:
            write_policy(folder / POLICY_FILE, file)
        save_learner(folder, self.model, self.run_name)

    def restore(self, folder: Path) -> None:
        """Reads the files of ``save``. Raises ConfigError if they have other fields or another agent."""
        refuse_pickles(folder)
        check_layout(folder, self.layout())
        self.run_name = restore_learner(folder, self.model) or self.run_name


#: The name that custom agents derive from.
GradientTrainer = Trainer


def policy_file(network: Exported, env: EnvConfig, training: Training) -> PolicyFile:
    """A network with the environment around it. Raises ValueError if they make no policy."""
    fields = (*env.fields, *network.appended)
    plain: list[AnyInput] = [Input(field=name, transform=network.transform) for name in fields]
    spec = PolicySpec(
        observation=plain if network.observation is None else list(network.observation),
        history=network.history,
        network=network.network,
        action=env.action.model_dump(),
        clock=env.clock,
        decision_quantum_ns=env.decision_quantum_ns,
        telemetry_bytes=wire_bytes(env.fields) if env.telemetry_bytes is None else env.telemetry_bytes,
        **env.spared,
        training=training,
    )
    return PolicyFile(spec, network.tensors)
