# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys of what a policy spares: short flows' decisions, and telemetry on most packets."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ns3_env.config.bounds import Bdps, Rtts
from ns3_env.config.model import Strict


class Spared(Strict):
    """Settings of a policy's file that leave flows or packets alone (docs/policy-format.md)."""

    decides_from_bdps: Bdps = Field(
        default=0.0, ge=0, description="flows of at most so many BDPs leave at line rate, and never decide"
    )
    telemetry_from_bdps: Bdps = Field(
        default=0.0, ge=0, description="flows of at most so many BDPs carry no telemetry, and see none"
    )
    telemetry_every_rtts: Rtts = Field(
        default=0.0,
        ge=0,
        description="only packets so many base RTTs after the last that did carry any; 0: all",
    )

    @property
    def spared(self) -> dict[str, Any]:
        """The settings alone."""
        return {key: getattr(self, key) for key in Spared.model_fields}
