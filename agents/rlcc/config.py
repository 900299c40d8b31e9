# SPDX-License-Identifier: GPL-2.0-or-later
"""RL-CC's parameters, with the published values as defaults."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ns3_env.agents.configuration.registry import AgentConfig
from ns3_env.config.bounds import Real, RealNanoseconds, Setting


class RlccConfig(AgentConfig):
    """RL-CC, with the numbers of its published code (docs/sources/baselines.md, "Tessler et al. 2022")."""

    name: Literal["rlcc"] = "rlcc"

    # Definition of r: gain (max(RTT / base - margin, 0) sqrt(rate) - target)
    base_ns: RealNanoseconds | None = Field(
        default=8192.0, ge=1, le=1e12, description="what RTTs are counted in; null: each path's base RTT"
    )
    margin: float = Field(default=1.5, ge=0, le=1e4, description="RTT up to which there is no excess")
    target: float = Field(default=0.064, ge=0, le=1e4, description="of the excess RTT times sqrt(rate)")
    gain: float = Field(default=12.5, ge=1e-6, le=1e6, description="of r, as the network reads it")

    # The network
    history_length: int = Field(default=2, ge=1, le=64, description="observations that it reads")
    net_arch: list[Setting] = Field(default=[12, 12], description="widths of its hidden layers")

    # The gradient step
    horizon: Setting = Field(
        default=4, ge=1, description="decisions that an action is judged by, and compared with"
    )
    learning_rate: Real = Field(default=0.01, gt=0, description="at first; it falls to 0 over the run")
    action_noise: Real = Field(
        default=0.0, ge=0, description="standard deviation, in units of the scaled action"
    )
