# SPDX-License-Identifier: GPL-2.0-or-later
"""What does a search need to know? A controller's attributes, their ranges, how long, what is judged."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from agents.training.config import EnvConfig, EvaluationConfig, HangTimeout, Named
from ns3_env.bounds import Processes, Seed, Setting
from ns3_env.scenario import PerFlowRtt
from ns3_env.strict import Strict

#: A controller's attributes, as a scenario has them.
Attributes = dict[str, bool | int | float | str]


class Parameter(Strict):
    """The range of one attribute."""

    low: float
    high: float
    log: bool = Field(default=False, description="search its logarithm: for what acts by its order")
    integer: bool = Field(default=False, description="whole numbers only")
    start: float | None = Field(default=None, description="where the search begins; none: its default")
    unit: str = Field(
        default="",
        pattern="^[A-Za-z/]*$",
        description="put behind the number, e.g. ns of an attribute that is a time",
    )

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

    def attribute(self, value: int | float) -> int | float | str:
        """The value as the attribute takes it."""
        return f"{value!r}{self.unit}" if self.unit else value

    def number(self, attribute: object) -> float | None:
        """The number in an attribute's value or text; None where it is none of this unit."""
        text = str(attribute)
        if not text.endswith(self.unit):
            return None
        try:
            return float(text.removesuffix(self.unit))
        except ValueError:
            return None


class ControllerConfig(Strict):
    """A controller of the simulator, its attributes by name (``rdma-sim --PrintAttributes=rdma::NAME``)."""

    name: str = Field(min_length=1)
    parameters: dict[str, Parameter] = Field(min_length=1, description="attributes that are searched")
    attributes: Attributes = Field(default_factory=dict, description="others, held fixed")
    compare: Attributes = Field(
        default_factory=dict,
        description="of what the tuned controller is compared with; those not named have their defaults",
    )

    @model_validator(mode="after")
    def _searched_or_fixed(self) -> ControllerConfig:
        both = sorted(set(self.parameters) & set(self.attributes))
        if both:
            raise ValueError(f"attributes: {both[0]} is among the parameters, too")
        return self

    @property
    def untuned(self) -> Attributes:
        """The attributes that the tuned ones are compared with."""
        return {**self.attributes, **self.compare}


class SearchConfig(Strict):
    """How long is searched, and how."""

    trials: Setting = Field(default=100, ge=1, description="settings tried, the start among them")
    population: Setting = Field(
        default=8, ge=4, description="trials between two moves of the search (CMA-ES)"
    )
    step: float = Field(default=0.25, gt=0, le=1, description="first standard deviation, in ranges")
    episodes: Setting = Field(default=2, ge=1, description="of each stage in a trial, the same in all trials")


class JudgeConfig(Strict):
    """What settings are judged by: the agent's reward at the agent's decisions, as read from recordings."""

    simulators: Processes | None = Field(
        default=None, ge=1, description="rdma-sim processes; none: one for each core. Changes no result"
    )
    hang_timeout_s: HangTimeout = 0.9
    reward: Named = Named(name="staged")
    clock: PerFlowRtt = PerFlowRtt()

    def of_agent(self) -> EnvConfig:
        """The environment of an agent that is judged so."""
        return EnvConfig(
            fields=["rtt"], reward=self.reward, clock=self.clock, hang_timeout_s=self.hang_timeout_s
        )


class TuneConfig(Strict):
    """A run of ``kind: tune``: a controller's attributes are searched."""

    kind: Literal["tune"]
    name: str = Field(default="tuned", pattern=r"^[A-Za-z0-9_.-]+$")
    seed: Seed = Field(default=1, ge=0)
    controller: ControllerConfig
    search: SearchConfig = SearchConfig()
    env: JudgeConfig = JudgeConfig()
    keep_checkpoints: Setting = Field(default=2, ge=1)
    evaluation: EvaluationConfig | None = None
    versions: dict[str, str] = Field(
        default_factory=dict, description="written into a run's folder; not read"
    )
