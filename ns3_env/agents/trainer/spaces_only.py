# SPDX-License-Identifier: GPL-2.0-or-later
"""Environment of spaces alone, to load a trained policy without its simulators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from ns3_env.task import observations
from ns3_env.task.actions import make_action_map


class SpacesOnly(VecEnv):
    """The spaces of ``FlowVecEnv``, and nothing that runs."""

    def __init__(
        self,
        fields: list[str],
        action_map: str,
        slots: int,
        action_settings: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Args:
            fields: fields of the observation.
            action_map: name of the action map.
            slots: of all simulators together.
            action_settings: of the action map.

        Raises:
            KeyError: there is no such field or action map.
        """
        self.render_mode: str | None = None
        action = make_action_map(action_map, **(action_settings or {}))
        super().__init__(slots, observations.observation_space(fields), action.space)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute, once per slot."""
        return [getattr(self, attr_name)] * self.num_envs

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No slot is wrapped."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Nothing is open."""

    def reset(self) -> np.ndarray:
        """Raises NotImplementedError, as all that runs does."""
        raise NotImplementedError("there are only the spaces of this environment")

    def step_async(self, actions: np.ndarray) -> None:
        """See ``reset``."""
        self.reset()

    def step_wait(self) -> VecEnvStepReturn:
        """See ``reset``."""
        raise NotImplementedError("there are only the spaces of this environment")

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """See ``reset``."""
        self.reset()

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """See ``reset``."""
        raise NotImplementedError("there are only the spaces of this environment")
