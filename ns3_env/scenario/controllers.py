# SPDX-License-Identifier: GPL-2.0-or-later
"""Congestion controllers of flows, by name, and clocks: when a flow under a policy decides."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from ns3_env.config.bounds import Bdps, Nanoseconds, Rtts
from ns3_env.config.model import Strict, named_by
from ns3_env.scenario.parameters import with_preset

#: The controller that asks across the channel.
AGENT = "agent"
#: The controller whose decisions come from a policy's file, inside the simulator.
POLICY = "policy"


class Controller(Strict):
    """A congestion controller by name, and its ns-3 attributes; a name alone stands for {name: NAME}.

    ``parameters: paper`` stands for the attributes that the controller's own paper sets, ``published``, the
    default, for the published simulator's.
    """

    name: str = Field(min_length=1)
    attributes: dict[str, bool | int | float | str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else with_preset(data, "name")


class PerFlowRtt(Strict):
    """Each flow decides again after a fraction of its last RTT (Zhang 2023, section 4.2)."""

    name: Literal["per_flow_rtt"] = "per_flow_rtt"
    rtt_fraction: Rtts = Field(default=0.5, gt=0)
    start_bdps: Bdps = Field(
        default=0.0,
        ge=0,
        description="above 0: and the first time before its first packet, of its size and path alone, with a "
        "window of so many BDPs",
    )

    @model_serializer(mode="wrap")
    def _without_default(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = write(self)
        if self.start_bdps == 0:  # the bytes of other files stay as they are
            del content["start_bdps"]
        return content


class Synchronous(Strict):
    """Every live flow decides at a fixed interval."""

    name: Literal["synchronous"] = "synchronous"
    interval_ns: Nanoseconds = Field(default=10_000, gt=0)


class PerAck(Strict):
    """A flow decides on each of its ACKs, on the spot, as a controller inside the simulator does."""

    name: Literal["per_ack"] = "per_ack"


class PerNotification(Strict):
    """A flow decides at each feedback frame that a switch sends it (``switch.congestion_points``), and not
    before the first one."""

    name: Literal["per_notification"] = "per_notification"


_Clocks = PerFlowRtt | Synchronous | PerAck | PerNotification


Clock = Annotated[_Clocks, Field(discriminator="name"), BeforeValidator(named_by("name", _Clocks))]
