# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of flows: each with a controller, attributes or a traffic class of its own."""

from __future__ import annotations

from pydantic import Field

from ns3_env.config.model import Strict


class Group(Strict):
    """What flows of a group have in common; traffic names it (``group``), the results' flows do as well."""

    controller: str | None = Field(
        default=None, min_length=1, description="of its flows; none: the scenario's first, whoever plays"
    )
    attributes: dict[str, bool | int | float | str] = Field(
        default_factory=dict, description="of that controller; they come before the scenario's"
    )
    traffic_class: str | None = Field(
        default=None, min_length=1, description="one of the scenario's classes; none: the last"
    )
