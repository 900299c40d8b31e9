# SPDX-License-Identifier: GPL-2.0-or-later
"""Typed configuration of a training run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    field_validator,
    model_validator,
)

from ns3_env.agents.configuration.registry import AgentConfig, find_agent
from ns3_env.config.bounds import (
    WHY_SETTING,
    Bdps,
    Count,
    LearnerSeed,
    Nanoseconds,
    Processes,
    Rtts,
    Seed,
    Setting,
    TelemetryBytes,
    few,
)
from ns3_env.config.imports import is_code, named_code
from ns3_env.config.model import Strict
from ns3_env.config.units import plain
from ns3_env.decision.rewards import DEFAULT_REWARD
from ns3_env.policies.policy import Placement
from ns3_env.scenario import Clock, PerFlowRtt


class Spared(Strict):
    """Settings of a policy's file that exempt flows or packets from control (docs/policy-format.md)."""

    decides_from_bdps: Bdps = Field(
        default=0.0, ge=0, description="flows up to this number of BDPs leave at line rate, and never decide"
    )
    telemetry_from_bdps: Bdps = Field(
        default=0.0, ge=0, description="flows up to this number of BDPs carry no telemetry, and see none"
    )
    telemetry_every_rtts: Rtts = Field(
        default=0.0,
        ge=0,
        description="minimum base RTTs between two packets of a flow that carry any; 0: all carry it",
    )

    @property
    def spared(self) -> dict[str, Any]:
        """Only the settings."""
        return {key: getattr(self, key) for key in Spared.model_fields}


def _agent(value: Any) -> Any:
    """The section as the model of the agent that it names."""
    if not isinstance(value, Mapping):
        return value
    return find_agent(str(value.get("name"))).config.model_validate(dict(value))


def _fields(value: Any) -> Any:
    """The fields that ``pkg.module:name`` refers to."""
    if not isinstance(value, str):
        return value
    fields = named_code(value) if is_code(value) else None
    if not isinstance(fields, Sequence) or isinstance(fields, str):
        raise ValueError(f"expected fields, or pkg.module:name of a sequence of fields, found {value!r}")
    return list(fields)


class Named(BaseModel):
    """An object chosen by name, or by ``pkg.module:name`` (ns3_env.config.imports).

    The other keys are its settings, checked by the named object.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    name: str

    @model_validator(mode="before")
    @classmethod
    def _units_are_read(cls, data: Any) -> Any:
        return plain(data)

    @property
    def settings(self) -> dict[str, Any]:
        """All keys but ``name``."""
        return dict(self.model_extra or {})


#: Keys and values that are checked later, units read already.
Keys = Annotated[dict[str, Any], BeforeValidator(plain)]

#: Machines that run simulators.
RayAddress = Annotated[
    str | None,
    Field(
        description="simulators, env.simulators of them, run on this Ray cluster: HOST:PORT, auto (that of "
        "this machine) or local; none: processes of this machine. Changes no result",
    ),
]


class EnvConfig(Spared):
    """The environment (ns3_env.envs.sb3_vec_env)."""

    simulators: Processes | None = Field(
        default=None,
        ge=1,
        description="simulator processes; none: 1, or of placement simulator, where their number changes no "
        "result, one for each core",
    )
    placement: Placement = Field(
        default="python",
        description="where an agent that learns decides: in Python, which simulators ask, or in them, whose "
        "episodes it then learns from as a whole",
    )
    prefetch: Processes = Field(
        default=4,
        ge=1,
        description="of placement simulator: episodes run ahead, under the policy as it was then; "
        "more simulators are of no use",
    )
    plays: Processes = Field(
        default=1,
        ge=1,
        description="of placement simulator: episodes in a row with the same flows, each explored "
        "differently, that ppo and trpo compare",
    )
    ray: RayAddress = None
    fields: Annotated[list[str], BeforeValidator(_fields)] = Field(
        min_length=1,
        description="fields of the observation, or pkg.module:name of a sequence of them",
    )
    action: Named = Named(name="multiplicative_window")
    reward: Named = Named(name=DEFAULT_REWARD)
    clock: Clock = PerFlowRtt()
    decision_quantum_ns: Nanoseconds = Field(
        default=0, ge=0, description="flows due within it decide together"
    )
    telemetry_bytes: TelemetryBytes | None = Field(
        default=None,
        ge=0,
        description="of a packet on the wire, unless the scenario specifies it; none: the fields' cost",
    )

    @property
    def processes(self) -> int:
        """Simulators of this machine, as configured or by default."""
        default = len(os.sched_getaffinity(0)) if self.placement == "simulator" else 1
        return self.simulators or default

    @field_validator("fields")
    @classmethod
    def _different(cls, fields: list[str]) -> list[str]:
        if len(set(fields)) < len(fields):
            raise ValueError("a field is named twice")
        return fields


class TrainConfig(Strict):
    """Length of a training, and its checkpoints."""

    decisions: Count = Field(default=50_000, ge=1, description="decisions of all flows together")
    checkpoint_every: Count = Field(default=20_000, ge=1, description="decisions between checkpoints")
    keep_checkpoints: Setting = Field(default=2, ge=1)
    callbacks: Annotated[list[Named], few(100, WHY_SETTING)] = Field(
        default=[],
        description="Stable-Baselines3's BaseCallback classes, pkg.module:name with their arguments, called "
        "while the agent learns: a logger, a monitor",
    )


class EvaluationConfig(Strict):
    """Comparison after training; the scenario is never trained on (its seeds are its own)."""

    scenario: Keys = Field(
        default={
            "time_limit_ns": 20_000_000,
            "topology": {"kind": "dumbbell", "senders": 4, "rate_bps": 100e9},
            "traffic": {"kind": "incast", "size_bytes": 2_000_000, "spread_ns": 100_000},
        },
        description="a scenario, as in a curriculum",
    )
    returns: Keys | None = Field(
        default=None, description="scenario on which returns are compared; none: the same"
    )
    controllers: list[str] = Field(default=["mpcc", "hpcc"], description="controllers inside the simulator")
    episodes: Setting = Field(default=1, ge=1)
    seed: Seed = Field(default=1_000_003, ge=0)


class RunConfig(Strict):
    """A run of ``kind: train``: an agent learns."""

    kind: Literal["train"] = "train"
    name: str = Field(default="run", pattern=r"^[A-Za-z0-9_.-]+$")
    seed: LearnerSeed = Field(default=1, ge=0)
    agent: Annotated[SerializeAsAny[AgentConfig], BeforeValidator(_agent)]
    env: EnvConfig
    train: TrainConfig = TrainConfig()
    evaluation: EvaluationConfig | None = None
    versions: dict[str, str] = Field(
        default_factory=dict, description="written into a run's folder; not read"
    )

    @model_validator(mode="after")
    def _agent_learns_from_rollouts(self) -> RunConfig:
        agent = find_agent(self.agent.name)
        if self.env.placement == "python" and not agent.channel:
            raise ValueError(
                f"env.placement: {self.agent.name} learns from rollouts of the simulator alone: 'simulator'"
            )
        if self.env.placement == "simulator" and is_code(self.env.action.name):
            raise ValueError(
                f"env.placement: the simulator does not know the action map {self.env.action.name}: 'python'"
            )
        if self.env.placement == "python" and self.env.ray is not None:
            raise ValueError(
                "env.ray: each decision in Python would cross the network: needs env.placement=simulator"
            )
        if self.env.placement == "simulator" and not agent.rollouts:
            raise ValueError(
                f"env.placement: {self.agent.name} does not learn from rollouts of the simulator: 'python'"
            )
        return self

    @model_validator(mode="after")
    def _clock_fits_the_agent(self) -> RunConfig:
        stepped = self.env.placement == "python" and find_agent(self.agent.name).synchronous
        if stepped and self.env.clock.name != "synchronous":
            raise ValueError(
                f"env.clock.name: {self.agent.name} needs 'synchronous': it expects all flows at every step"
            )
        return self
