# SPDX-License-Identifier: GPL-2.0-or-later
"""Header of a policy's file, checked as strictly as a configuration.

docs/policy-format.md describes it; ``policy_file`` reads and writes it, with the tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

import numpy as np
from gymnasium.spaces import Box
from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)
from typing_extensions import Self

from ns3_env.config.bounds import MAX_TELEMETRY_BYTES, MAX_TIME_NS, Bdps, Count, Rtts, Seed, few
from ns3_env.config.model import Strict, shown
from ns3_env.decision.actions import ActionMap, make_action_map, unobserved
from ns3_env.decision.observations import agent_flags, declared, formula, is_formula, spared_attributes
from ns3_env.decision.rtt_target import RttTarget
from ns3_env.scenario import Clock

Transform = Literal["none", "symlog"]
Activation = Literal["relu", "tanh"]

#: Limits of the simulator: inputs, K.
MAX_INPUTS, MAX_HISTORY = 64, 64
_TEXT = 200
#: Upper limit of every field.
_MOST_OF_FIELDS = 1e15


def _known_field(name: str) -> str:
    try:
        declared([name])
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    return name


class Input(Strict):
    """One input of the network: a telemetry field, clipped to its range, or a formula over such fields, and
    the operations on it."""

    field: Annotated[str, AfterValidator(_known_field)]
    transform: Transform = "none"

    @property
    def fields(self) -> tuple[str, ...]:
        """Telemetry fields that it reads."""
        return declared((self.field,))

    @property
    def name(self) -> str:
        """Name of the field or the formula."""
        return formula(self.field).name if is_formula(self.field) else self.field


class DerivedInput(Strict):
    """One input of the network computed from several telemetry fields, each cut to its range first.

    The keys but ``derived`` are settings of ``ns3_env.decision.rtt_target``, the only one so far.
    """

    derived: Literal["rtt_target"]
    base_ns: float | None = Field(default=None, strict=True)
    margin: float = Field(strict=True)
    target: float = Field(strict=True)
    gain: float = Field(strict=True)

    @model_validator(mode="after")
    def _in_range(self) -> Self:
        _ = self.formula
        return self

    @classmethod
    def of(cls, formula: RttTarget) -> Self:
        """The input with these settings."""
        return cls(derived="rtt_target", **asdict(formula))

    @property
    def formula(self) -> RttTarget:
        """Formula that it computes."""
        return RttTarget(**self.model_dump(exclude={"derived"}))

    @property
    def fields(self) -> tuple[str, ...]:
        """Telemetry fields that it reads."""
        return self.formula.fields


def _kind(entry: Any) -> str:
    """Returns which of both an entry is; no key has such a name, so that errors name only keys."""
    derived = "derived" in entry if isinstance(entry, Mapping) else isinstance(entry, DerivedInput)
    return "<derived>" if derived else "<field>"


AnyInput = Annotated[
    Annotated[Input, Tag("<field>")] | Annotated[DerivedInput, Tag("<derived>")], Discriminator(_kind)
]


class Network(Strict):
    """Tensors of a network, and the activations between them."""

    kind: Literal["mlp", "lstm"]
    memory: Literal["history", "carried"] = "history"
    hidden_activation: Activation
    output_activation: Literal["tanh", "none"]

    @property
    def carries(self) -> bool:
        """Returns whether a flow's hidden state and cell continue from decision to decision."""
        return self.memory == "carried"

    @model_validator(mode="after")
    def _memory_of_its_kind(self) -> Self:
        if self.carries and self.kind != "lstm":
            raise ValueError(f"memory: 'carried' is an lstm's, and the kind is {self.kind!r}")
        return self

    @model_serializer(mode="wrap")
    def _without_default(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = write(self)
        if not self.carries:  # the bytes of other files stay as they are
            del content["memory"]
        return content


class Safety(Strict):
    """Ranges that a policy has met, and the bounds of its windows (docs/policies.md)."""

    most_rtts: Annotated[Rtts, Field(ge=1)] = 4.0
    most_repeated: float = Field(default=1.0, ge=0, le=1)
    ranges: dict[str, tuple[float, float]]

    @field_validator("ranges")
    @classmethod
    def _ascending(cls, ranges: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
        for name, (low, high) in ranges.items():
            if not -_MOST_OF_FIELDS <= low <= high <= _MOST_OF_FIELDS:
                raise ValueError(f"{shown(name)}: expected the least and the largest value that was met")
        return ranges


class Training(Strict):
    """Origin of a policy; any of it may be missing."""

    run: str | None = Field(default=None, max_length=_TEXT)
    agent: str | None = Field(default=None, max_length=_TEXT)
    decisions: Count | None = Field(default=None, ge=0)
    seed: Seed | None = Field(default=None, ge=0)
    versions: dict[str, str] = Field(default_factory=dict, max_length=64)


class PolicySpec(Strict):
    """Header of a policy's file: all but its tensors.

    Attributes:
        observation: inputs of the network, in order.
        history: K, the number of observations read, the current one included.
        network: kind and form of the network.
        action: name and settings of the action map.
        clock: clock of the flows' decisions.
        decision_quantum_ns: time in ns within which due flows decide together.
        telemetry_bytes: bytes of telemetry on the wire in each packet.
        decides_from_bdps: flows of at most this many BDPs of their path send at line rate, and never decide.
        telemetry_from_bdps: flows of at most this many BDPs of their path carry no telemetry, and see none.
        telemetry_every_rtts: least spacing of the other flows' packets with telemetry, in base RTTs.
        safety: bounds of its windows, and ranges of observations outside which Swift steers the flow; None:
            no safety.
        training: origin of the policy.
    """

    observation: Annotated[list[AnyInput], few(MAX_INPUTS, "there are no more fields")] = Field(min_length=1)
    history: int = Field(ge=1, le=MAX_HISTORY, strict=True)
    network: Network
    action: dict[str, Any]
    clock: Clock
    decision_quantum_ns: int = Field(default=0, ge=0, le=MAX_TIME_NS, strict=True)
    telemetry_bytes: int = Field(ge=0, le=MAX_TELEMETRY_BYTES, strict=True)
    decides_from_bdps: Bdps = Field(default=0.0, ge=0)
    telemetry_from_bdps: Bdps = Field(default=0.0, ge=0)
    telemetry_every_rtts: Rtts = Field(default=0.0, ge=0)
    safety: Safety | None = None
    training: Training = Training()

    @model_serializer(mode="wrap")
    def _without_default(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = write(self)
        for key in ("decides_from_bdps", "telemetry_from_bdps", "telemetry_every_rtts"):
            if content[key] == 0:  # the bytes of other files stay as they are
                del content[key]
        return content

    @field_validator("observation")
    @classmethod
    def _different(cls, observation: list[AnyInput]) -> list[AnyInput]:
        names = [entry.name for entry in observation if isinstance(entry, Input)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"field {name!r} is there twice")
        return observation

    @model_validator(mode="after")
    def _ranges_of_what_is_observed(self) -> Self:
        for name in {} if self.safety is None else self.safety.ranges:
            if name not in self.fields:
                names = ", ".join(self.fields)
                raise ValueError(f"safety.ranges: {shown(name)} is none of the fields observed: {names}")
        return self

    @model_validator(mode="after")
    def _observes_what_the_action_reads(self) -> Self:
        if fault := unobserved(self.action_map, self.fields):
            raise ValueError(f"observation: {fault}")
        return self

    @model_validator(mode="after")
    def _one_memory(self) -> Self:
        if self.network.carries and self.history != 1:
            raise ValueError(f"history: is {self.history}: a network whose memory is 'carried' has 1")
        return self

    @field_validator("action")
    @classmethod
    def _one_scaled_number(cls, action: Mapping[str, Any]) -> dict[str, Any]:
        """The map exists, accepts these settings, and an action of it is one number in [-1, 1].

        Settings that are not there get their defaults: users who deploy the policy need not know them.
        """
        settings = dict(action)
        name = settings.pop("name", None)
        if not isinstance(name, str):
            raise ValueError(f"name: expected an action map's name, found {shown(name)}")
        for key, value in settings.items():
            if isinstance(value, bool) or not isinstance(value, (str, int, float)):
                raise ValueError(f"{shown(key)}: expected a number or a name, found {shown(value)}")
            if not isinstance(value, str) and not abs(value) < 1e12:
                raise ValueError(f"{shown(key)}: must be a number below 1e12, is {shown(value)}")
        try:
            action_map = make_action_map(name, **settings)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(str(error.args[0])) from None
        if action_map.space != Box(-1.0, 1.0, shape=(1,), dtype=np.float32):
            raise ValueError(
                f"{name!r} takes actions in {action_map.space}: a policy's file holds those of [-1, 1]"
            )
        return {"name": name, **asdict(action_map)}  # type: ignore[call-overload]

    @property
    def fields(self) -> tuple[str, ...]:
        """Telemetry fields that are observed, each once, in the order in which the inputs need them."""
        return tuple(dict.fromkeys(name for entry in self.observation for name in entry.fields))

    @property
    def observed(self) -> tuple[str, ...]:
        """Fields and formulas that the network's inputs are, in order; inputs derived otherwise are left
        out."""
        return tuple(entry.field for entry in self.observation if isinstance(entry, Input))

    @property
    def agent_attributes(self) -> dict[str, float]:
        """Attributes of an agent that decides and has telemetry of the flows that this policy has."""
        return spared_attributes(
            self.decides_from_bdps, self.telemetry_from_bdps, self.telemetry_every_rtts
        ) | agent_flags(self.fields)

    @property
    def remembers(self) -> bool:
        """Returns whether more than the current observation is read, so that a history has to be kept."""
        return not self.network.carries and (self.network.kind == "lstm" or self.history > 1)

    @property
    def action_map(self) -> ActionMap:
        """The action map with its settings."""
        settings = dict(self.action)
        return make_action_map(settings.pop("name"), **settings)
