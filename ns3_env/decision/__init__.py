# SPDX-License-Identifier: GPL-2.0-or-later
"""A decision problem: observations, actions, rewards, and the fields of each transport."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ns3_env.config.lazy import lazy

if TYPE_CHECKING:
    from ns3_env.decision.actions import (
        ACTIONS,
        AbsoluteWindow,
        ActionMap,
        ExponentialWindow,
        FairShareWindow,
        MultiplicativeWindow,
        RecursiveWindow,
        make_action_map,
    )
    from ns3_env.decision.observations import FIELDS, Field, Records
    from ns3_env.decision.rewards import REWARDS, Reward, make_reward
    from ns3_env.decision.task import Task

__all__ = [
    "ACTIONS",
    "FIELDS",
    "REWARDS",
    "AbsoluteWindow",
    "ActionMap",
    "ExponentialWindow",
    "FairShareWindow",
    "Field",
    "MultiplicativeWindow",
    "Records",
    "RecursiveWindow",
    "Reward",
    "Task",
    "make_action_map",
    "make_reward",
]

__getattr__ = lazy(
    __name__,
    {
        "ACTIONS": "ns3_env.decision.actions",
        "AbsoluteWindow": "ns3_env.decision.actions",
        "ActionMap": "ns3_env.decision.actions",
        "ExponentialWindow": "ns3_env.decision.actions",
        "FairShareWindow": "ns3_env.decision.actions",
        "MultiplicativeWindow": "ns3_env.decision.actions",
        "RecursiveWindow": "ns3_env.decision.actions",
        "make_action_map": "ns3_env.decision.actions",
        "FIELDS": "ns3_env.decision.observations",
        "Field": "ns3_env.decision.observations",
        "Records": "ns3_env.decision.observations",
        "REWARDS": "ns3_env.decision.rewards",
        "Reward": "ns3_env.decision.rewards",
        "make_reward": "ns3_env.decision.rewards",
        "Task": "ns3_env.decision.task",
    },
)
