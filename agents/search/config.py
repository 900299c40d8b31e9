# SPDX-License-Identifier: GPL-2.0-or-later
"""Configuration of a search: its subject, its length, and its objective."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ns3_env.agents.configuration.config import (
    EnvConfig,
    EvaluationConfig,
    Named,
    RayAddress,
    Spared,
)
from ns3_env.agents.search.laws.order import OrderLaw
from ns3_env.config.bounds import Count, Processes, Seed, Setting, TelemetryBytes
from ns3_env.config.model import Strict, nearest, refused_at, validate
from ns3_env.decision.actions import make_action_map
from ns3_env.decision.observations import declared, wire_bytes
from ns3_env.decision.rewards import DEFAULT_REWARD
from ns3_env.errors import ConfigError
from ns3_env.policies.header import Activation, PolicySpec, Transform
from ns3_env.policies.tensors import Layer, Shape, Widths, tensor_shapes
from ns3_env.scenario import Clock, PerFlowRtt

#: Weights of the largest network; a search of more would never finish.
MAX_WEIGHTS = 100_000
#: Number of trials if a search specifies no length.
DEFAULT_TRIALS = 100


Width = Annotated[int, Field(ge=1, le=1024)]
#: Weight of a metric in a sum.
Weight = Annotated[float, Field(gt=0, le=1000)]
#: A controller's attributes, as a scenario has them.
Attributes = dict[str, bool | int | float | str]


class Start(Strict):
    """Target that a network is fitted to before it is searched."""

    policy: str | None = Field(
        default=None,
        description="name of a released policy, or a policy's file, whose weights it starts with; inputs "
        "that it lacks start with weights of 0; none: the law's",
    )
    law: OrderLaw = OrderLaw()
    fit_steps: Setting = Field(default=500, ge=1, description="of Adam; some milliseconds each")


class NetworkConfig(Spared):
    """A network that the simulator evaluates (docs/policy-format.md)."""

    kind: Literal["mlp", "lstm"] = "mlp"
    fields: list[str] = Field(min_length=1, description="telemetry fields that it reads")
    transform: Transform = Field(default="symlog", description="of every field")
    hidden: list[Width] = Field(default=[12, 12], max_length=8, description="widths of the hidden layers")
    hidden_activation: Activation = "tanh"
    memory: Width | None = Field(default=None, description="width of an lstm")
    shortcut: Width | None = Field(default=None, description="width of an lstm's shortcut; none: the lstm's")
    history_length: int = Field(
        default=1, ge=1, description="observations that it reads, the current one included"
    )
    action: Named = Named(name="exponential_window")
    clock: Clock = PerFlowRtt()
    telemetry_bytes: TelemetryBytes | None = Field(
        default=None, ge=0, description="of a packet on the wire; none: the fields' cost"
    )
    start: Start | None = Field(
        default=None,
        description="law or policy that the first network imitates; none: it lets the window of any "
        "flow grow",
    )

    @model_validator(mode="after")
    def _memory_of_an_lstm(self) -> NetworkConfig:
        if (self.kind == "lstm") != (self.memory is not None):
            raise ValueError("memory: an lstm needs one, and nothing else has one")
        if self.shortcut is not None and self.kind != "lstm":
            raise ValueError("shortcut: nothing but an lstm has one")
        return self

    @model_validator(mode="after")
    def _can_answer_as_the_law(self) -> NetworkConfig:
        if self.start is None or self.start.policy is not None:
            return self
        law = self.start.law
        if (self.kind, self.transform, self.hidden_activation) != law.network:
            raise ValueError("start: the law is fitted by an {} with {} and {}".format(*law.network))
        if missing := [name for name in law.reads if name not in self.fields]:
            raise ValueError(f"fields: the law of 'start' reads {', '.join(missing)}, too")
        return self

    @property
    def lstm_widths(self) -> tuple[int, int]:
        """Widths of the LSTM and of its shortcut; 0 without one."""
        memory = self.memory or 0
        return memory, memory if self.shortcut is None else self.shortcut

    def spec(self, source: str) -> PolicySpec:
        """The policy, but for its weights. Raises ConfigError, naming ``source`` and key."""
        with refused_at(f"{source}: network.fields"):
            declared(self.fields)
        with refused_at(f"{source}: network.action"):
            make_action_map(self.action.name, **self.action.settings)
        cost = wire_bytes(self.fields) if self.telemetry_bytes is None else self.telemetry_bytes
        content: dict[str, Any] = {
            "observation": [{"field": name, "transform": self.transform} for name in self.fields],
            "history": self.history_length,
            "network": {
                "kind": self.kind,
                "hidden_activation": self.hidden_activation,
                "output_activation": "tanh",
            },
            "action": {"name": self.action.name, **self.action.settings},
            "clock": self.clock.model_dump(),
            "telemetry_bytes": cost,
            **self.spared,
        }
        return validate(content, PolicySpec, f"{source}: network")

    def shapes(self, spec: PolicySpec, source: str) -> dict[str, Shape]:
        """Shapes of its tensors, by name. Raises ConfigError if there are too many weights."""
        layers = tuple(Layer(width) for width in (*self.hidden, 1))
        shapes = tensor_shapes(spec, Widths(layers, *self.lstm_widths))
        count = sum(math.prod(shape) for shape in shapes.values())
        if count > MAX_WEIGHTS:
            raise ConfigError(
                f"{source}: network: has {count} weights; at most {MAX_WEIGHTS} can be searched"
            )
        return shapes


class Parameter(Strict):
    """The range of one attribute."""

    low: float
    high: float
    log: bool = Field(default=False, description="search its logarithm: for what acts by its order")
    integer: bool = Field(default=False, description="whole numbers only")
    start: float | None = Field(default=None, description="start of the search; none: its default")
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
        """The value in the attribute's form."""
        return f"{value!r}{self.unit}" if self.unit else value

    def number(self, attribute: object) -> float | None:
        """The number in an attribute's value or text; None if it has another unit."""
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
    attributes: Attributes = Field(default_factory=dict, description="further ones, fixed")
    compare: Attributes = Field(
        default_factory=dict,
        description="of the controllers compared with the tuned one; those not named have their defaults",
    )

    @model_validator(mode="after")
    def _searched_or_fixed(self) -> ControllerConfig:
        both = sorted(set(self.parameters) & set(self.attributes))
        if both:
            raise ValueError(f"attributes: {both[0]} is among the parameters, too")
        return self


class LawConfig(Strict):
    """Numbers of the law that the network is fitted to, of its action map, and ``rtt_fraction``."""

    parameters: dict[str, Parameter] = Field(min_length=1, description="searched attributes")


class ValidationConfig(Strict):
    """Validation of a search on flows that it has not seen."""

    every: Setting = Field(default=5, ge=1, description="generations between two looks; one is at the start")
    episodes: Setting = Field(default=2, ge=1, description="of each stage, held back: always the same")


class SearchConfig(Strict):
    """Length and method of a search."""

    trials: Setting | None = Field(
        default=None,
        ge=1,
        description="points tried, the start among them; none: 100, unless decisions end it",
    )
    decisions: Count | None = Field(
        default=None,
        ge=1,
        description="of a network in all episodes, validations among them: no generation starts once there "
        "were that many; none: only trials end the search",
    )
    population: Setting = Field(
        default=8, ge=4, description="trials between two moves of the search (CMA-ES)"
    )
    step: float = Field(
        default=0.25,
        gt=0,
        le=1,
        description="first standard deviation, in ranges; of weights, in 1/√inputs",
    )
    episodes: Setting = Field(default=2, ge=1, description="of each stage in a trial")
    stages: Literal["together", "in_order"] = Field(
        default="together",
        description="in_order: the first generations run only the first stage, later ones more, the last "
        "all, as an agent's training has them; needs trials and a validation",
    )
    validation: ValidationConfig | None = Field(
        default=None,
        description="none: all trials run the same episodes, and the best is kept. Else each generation "
        "has new episodes, and the search's mean with the best validation is kept",
    )

    @model_validator(mode="before")
    @classmethod
    def _has_an_end(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or any(data.get(key) is not None for key in ("trials", "decisions")):
            return data
        return {**data, "trials": DEFAULT_TRIALS}

    @model_validator(mode="after")
    def _ranks_what_is_alike(self) -> SearchConfig:
        if self.stages == "in_order" and (self.trials is None or self.validation is None):
            raise ValueError(
                "stages: in_order needs trials, to share them out, and a validation on all stages"
            )
        return self

    @property
    def generations(self) -> int:
        """Number of generations after the start, of a search limited by trials."""
        return max(1, ((self.trials or 1) - 1) // self.population)

    @model_validator(mode="after")
    def _validates_more_than_the_start(self) -> SearchConfig:
        if (
            self.validation is not None
            and self.trials is not None
            and (needed := 1 + self.population * self.validation.every) > self.trials
        ):
            raise ValueError(
                f"trials: {self.trials} end before the first validation, after {self.validation.every} "
                f"generations of {self.population}: at least {needed}"
            )
        return self


class MetricsConfig(Strict):
    """Metrics against the best of some of the simulator's controllers (``metrics_objective``)."""

    baselines: list[str] = Field(min_length=1, description="controllers of the simulator, as they are")
    terms: dict[str, Weight] = Field(min_length=1, description="weights of metrics, by their names")
    losses_weigh: float = Field(
        default=1.0,
        ge=1,
        le=100,
        description="times as much as gains: above 1, no gain in one place makes up for a loss in another",
    )
    allowed: dict[str, Annotated[float, Field(gt=0, le=1000)]] = Field(
        default_factory=dict,
        description="terms that are bounds: how many times worse than the best baseline costs nothing (0.9: "
        "a tenth better is asked for), and nothing is gained by better",
    )

    @model_validator(mode="after")
    def _bounds_are_terms(self) -> MetricsConfig:
        for name in self.allowed:
            if name not in self.terms:
                raise ValueError(f"allowed: {name} is not among the terms{nearest(name, list(self.terms))}")
        return self


class JudgeConfig(Strict):
    """The simulators, and the reward at decisions, the objective if no metrics are named."""

    simulators: Processes | None = Field(
        default=None, ge=1, description="rdma-sim processes; none: one for each core. Changes no result"
    )
    ray: RayAddress = None
    reward: Named = Named(name=DEFAULT_REWARD)
    clock: PerFlowRtt = PerFlowRtt()

    def of_agent(self) -> EnvConfig:
        """The environment of an agent with this objective."""
        return EnvConfig(fields=["rtt"], reward=self.reward, clock=self.clock)


class SearchRunConfig(Strict):
    """A run of ``kind: search``: a controller's attributes, or a network's weights, are searched."""

    kind: Literal["search"]
    name: str = Field(default="tuned", pattern=r"^[A-Za-z0-9_.-]+$")
    seed: Seed = Field(default=1, ge=0)
    controller: ControllerConfig | None = Field(default=None, description="whose attributes are searched")
    network: NetworkConfig | None = Field(default=None, description="whose weights are searched")
    law: LawConfig | None = Field(
        default=None, description="the network is fitted to a law, and the law's numbers are searched instead"
    )
    objective: MetricsConfig | None = Field(
        default=None,
        description="none: env.reward; slowdown, the return of a flow, anywhere, the rest the reward of a "
        "decision, of flows into one receiver",
    )
    search: SearchConfig = SearchConfig()
    env: JudgeConfig = JudgeConfig()
    keep_checkpoints: Setting = Field(default=2, ge=1)
    evaluation: EvaluationConfig | None = None
    versions: dict[str, str] = Field(
        default_factory=dict, description="written into a run's folder; not read"
    )

    @model_validator(mode="after")
    def _one_subject(self) -> SearchRunConfig:
        if (self.controller is None) == (self.network is None):
            sections = "none" if self.controller is None else "both"
            raise ValueError(
                "one of the sections 'controller' (its attributes are searched) and 'network' (its weights "
                f"are) is needed; there are {sections}"
            )
        if self.search.decisions is not None and self.network is None:
            raise ValueError("search.decisions: no policy takes any in a controller: search.trials")
        if self.law is not None and (self.network is None or self.network.start is None):
            raise ValueError("law: the network fitted to it is missing: network.start")
        return self
