# SPDX-License-Identifier: GPL-2.0-or-later
"""An ns-3 script in an environment: a program, its arguments, and the settings sent to it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ns3_env.errors import ScenarioError
from ns3_env.programs.transport import Transport

#: Settings of a script that belong to the decision problem.
SETTINGS = ("clock", "decision_quantum_ns", "record", "time_limit_ns")


@dataclass(frozen=True)
class Script:
    """A program built from an ns-3 script with RDMA (docs/ns3.md). Each episode is a run of it.

    Replaces a :class:`ns3_env.scenario.Scenario` in environments. The seed arrives as ns-3's
    RngRun, RngSeed is 1.

    Attributes:
        program: path of the executable.
        args: arguments of the program.
        settings: ``clock``, ``decision_quantum_ns``, ``record`` and ``time_limit_ns``, as the simulator
            reads them.
        seed: seed of the episode.
        attributes: attributes of the controller "agent", as text.
        flow: index of the flow that is controlled among the script's flows under "agent", the remaining ones
            being under ``others``; None: all of them.
        others: controller of the other flows, NAME or NAME[ATTRIBUTE=VALUE|...].
        slots: flows under "agent" that may be under way at once, for environments that need the number.

    Raises ScenarioError if the program does not exist, or there is no such setting.
    """

    program: str | os.PathLike[str]
    args: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 1
    attributes: Mapping[str, str] = field(default_factory=dict)
    flow: int | None = None
    others: str = "hpcc"
    slots: int = 8

    def __post_init__(self) -> None:
        path = Path(self.program)
        if not os.access(path, os.X_OK) or path.is_dir():
            raise ScenarioError(f"program: {path} is no program: build the script first (docs/ns3.md)")
        if isinstance(self.args, str):
            raise ScenarioError(f"args: is {self.args!r}: write a list of arguments, [{self.args!r}]")
        if unknown := sorted(set(self.settings) - set(SETTINGS)):
            raise ScenarioError(
                f"settings: there is no {unknown[0]!r}; known: {', '.join(SETTINGS)}; "
                "the rest is the script's"
            )

    @property
    def transport(self) -> Transport:
        """A script's flows are RDMA's."""
        return "rdma"

    @property
    def source(self) -> str:
        """Name in messages."""
        return os.fspath(self.program)

    @property
    def agent_count(self) -> int:
        """Slots, as the flows are unknown before it runs."""
        return self.slots

    agent_flow_count = agent_count
    #: Agents are at flows.
    decides_at_ports = False

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any], source: str, settings: Mapping[str, Any]) -> Script:
        """The script of a configuration's keys ``program``, ``args`` and ``slots``.

        Raises ScenarioError, naming ``source``.
        """
        try:
            if unknown := sorted(set(data) - {"program", "args", "slots"}):
                raise ScenarioError(f"{unknown[0]}: is no key of a script's: program, args, slots")
            return cls(data["program"], data.get("args", ()), settings, slots=data.get("slots", cls.slots))
        except ScenarioError as error:
            raise ScenarioError(f"{source}: {error}") from None

    def with_seed(self, seed: int) -> Script:
        """The script under another seed."""
        return replace(self, seed=seed)

    def with_agent(self, values: Mapping[str, bool | int | str]) -> Script:
        """The script whose flows under "agent" have these attributes, unless they are already set."""
        texts = {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in values.items()}
        return replace(self, attributes={**texts, **self.attributes})

    def has_endless_agents(self) -> bool:
        """Unknown before it runs."""
        return False

    def refusal(self, text: str) -> str:
        """Describes the script's complaint, with its name."""
        return f"{self.source}: {text}"

    def command(self) -> list[str]:
        """The program and its arguments."""
        return [os.fspath(Path(self.program).absolute()), *map(str, self.args)]

    def environment(self) -> dict[str, str]:
        """The process's environment: seeds in ns-3's environment variable."""
        outside = os.environ.get("NS_GLOBAL_VALUE")
        seeds = f"RngSeed=1;RngRun={self.seed}"
        return {**os.environ, "NS_GLOBAL_VALUE": f"{outside};{seeds}" if outside else seeds}

    def to_simulator_text(self) -> str:
        """Returns the script's settings as JSON, which it reads from its channel."""
        content: dict[str, Any] = {"settings": dict(self.settings), "attributes": dict(self.attributes)}
        if self.flow is not None:
            content |= {"flow": self.flow, "others": self.others}
        return json.dumps(content)
