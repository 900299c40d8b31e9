# SPDX-License-Identifier: GPL-2.0-or-later
"""Load balancing: what a switch chooses by among equal paths."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ns3_env.config.bounds import Nanoseconds
from ns3_env.config.model import Strict, named_by


class Ecmp(Strict):
    """Each flow keeps the path that its hash picks."""

    kind: Literal["ecmp"] = "ecmp"


class Flowlet(Strict):
    """A switch sends a flow's packets by one port; after a pause of more than the gap it draws one anew
    (Vanini 2017, LetFlow). The first is ECMP's."""

    kind: Literal["flowlet"] = "flowlet"
    gap_ns: Nanoseconds = Field(default=50_000, ge=0)


class Spray(Strict):
    """A switch chooses for each packet: at random, in turn for each destination, or the shortest queue."""

    kind: Literal["spray"] = "spray"
    by: Literal["random", "round_robin", "least_queue"] = "random"


_Kinds = Ecmp | Flowlet | Spray


def _alone(value: Any) -> Any:
    """A name alone stands for {kind: NAME}."""
    known = {model.model_fields["kind"].default for model in (Ecmp, Flowlet, Spray)}
    return {"kind": value} if isinstance(value, str) and value in known else value


LoadBalancing = Annotated[
    _Kinds, Field(discriminator="kind"), BeforeValidator(named_by("kind", _Kinds)), BeforeValidator(_alone)
]


def balancing_content(balancing: Ecmp | Flowlet | Spray) -> dict[str, Any] | None:
    """What the simulator reads; None where each flow keeps its path."""
    if isinstance(balancing, Ecmp):
        return None
    if isinstance(balancing, Flowlet):
        return {"by": "flowlet", "gap_ns": balancing.gap_ns}
    return {"by": balancing.by}
