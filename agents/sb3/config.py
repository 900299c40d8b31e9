# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters of a Stable-Baselines3 algorithm, passed on to its constructor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from ns3_env.agents.configuration.registry import PER_RTT, AgentConfig
from ns3_env.config.bounds import MAX_COUNT, MAX_TRANSITIONS, WHY_SETTING, Count, Real, excess
from ns3_env.config.imports import is_code, named_code
from ns3_env.config.model import shown

#: Algorithms with their own names.
NAMES = ("td3", "sac", "ppo", "trpo")
#: Options that set the number of transitions kept: memory is reserved for all of them.
_TRANSITIONS = ("buffer_size", "n_steps")
#: Options that are counted from 1: with 0 an algorithm fails while it learns, or never ends.
_COUNTS = ("batch_size", "buffer_size", "n_steps", "n_epochs", "train_freq", "policy_delay")


class Sb3Config(AgentConfig):
    """A Stable-Baselines3 algorithm."""

    name: str = Field(description="td3, sac, ppo, or pkg.module:class")
    policy: str = Field(
        default="MlpPolicy",
        description="none: MlpPolicy, or the first that the algorithm has (MlpLstmPolicy of RecurrentPPO)",
    )
    gamma_per_rtt: float = Field(default=0.99, gt=0, le=1, description="discount per base RTT")
    compress: bool = Field(
        default=True, description="read sign(x)·ln(1+|x|) of the telemetry, which spans decades"
    )
    action_noise: Real = Field(
        default=0.0,
        ge=0,
        description="of an algorithm that explores by noise, as TD3: its standard deviation, in units of the "
        "scaled action; Fujimoto et al. 2018: 0.1",
    )
    options: dict[str, Any] = Field(default_factory=dict, description="of its constructor")

    @model_validator(mode="before")
    @classmethod
    def _policy_that_the_algorithm_has(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "policy" in data or not is_code(str(data.get("name"))):
            return data
        aliases = getattr(named_code(str(data["name"])), "policy_aliases", {})
        if not aliases or "MlpPolicy" in aliases:
            return data
        return {**data, "policy": next(iter(aliases))}

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if name not in NAMES and not is_code(name):
            raise ValueError(f"there is no algorithm {name!r}; known: {', '.join(NAMES)}, pkg.module:class")
        return name

    @field_validator("options")
    @classmethod
    def _sane(cls, options: dict[str, Any]) -> dict[str, Any]:
        if "gamma" in options:
            raise ValueError(f"gamma: {PER_RTT}")
        for key, value in options.items():
            if key in _COUNTS and isinstance(value, int | float) and not value >= 1:
                raise ValueError(f"{key}: must be at least 1, is {shown(value)}")
            limit = MAX_TRANSITIONS if key in _TRANSITIONS else MAX_COUNT
            for number in _numbers(value):
                if (text := excess(abs(number), limit, WHY_SETTING)) is not None:
                    raise ValueError(f"{key}: {text}")
                if isinstance(number, float) and not math.isfinite(number):
                    raise ValueError(f"{key}: must be a finite number, is {number}")
        return options


class EpisodeConfig(Sb3Config):
    """An algorithm that learns from whole episodes, run inside simulators."""

    name: Literal["ppo", "trpo"]
    start: str | None = Field(
        default=None,
        description="name of a released policy, or a policy's file, whose network the actor starts from; "
        "fields that it does not read come last",
    )
    advantages: Literal["batch", "episode"] = Field(
        default="batch",
        description="what advantages are centred and scaled by: all of an update, or those of their episode "
        "(of all env.plays), of which then equally many decisions are learned from, so that none outweighs "
        "the rest",
    )


class PpoConfig(EpisodeConfig):
    """PPO, and its additions to Stable-Baselines3's if its policy decides inside simulators."""

    name: Literal["ppo"] = "ppo"
    actor_starts: Count = Field(
        default=0,
        ge=0,
        description="passes of only the critic over the episodes, before the actor's",
    )


def _numbers(value: Any) -> Iterator[int | float]:
    """The numbers in a value, at any depth."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _numbers(inner)
    elif isinstance(value, int | float):
        yield value
