# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulations of ours that ns3-ai's Python can run, their settings, and these as ``--key=value``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from ns3_env.config.model import Strict, nearest, validate
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.ns3ai.segments import Names, opened

if TYPE_CHECKING:  # start.py explains why nothing heavy is imported here
    from ns3_env.scenario import Scenario

#: Other names of settings: ns-3's command line knows a seed as its run.
ALIASES: Mapping[str, str] = {"RngRun": "seed"}


class Settings(Strict):
    """Settings that ``ns3 run TARGET -- --key=value`` understands.

    Attributes:
        scenario: file of the scenario; by default the target's own, with ``flows`` senders.
        flows: senders of the default scenario; None: the target's default.
        flow: the controlled flow, for targets with one; all other flows are under ``others``.
        others: controller of the other flows.
        fields: fields of the observation, with commas between.
        reward: name of the reward.
        action: name of the action map.
        seed: seed of the episode, also as ``RngRun``; None: another episode in each run.
        segment, to_python, to_simulator, lockable: names of the segment and of the objects in it.
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

    @model_validator(mode="before")
    @classmethod
    def _ns3_calls_a_seed_a_run(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            alias_values = {setting: data[key] for key, setting in ALIASES.items() if key in data}
            data = {**alias_values, **{key: data[key] for key in data if key not in ALIASES}}
        return data

    @property
    def names(self) -> Names:
        """Names of the segment and its objects."""
        return Names(self.segment, self.to_python, self.to_simulator, self.lockable)

    @cached_property
    def own_scenario(self) -> Scenario | None:
        """The one in the file; None: the target's. Raises ScenarioError."""
        if self.scenario is None:
            return None
        from ns3_env.scenario import Scenario

        return Scenario.load(self.scenario)

    def arguments(self, *also: str) -> dict[str, Any]:
        """Keywords of an environment: the settings that were given, and those named in addition.

        Raises ScenarioError, and ConfigError for an unknown name.
        """
        from ns3_env.decision.actions import make_action_map
        from ns3_env.decision.observations import field_indices
        from ns3_env.decision.rewards import make_reward

        fields = None if self.fields is None else tuple(self.fields.split(","))
        try:
            field_indices(fields or ())
            action = make_action_map(self.action)
            reward = None if self.reward is None else make_reward(self.reward)
        except KeyError as error:
            raise ConfigError(error.args[0]) from None
        options: dict[str, Any] = {
            "scenario": self.own_scenario,
            "fields": fields,
            "reward": reward,
            "flows": self.flows,
            "others": self.others if "others" in also else None,
        }
        keywords = {key: value for key, value in options.items() if value is not None}
        if "flow" in also:
            keywords["flow"] = self.flow
        return {**keywords, "action": action}


@dataclass(frozen=True)
class Target:
    """A simulation.

    Attributes:
        what: description, in a line.
        player: module whose function runs it with the settings.
        transport: transport of its default scenario.
        flows: senders of that scenario.
        vectors: true for the vector interface, an element for each flow.
    """

    what: str
    player: str
    transport: str
    flows: int
    vectors: bool = False


#: Targets by name.
TARGETS: Mapping[str, Target] = {
    "rdma-incast": Target("one RDMA flow in an incast; Gym interface", "player", "rdma", 4),
    "tcp-bottleneck": Target("one TCP flow at a bottleneck; Gym interface", "player", "tcp", 2),
    "rdma-flows": Target("every RDMA flow of an incast; vector interface", "flows_player", "rdma", 4, True),
    "tcp-flows": Target("every TCP flow at a bottleneck; vector interface", "flows_player", "tcp", 2, True),
}


def find_target(name: str) -> Target:
    """The target of that name. Raises ConfigError."""
    if name not in TARGETS:
        raise ConfigError(f"no target {name!r}: there are {', '.join(TARGETS)}{nearest(name, list(TARGETS))}")
    return TARGETS[name]


def read_settings(options: Mapping[str, str], target: str) -> Settings:
    """The settings of a command line. Raises ConfigError."""
    senders = {} if "scenario" in options else {"flows": find_target(target).flows}
    return validate({**senders, **options}, Settings, f"ns3 run {target}")


def check(target: Target, settings: Settings) -> None:
    """Checks everything known before the run: the scenario's file, the length of the vectors.

    Raises ScenarioError, and SegmentError.
    """
    scenario = settings.own_scenario
    if not target.vectors:
        return
    flows = settings.flows if scenario is None else scenario.agent_flow_count
    rows = opened(settings.names, (1, 1)).rows  # for any element
    if flows is not None and rows < flows:
        raise ScenarioError(
            f"the vectors have {rows} elements, and the scenario {flows} flows under 'agent': resize "
            f"both vectors to {flows}"
        )


def plain(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings as text, as a command line has them; True is 1, False 0."""
    return {key: str(int(value) if isinstance(value, bool) else value) for key, value in settings.items()}


def command_line(settings: Mapping[str, Any]) -> list[str]:
    """Returns the arguments after ``ns3 run TARGET``: nothing, or ``--`` and the settings."""
    written = [f"--{key}={value}" for key, value in plain(settings).items()]
    return ["--", *written] if written else []


def merged(defaults: Mapping[str, str], options: Mapping[str, str]) -> dict[str, str]:
    """All settings; the options win over the defaults, under any of their names."""
    names = {ALIASES.get(key, key) for key in options}
    return {**{key: defaults[key] for key in defaults if ALIASES.get(key, key) not in names}, **options}


def read_command_line(arguments: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Target and settings of ``run TARGET [-- --key=value ...]``.

    Options of ns-3's script before ``--`` (``--no-build``) are ignored; target and settings may be one
    text.

    Raises ConfigError.
    """
    words = [word for argument in arguments for word in _parts(argument)]
    if len(words) < 2 or words[0] != "run" or words[1].startswith("-"):
        raise ConfigError("this `ns3` runs simulations alone: ns3 run TARGET [-- --key=value ...]")
    rest = words[2:]
    setting_words = rest[rest.index("--") + 1 :] if "--" in rest else [word for word in rest if "=" in word]
    settings: dict[str, str] = {}
    for word in setting_words:
        key, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not equals:
            raise ConfigError(
                f"{word}: a setting is --key=value; of a 0 ns3-ai's Python hands over the key alone: "
                "give it as text, '0'"
            )
        settings[key] = value
    return words[1], settings


def _parts(argument: str) -> list[str]:
    """``"TARGET --key=value"`` in one argument is two; a value keeps its spaces."""
    first, separator, rest = argument.partition(" --")
    if not separator or "=" in first:
        return [argument]
    return [first, *(f"--{part}" for part in rest.split(" --"))]
