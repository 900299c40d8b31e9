# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of our simulations can ns3-ai's Python run, and by which settings?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field, model_validator

from ns3_env.actions import make_action_map
from ns3_env.errors import ConfigError
from ns3_env.ns3ai.segments import Names
from ns3_env.scenario import Scenario
from ns3_env.strict import Strict, nearest, validate


class Settings(Strict):
    """What ``ns3 run TARGET -- --key=value`` understands.

    Attributes:
        scenario: a file; by default the target's own, of ``flows``.
        flows: senders of the default scenario.
        flow: the controlled one, where one is; the others are under ``others``.
        others: their controller.
        fields: telemetry fields of the observation, with commas between.
        reward: its name.
        action: name of the action map.
        seed: of the episode, also as ``RngRun``; without one each run is another episode.
        segment, to_python, to_simulator, lockable: names of the segment and of what lies in it.
        hang_timeout_s: see :class:`ns3_env.simulator.Simulator`.
    """

    scenario: str | None = None
    flows: int | None = Field(default=None, ge=1)
    flow: int = Field(default=0, ge=0)
    others: str | None = None
    fields: str | None = None
    reward: str | None = None
    action: str = "multiplicative_window"
    seed: int | None = Field(default=None, ge=0)
    segment: str = Names().segment
    to_python: str = Names().to_python
    to_simulator: str = Names().to_simulator
    lockable: str = Names().lockable
    hang_timeout_s: float = Field(default=0.9, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _ns3_calls_a_seed_a_run(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "RngRun" in data:
            data = {"seed": data["RngRun"], **{key: data[key] for key in data if key != "RngRun"}}
        return data

    @property
    def names(self) -> Names:
        """Of the segment and its objects."""
        return Names(self.segment, self.to_python, self.to_simulator, self.lockable)

    def arguments(self, *also: str) -> dict[str, Any]:
        """Keywords of an environment: those that were given, and the settings named besides."""
        own: dict[str, Any] = {
            "scenario": None if self.scenario is None else Scenario.load(self.scenario),
            "fields": None if self.fields is None else tuple(self.fields.split(",")),
            "reward": self.reward,
            "flows": self.flows,
            "others": self.others if "others" in also else None,
        }
        given = {key: value for key, value in own.items() if value is not None}
        if "flow" in also:
            given["flow"] = self.flow
        return {**given, "action": make_action_map(self.action), "hang_timeout_s": self.hang_timeout_s}


@dataclass(frozen=True)
class Target:
    """A simulation.

    Attributes:
        what: it is, in a line.
        player: module and function that play it, on the settings.
        transport: of its default scenario.
    """

    what: str
    player: str
    transport: str


#: By name.
TARGETS: Mapping[str, Target] = {
    "rdma-incast": Target("one RDMA flow in an incast; Gym interface", "player", "rdma"),
    "tcp-bottleneck": Target("one TCP flow at a bottleneck; Gym interface", "player", "tcp"),
    "rdma-flows": Target("every RDMA flow of an incast; vector interface", "flows_player", "rdma"),
    "tcp-flows": Target("every TCP flow at a bottleneck; vector interface", "flows_player", "tcp"),
}


def find_target(name: str) -> Target:
    """The target of that name. Raises ConfigError."""
    if name not in TARGETS:
        raise ConfigError(f"no target {name!r}: there are {', '.join(TARGETS)}{nearest(name, list(TARGETS))}")
    return TARGETS[name]


def read_settings(given: Mapping[str, str], target: str) -> Settings:
    """The settings of a command line. Raises ConfigError."""
    return validate(given, Settings, f"ns3 run {target}")
