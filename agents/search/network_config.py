# SPDX-License-Identifier: GPL-2.0-or-later
"""Configuration of a searched network: inputs, size, action map, clock and start."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ns3_env.agents.configuration.config import Named
from ns3_env.agents.search.law import LAW_FIELDS, SizeLaw
from ns3_env.config.bounds import Setting, TelemetryBytes
from ns3_env.config.model import Strict, validate
from ns3_env.errors import ConfigError
from ns3_env.policies.header import Activation, PolicySpec, Transform
from ns3_env.policies.tensors import Layer, Shape, Widths, tensor_shapes
from ns3_env.scenario import Clock, PerFlowRtt
from ns3_env.task.actions import make_action_map
from ns3_env.task.observations import field_indices, wire_bytes

#: Weights of the largest network; a search of more would find nothing in a lifetime.
MAX_WEIGHTS = 100_000
Width = Annotated[int, Field(ge=1, le=1024)]


class Start(Strict):
    """What a network is fitted to before it is searched."""

    law: SizeLaw = SizeLaw()
    fit_steps: Setting = Field(default=500, ge=1, description="of Adam; some milliseconds each")


class NetworkConfig(Strict):
    """A network that the simulator plays (docs/policy-format.md)."""

    kind: Literal["mlp", "lstm"] = "mlp"
    fields: list[str] = Field(min_length=1, description="telemetry fields that it reads")
    transform: Transform = Field(default="symlog", description="of every field")
    hidden: list[Width] = Field(default=[12, 12], max_length=8, description="widths of the hidden layers")
    hidden_activation: Activation = "tanh"
    memory: Width | None = Field(default=None, description="width of an lstm, and of its shortcut")
    history: int = Field(default=1, ge=1, description="observations that it reads, the current one included")
    action: Named = Named(name="exponential_window")
    clock: Clock = PerFlowRtt()
    telemetry_bytes: TelemetryBytes | None = Field(
        default=None, ge=0, description="of a packet on the wire; none: what the fields cost"
    )
    start: Start | None = Field(
        default=None,
        description="the law that the first network answers as; none: it lets the window of any flow grow",
    )

    @model_validator(mode="after")
    def _memory_of_an_lstm(self) -> NetworkConfig:
        if (self.kind == "lstm") != (self.memory is not None):
            raise ValueError("memory: an lstm needs one, and nothing else has one")
        return self

    @model_validator(mode="after")
    def _can_answer_as_the_law(self) -> NetworkConfig:
        if self.start is None:
            return self
        if (self.kind, self.transform, self.hidden_activation) != ("mlp", "symlog", "tanh"):
            raise ValueError("start: the law is fitted by an mlp with symlog and tanh")
        if missing := [name for name in LAW_FIELDS if name not in self.fields]:
            raise ValueError(f"fields: the law of 'start' reads {', '.join(missing)}, too")
        return self

    def spec(self, source: str) -> PolicySpec:
        """The policy, but for its weights. Raises ConfigError, naming ``source`` and key."""
        try:
            field_indices(self.fields)
        except KeyError as error:
            raise ConfigError(f"{source}: network.fields: {error.args[0]}") from None
        try:
            make_action_map(self.action.name, **self.action.settings)
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"{source}: network.action: {error.args[0]}") from None
        cost = wire_bytes(self.fields) if self.telemetry_bytes is None else self.telemetry_bytes
        content: dict[str, Any] = {
            "observation": [{"field": name, "transform": self.transform} for name in self.fields],
            "history": self.history,
            "network": {
                "kind": self.kind,
                "hidden_activation": self.hidden_activation,
                "output_activation": "tanh",
            },
            "action": {"name": self.action.name, **self.action.settings},
            "clock": self.clock.model_dump(),
            "telemetry_bytes": cost,
        }
        return validate(content, PolicySpec, f"{source}: network")

    def shapes(self, spec: PolicySpec, source: str) -> dict[str, Shape]:
        """Shapes of its tensors, by name. Raises ConfigError where there are too many weights."""
        layers = tuple(Layer(width) for width in (*self.hidden, 1))
        shapes = tensor_shapes(spec, Widths(layers, self.memory or 0, self.memory or 0))
        count = sum(_product(shape) for shape in shapes.values())
        if count > MAX_WEIGHTS:
            raise ConfigError(
                f"{source}: network: has {count} weights; at most {MAX_WEIGHTS} can be searched"
            )
        return shapes


def _product(shape: Shape) -> int:
    found = 1
    for size in shape:
        found *= size
    return found
