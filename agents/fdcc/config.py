# SPDX-License-Identifier: GPL-2.0-or-later
"""FDCC's parameters and their defaults, for YAML and for the constructor."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ns3_env.agents.configuration.registry import AgentConfig
from ns3_env.config.bounds import Count, Real, Setting, Transitions


class FdccConfig(AgentConfig):
    """LSTM-TD3. Values that Zhang 2023, ch. 4, does not give are TD3's (Fujimoto et al. 2018) or ours."""

    name: Literal["fdcc"] = "fdcc"

    # The networks (Zhang 2023, sec. 4.3)
    history_length: int = Field(
        default=8, ge=1, le=64, description="K, inputs the LSTM reads at most, the current one included"
    )
    hidden: Setting = Field(default=64, ge=1, description="width of the LSTMs")
    shortcut: Setting = Field(
        default=64, ge=1, description="width of the current input's own layer, parallel to the LSTM"
    )
    net_arch: list[Setting] = Field(default=[64], description="widths of the layers after the encoder")

    # Start
    start: str | None = Field(
        default=None,
        description="name of a released policy, or a policy's file, whose network the actor starts from; "
        "then no flow is random before learning_starts",
    )
    actor_starts: Count = Field(
        default=0, ge=0, description="gradient steps of only the critics, before the actor's first"
    )

    # Experience
    gamma_per_rtt: float = Field(default=0.98, gt=0, le=1, description="discount per base RTT")
    n_step_return: Setting = Field(default=3, ge=1, description="n of the n-step return")
    compress_rewards: bool = Field(
        default=True,
        description="learn from sign(r)·ln(1+|r|): -RTT spans decades from a small incast to a large one, "
        "and drives the actor into saturation before it has seen anything else",
    )
    reward_center: Real = Field(
        default=0.0,
        description="subtracted from each decision's reward that is learned from, best its mean: values are "
        "then small compared with an action's effect, and the cost of many decisions ends (Naik et al. 2024)",
    )
    buffer_size: Transitions = Field(default=200_000, ge=1, description="transitions")

    # The gradient step
    learning_rate: Real = Field(default=1e-3, gt=0)
    batch_size: Setting = Field(default=100, ge=1)
    train_freq: Setting = Field(
        default=64, ge=1, description="decisions of all flows between two rounds of steps"
    )
    gradient_steps: Setting = Field(
        default=4, ge=0, description="steps in a round; some ms each at hidden 64, batch 100, one thread"
    )
    tau: float = Field(default=0.005, gt=0, le=1, description="share of a target that is replaced in a step")
    policy_delay: Setting = Field(
        default=2, ge=1, description="steps of the critics for one of actor and targets"
    )
    target_policy_noise: Real = Field(default=0.2, ge=0, description="standard deviation")
    target_noise_clip: Real = Field(default=0.5, ge=0)
    saturation_penalty: Real = Field(
        default=0.003,
        ge=0,
        description="weight of the actor's squared output before tanh in its loss: the first lesson of an "
        "incast is to shrink, and without it tanh soon has no slope left",
    )

    # Exploration
    learning_starts: Count = Field(default=1000, ge=0, description="decisions taken at random first")
    action_noise: Real = Field(
        default=0.1, ge=0, description="standard deviation, in units of the scaled action"
    )
    random_share: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="share of flows' episodes in which actions stay random, each held for several decisions "
        "(εz-greedy, Dabney et al. 2021): a window of one packet is only left by many steps up in a row",
    )
