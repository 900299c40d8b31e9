# SPDX-License-Identifier: GPL-2.0-or-later
"""FDCC's policy: actor, twin critics and targets, with each flow's history in its state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium import spaces
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.preprocessing import get_action_dim
from stable_baselines3.common.type_aliases import PyTorchObs, Schedule

from ns3_env.agents.fdcc.networks import RecurrentActor, RecurrentCritics
from ns3_env.agents.fdcc.replay import History
from ns3_env.agents.fdcc.td3 import ADAM
from ns3_env.errors import ConfigError
from ns3_env.policies.history import Floats, Ints, append


class RecurrentTD3Policy(BasePolicy):
    """Actor, twin critics and their targets; ``predict`` keeps the history of each row in its state."""

    actor: RecurrentActor
    actor_target: RecurrentActor
    critic: RecurrentCritics
    critic_target: RecurrentCritics

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Box,
        lr_schedule: Schedule,
        *,
        history_length: int,
        append_last_action: bool,
        hidden: int,
        shortcut: int,
        net_arch: Sequence[int],
        n_critics: int = 2,
        optimizer_class: type[th.optim.Optimizer] = th.optim.Adam,
        optimizer_kwargs: dict[str, Any] | None = None,
    ) -> None:
        """
        Args:
            observation_space: Box of shape (D,).
            action_space: Box of shape (A,).
            lr_schedule: learning rate by progress remaining.
            history_length, hidden, shortcut, net_arch: see ``FdccConfig``.
            append_last_action: true if the input is the observation followed by the previous action.
            n_critics: number of critics; TD3 has twins.
            optimizer_class: optimiser.
            optimizer_kwargs: options of the optimiser, except the learning rate.
        """
        super().__init__(
            observation_space,
            action_space,
            optimizer_class=optimizer_class,
            optimizer_kwargs=ADAM if optimizer_kwargs is None else optimizer_kwargs,
            squash_output=True,
        )
        self.history_length = history_length
        self.append_last_action = append_last_action
        self.action_dim = get_action_dim(action_space)
        assert observation_space.shape is not None
        self.input_dim = observation_space.shape[0] + (self.action_dim if append_last_action else 0)
        self.network_kwargs: dict[str, Any] = {
            "input_dim": self.input_dim,
            "hidden": hidden,
            "shortcut": shortcut,
            "net_arch": list(net_arch),
        }
        self.n_critics = n_critics
        rate = lr_schedule(1)
        spaces_ = (observation_space, action_space)
        self.actor = RecurrentActor(*spaces_, **self.network_kwargs)
        self.actor_target = RecurrentActor(*spaces_, **self.network_kwargs)
        self.critic = RecurrentCritics(*spaces_, **self.network_kwargs, n_critics=n_critics)
        self.critic_target = RecurrentCritics(*spaces_, **self.network_kwargs, n_critics=n_critics)
        self.actor_target.load_state_dict(self.actor.state_dict())
        self.critic_target.load_state_dict(self.critic.state_dict())
        self.actor.optimizer = optimizer_class(self.actor.parameters(), lr=rate, **self.optimizer_kwargs)  # type: ignore[call-arg]
        self.critic.optimizer = optimizer_class(self.critic.parameters(), lr=rate, **self.optimizer_kwargs)  # type: ignore[call-arg]
        self.actor_target.set_training_mode(False)
        self.critic_target.set_training_mode(False)

    @property
    def action_box(self) -> spaces.Box:
        """The action space, of shape (A,)."""
        assert isinstance(self.action_space, spaces.Box)
        return self.action_space

    @classmethod
    def load(cls, path: str, device: th.device | str = "auto") -> NoReturn:
        """Refused: Stable-Baselines3 reads pickled objects from the file. Raises ConfigError."""
        raise ConfigError(
            f"{path}: {cls.__name__}.load would run code that is in the file: save state_dict() and use "
            "load_state_dict(torch.load(path, weights_only=True))"
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        data = super()._get_constructor_parameters()
        kwargs = dict(self.network_kwargs)
        del kwargs["input_dim"], data["normalize_images"]
        return {
            **data,
            **kwargs,
            "lr_schedule": self._dummy_schedule,
            "history_length": self.history_length,
            "append_last_action": self.append_last_action,
            "n_critics": self.n_critics,
            "optimizer_class": self.optimizer_class,
            "optimizer_kwargs": self.optimizer_kwargs,
        }

    def set_training_mode(self, mode: bool) -> None:
        """Sets actor and critics; the targets always stay in evaluation mode."""
        self.actor.set_training_mode(mode)
        self.critic.set_training_mode(mode)
        self.training = mode

    def forward(self, observation: PyTorchObs, deterministic: bool = False) -> th.Tensor:
        """Actions for a ``History``."""
        return self._predict(observation, deterministic)

    def _predict(self, observation: PyTorchObs, deterministic: bool = False) -> th.Tensor:
        return self.actor(observation)  # type: ignore[no-any-return]

    def act_on(self, windows: Floats, lengths: Ints) -> Floats:
        """Scaled actions (n, A) in [-1, 1] for histories: windows (n, K, F), lengths (n,)."""
        with th.inference_mode():
            actions: Floats = self.actor(History(th.as_tensor(windows), th.as_tensor(lengths))).numpy()
            return actions

    def predict(
        self,
        observation: npt.NDArray[Any] | dict[str, npt.NDArray[Any]],
        state: tuple[npt.NDArray[Any], ...] | None = None,
        episode_start: npt.NDArray[Any] | None = None,
        deterministic: bool = False,
    ) -> tuple[npt.NDArray[Any], tuple[npt.NDArray[Any], ...] | None]:
        """Stable-Baselines3's ``predict``; the policy is deterministic either way.

        Args:
            observation: (n, D), or (D,) for one.
            state: (windows (n, K, F), lengths (n,), last actions (n, A)) as returned by the last call; None
                at the start.
            episode_start: (n,), true for flows whose history must be reset.
            deterministic: ignored.

        Returns:
            Actions (n, A) (or (A,)) in the action space's own units, and the next state.
        """
        self.set_training_mode(False)
        rows = np.asarray(observation, dtype=np.float32)
        single = rows.ndim == 1
        rows = np.atleast_2d(rows)
        n = len(rows)
        windows = np.zeros((n, self.history_length, self.input_dim), dtype=np.float32)
        lengths = np.zeros(n, dtype=np.int64)
        last_actions = np.zeros((n, self.action_dim), dtype=np.float32)
        if state is not None:
            windows[:], lengths[:], last_actions[:] = state
            if episode_start is not None:
                start = np.asarray(episode_start, dtype=bool)
                windows[start], lengths[start], last_actions[start] = 0.0, 0, 0.0
        append(
            windows,
            lengths,
            np.concatenate([rows, last_actions], axis=1) if self.append_last_action else rows,
        )
        scaled = self.act_on(windows, lengths)
        assert self.action_space.shape is not None
        actions = self.unscale_action(scaled).reshape(-1, *self.action_space.shape)
        return (actions[0] if single else actions), (windows, lengths, scaled)
