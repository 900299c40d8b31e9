# SPDX-License-Identifier: GPL-2.0-or-later
"""What does a tuning run need to know? Attributes to search, how long, and what they are judged by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from agents.training.config import EnvConfig, EvaluationConfig, Named, PerFlowRttClock
from ns3_env.strict import Strict

#: A controller's attributes, as a scenario has them.
Attributes = dict[str, bool | int | float | str]

#: The weights that the thesis settles on, W_Q:W_R = 1:10 (Zheng 2024, sec. 5.2.1); the rest are defaults.
THESIS: Attributes = {"WeightQueue": 1.0, "WeightWindow": 10.0}


class Parameter(Strict):
    """The range of one attribute."""

    low: float
    high: float
    log: bool = Field(default=False, description="search its logarithm: for what acts by its order")
    integer: bool = Field(default=False, description="whole numbers only")
    start: float | None = Field(default=None, description="where the search begins; none: its default")

    @model_validator(mode="after")
    def _is_a_range(self) -> Parameter:
        if not self.low < self.high:
            raise ValueError(f"low ({self.low:g}) must be below high ({self.high:g})")
        if self.start is not None and not self.low <= self.start <= self.high:
            raise ValueError(f"start ({self.start:g}) is not between {self.low:g} and {self.high:g}")
        if self.log and self.low <= 0:
            raise ValueError(f"log: low must be above 0, not {self.low:g}")
        if self.log and self.integer:
            raise ValueError("log and integer: whole numbers are searched as they are")
        if self.integer and not all(x.is_integer() for x in (self.low, self.high, self.start or 0.0)):
            raise ValueError("integer: low, high and start must be whole numbers")
        return self


class MpccAgent(Strict):
    """The simulator's controller ``mpcc``; ``parameters`` are attributes of it, by their names."""

    name: Literal["mpcc"] = "mpcc"
    parameters: dict[str, Parameter] = Field(min_length=1)
    attributes: Attributes = Field(default_factory=dict, description="others, held fixed")
    trials: int = Field(default=100, ge=1, description="settings tried, the start among them")
    population: int = Field(default=8, ge=4, description="trials between two moves of the search (CMA-ES)")
    step: float = Field(default=0.25, gt=0, le=1, description="first standard deviation, in ranges")
    episodes: int = Field(default=2, ge=1, description="of each stage in a trial, the same in all trials")

    @model_validator(mode="after")
    def _searched_or_fixed(self) -> MpccAgent:
        both = sorted(set(self.parameters) & set(self.attributes))
        if both:
            raise ValueError(f"attributes: {both[0]} is among the parameters, too")
        return self


class JudgeConfig(Strict):
    """What settings are judged by: the agent's reward at the agent's decisions, as read from recordings."""

    simulators: int | None = Field(
        default=None, ge=1, description="rdma-sim processes; none: one for each core. Changes no result"
    )
    reward: Named = Named(name="staged")
    clock: PerFlowRttClock = PerFlowRttClock()

    def of_agent(self) -> EnvConfig:
        """The environment of an agent that is judged so."""
        return EnvConfig(fields=["rtt"], reward=self.reward, clock=self.clock)


class TuningConfig(Strict):
    """configs/mpcc.yaml."""

    name: str = Field(default="mpcc", pattern=r"^[A-Za-z0-9_.-]+$")
    seed: int = Field(default=1, ge=0)
    agent: MpccAgent
    env: JudgeConfig = JudgeConfig()
    keep_checkpoints: int = Field(default=2, ge=1)
    evaluation: EvaluationConfig | None = None
    versions: dict[str, str] = Field(
        default_factory=dict, description="written into a run's folder; not read"
    )

    def thesis(self) -> Attributes:
        """The attributes that tuning is compared with."""
        return {**self.agent.attributes, **THESIS}


def is_tuning(data: Mapping[str, Any]) -> bool:
    """Whether a configuration's data ask for tuning, not for an agent that learns."""
    agent = data.get("agent")
    return isinstance(agent, Mapping) and agent.get("name") == "mpcc"
