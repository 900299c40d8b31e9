# SPDX-License-Identifier: GPL-2.0-or-later
"""What does a training run need to know? The typed configuration: YAML, with ``key=value`` overrides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ns3_env.errors import ConfigError
from ns3_env.strict import Strict, validate
from ns3_env.yaml_files import parse, read_mapping

M = TypeVar("M", bound=BaseModel)


class TrainFrequency(Strict):
    """Fields shared by the off-policy agents: see Stable-Baselines3's OffPolicyAlgorithm."""

    learning_rate: float = Field(default=1e-3, gt=0)
    gamma: float = Field(default=0.99, gt=0, le=1, description="discount per decision")
    buffer_size: int = Field(default=200_000, ge=1, description="transitions")
    learning_starts: int = Field(default=1000, ge=0, description="decisions taken at random first")
    batch_size: int = Field(default=100, ge=1)
    tau: float = Field(default=0.005, gt=0, le=1)
    train_freq: int = Field(
        default=64, ge=1, description="decisions (or vector steps) between rounds of gradient steps"
    )
    gradient_steps: int = Field(default=4, ge=0, description="gradient steps in a round")


class FdccAgent(TrainFrequency):
    """LSTM-TD3 (agents/fdcc)."""

    name: Literal["fdcc"] = "fdcc"
    action_noise: float = Field(
        default=0.1, ge=0, description="standard deviation, in units of the scaled action"
    )
    random_share: float = Field(default=0.2, ge=0, le=1, description="share of flows' episodes kept random")
    saturation_penalty: float = Field(default=0.003, ge=0, description="of the actor's output before tanh")
    compress_rewards: bool = Field(default=True, description="learn from sign(r)·ln(1+|r|)")
    history_length: int = Field(default=8, ge=1, le=64)
    n_step_return: int = Field(default=3, ge=1)
    hidden: int = Field(default=64, ge=1)
    shortcut: int = Field(default=64, ge=1)
    net_arch: list[int] = Field(default=[64], description="widths after the encoder")
    compress: bool = Field(default=True, description="read sign(x)·ln(1+|x|) of the telemetry")
    policy_delay: int = Field(default=2, ge=1)
    target_policy_noise: float = Field(default=0.2, ge=0)
    target_noise_clip: float = Field(default=0.5, ge=0)


class Sb3Agent(Strict):
    """A Stable-Baselines3 algorithm as it is; ``options`` go to its constructor."""

    name: Literal["td3", "sac", "ppo"]
    policy: str = "MlpPolicy"
    options: dict[str, Any] = Field(default_factory=dict)


AgentConfig = Annotated[FdccAgent | Sb3Agent, Field(discriminator="name")]


class Named(BaseModel):
    """Something chosen by name; the other keys are its settings, checked by what bears the name."""

    model_config = ConfigDict(extra="allow", frozen=True)
    name: str

    @property
    def settings(self) -> dict[str, Any]:
        """All keys but ``name``."""
        return dict(self.model_extra or {})


class PerFlowRttClock(Strict):
    """Each flow decides again after a fraction of its last RTT (Zhang 2023, sec. 4.4)."""

    name: Literal["per_flow_rtt"] = "per_flow_rtt"
    rtt_fraction: float = Field(default=0.5, gt=0)


class SynchronousClock(Strict):
    """All live flows decide at a fixed interval: what generic algorithms expect."""

    name: Literal["synchronous"] = "synchronous"
    interval_ns: int = Field(default=10_000, gt=0)


ClockConfig = Annotated[PerFlowRttClock | SynchronousClock, Field(discriminator="name")]


class EnvConfig(Strict):
    """The environment (ns3_env.vec_env)."""

    simulators: int = Field(default=1, ge=1, description="rdma-sim processes")
    fields: list[str] = Field(min_length=1, description="telemetry fields of the observation")
    action: Named = Named(name="multiplicative_window")
    reward: Named = Named(name="staged")
    clock: ClockConfig = PerFlowRttClock()
    decision_quantum_ns: int = Field(default=0, ge=0, description="flows due within it decide together")

    @field_validator("fields")
    @classmethod
    def _different(cls, fields: list[str]) -> list[str]:
        if len(set(fields)) < len(fields):
            raise ValueError("a field is named twice")
        return fields


class TrainConfig(Strict):
    """How long, and what is kept."""

    decisions: int = Field(default=50_000, ge=1, description="decisions of all flows together")
    torch_threads: int = Field(default=1, ge=1)
    checkpoint_every: int = Field(default=20_000, ge=1, description="decisions between checkpoints")
    keep_checkpoints: int = Field(default=2, ge=1)
    log_every_episodes: int = Field(
        default=16, ge=1, description="episodes of flows between lines of the log"
    )


class EvaluationConfig(Strict):
    """What is compared after training; the scenario is never trained on (its seeds are its own)."""

    scenario: dict[str, Any] = Field(description="a scenario, as in a curriculum")
    returns: dict[str, Any] | None = Field(
        default=None, description="scenario on which returns are compared; none: the same"
    )
    controllers: list[str] = Field(default=["mpcc", "hpcc"], description="controllers inside the simulator")
    episodes: int = Field(default=1, ge=1)
    seed: int = Field(default=1_000_003, ge=0)


class RunConfig(Strict):
    """configs/*.yaml."""

    name: str = Field(default="run", pattern=r"^[A-Za-z0-9_.-]+$")
    seed: int = Field(default=1, ge=0)
    agent: AgentConfig
    env: EnvConfig
    train: TrainConfig = TrainConfig()
    evaluation: EvaluationConfig | None = None
    versions: dict[str, str] = Field(
        default_factory=dict, description="written into a run's folder; not read"
    )

    @model_validator(mode="after")
    def _clock_fits_the_agent(self) -> RunConfig:
        if isinstance(self.agent, Sb3Agent) and self.env.clock.name != "synchronous":
            raise ValueError(
                f"env.clock.name: {self.agent.name} needs 'synchronous': it expects all flows at every step"
            )
        return self


def apply_overrides(data: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """``data`` with ``a.b=value`` put in; values are read as YAML.

    Raises:
        ConfigError: an override is not of the form key=value, or leads through something that is no mapping.
    """
    result = dict(data)
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise ConfigError(f"command line: {override!r} is not of the form key=value")
        try:
            value = parse(text)
        except yaml.YAMLError as error:
            raise ConfigError(f"command line: {key}: not a YAML value: {text!r}") from error
        *parents, last = key.split(".")
        at = result
        for parent in parents:
            inner = at.get(parent, {})
            if not isinstance(inner, dict):
                raise ConfigError(f"command line: {key}: {parent!r} holds a value, not keys")
            at[parent] = dict(inner)
            at = at[parent]
        at[last] = value
    return result


def load(path: Path, model: type[M], overrides: Sequence[str] = ()) -> M:
    """The file as ``model``, overrides put in. Raises ConfigError."""
    return validate(apply_overrides(read_mapping(path), overrides), model, str(path))
