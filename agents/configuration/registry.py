# SPDX-License-Identifier: GPL-2.0-or-later
"""Registry of agents: each is declared in its own package and named here in a line."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ns3_env.config.imports import is_code, named_code
from ns3_env.config.model import Strict

#: An agent's name in a configuration, and the package whose ``AGENT`` declares it; imported when used.
AGENTS: dict[str, str] = {
    "fdcc": "ns3_env.agents.fdcc",
    "rlcc": "ns3_env.agents.rlcc",
    "td3": "ns3_env.agents.sb3",
    "sac": "ns3_env.agents.sb3",
    "ppo": "ns3_env.agents.sb3.ppo",
    "trpo": "ns3_env.agents.sb3.trpo",
}


#: Replacement for a discount per decision.
PER_RTT = (
    "a discount per decision, and decisions last different times: write agent.gamma_per_rtt, per base RTT "
    "(0.64 is 0.8 a decision of half a base RTT)"
)


class AgentConfig(Strict):
    """Base of an agent's section of the configuration; ``name`` is one of ``AGENTS``."""

    name: str


@dataclass(frozen=True)
class Agent:
    """Declaration of an agent: its configuration and its trainer.

    Attributes:
        config: model of its section of the configuration.
        trainer: subclass of ``agents.training.trainer.Trainer`` that trains it and knows configurations.
        synchronous: true if, across the channel, it needs every flow at every step: only the clock
            "synchronous" will do.
        rollouts: true if it also learns from episodes that its policy ran inside the simulators.
        channel: true if it learns from decisions across the channel.
    """

    config: type[AgentConfig]
    trainer: type[Any]
    synchronous: bool = False
    rollouts: bool = False
    channel: bool = True


def find_agent(name: str) -> Agent:
    """The agent of that name, or of ``pkg.module:name``: an ``Agent``, or an algorithm in the form
    of Stable-Baselines3 (``sb3_contrib:TQC``).

    Raises:
        ValueError: an unknown name; the message lists the known ones.
        ConfigError: see :func:`ns3_env.config.imports.named_code`.
    """
    if is_code(name):
        return _agent_from_code(name)
    if name not in AGENTS:
        raise ValueError(f"there is no agent {name!r}; known: {', '.join(map(repr, sorted(AGENTS)))}")
    agent = import_module(AGENTS[name]).AGENT
    assert isinstance(agent, Agent)
    return agent


def _agent_from_code(name: str) -> Agent:
    code = named_code(name)
    if isinstance(code, Agent):
        return code
    from stable_baselines3.common.base_class import BaseAlgorithm

    if isinstance(code, type) and issubclass(code, BaseAlgorithm):
        plain = import_module(AGENTS["sac"]).AGENT
        assert isinstance(plain, Agent)
        return plain
    raise ValueError(
        f"{name} is neither an ns3_env.agents.configuration.registry.Agent nor a class of "
        "Stable-Baselines3's algorithms"
    )
