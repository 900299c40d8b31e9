# SPDX-License-Identifier: GPL-2.0-or-later
"""How large may what a user writes be, and why? One place for all upper bounds."""

from __future__ import annotations

from collections.abc import Sized
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

#: B: a double, which telemetry and results are made of, holds every whole number up to here.
MAX_BYTES = 2**53
#: ns: a bit more than an hour.
MAX_TIME_NS = 4_000_000_000_000
#: bit/s.
MAX_RATE_BPS = 8e12
MAX_HOSTS = 50_000
MAX_SWITCHES = 10_000
MAX_LINKS = 1_000_000
MAX_FLOWS = 1_000_000
MAX_PROCESSES = 1024
MAX_COUNT = 10**12
MAX_SETTING = 10**6
MAX_WALL_S = 1e8

WHY_BYTES = "a double holds no larger whole number exactly"
WHY_TIME = "an hour of simulated time, which takes months to simulate"
WHY_RATE = "a byte then takes a picosecond, the simulator's smallest time"
WHY_HOSTS = "each takes memory in the simulator, and a path to every other one"
WHY_FLOWS = "each takes memory, here and in the simulator"
WHY_PROCESSES = "each is a process or a thread of this machine"
WHY_COUNT = "no machine gets that far"
WHY_SETTING = "memory and time grow with it"
WHY_WALL = "that is years"
WHY_SEED = "the generators' seeds have 63 bits"


def excess(value: float, limit: float, why: str) -> str | None:
    """What is said of a value above its bound; None for others."""
    return f"must be at most {_text(limit)}: {why}" if value > limit else None


def _text(limit: float) -> str:
    return str(limit) if isinstance(limit, int) else f"{limit:g}"


def _sane(value: Any) -> Any:
    """A whole number beyond all floats is none to pydantic's floats."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**300:
        return 1e300 if value > 0 else -1e300
    return value


def at_most(limit: float, why: str) -> AfterValidator:
    """A number no larger than ``limit``; the error says why."""

    def check(value: Any) -> Any:
        if value is not None and (text := excess(value, limit, why)) is not None:
            raise PydanticCustomError("too_large", "{text}", {"text": text})
        return value

    return AfterValidator(check)


def few(limit: int, why: str) -> BeforeValidator:
    """A list of no more than ``limit`` entries, counted before they are looked at."""

    def check(value: Any) -> Any:
        if isinstance(value, Sized) and not isinstance(value, str) and len(value) > limit:
            text = f"{len(value)} entries; there may be at most {_text(limit)}: {why}"
            raise PydanticCustomError("too_many", "{text}", {"text": text})
        return value

    return BeforeValidator(check)


Bytes = Annotated[int, at_most(MAX_BYTES, WHY_BYTES)]
RealBytes = Annotated[float, at_most(MAX_BYTES, WHY_BYTES), BeforeValidator(_sane)]
Nanoseconds = Annotated[int, at_most(MAX_TIME_NS, WHY_TIME)]
BitsPerSecond = Annotated[float, at_most(MAX_RATE_BPS, WHY_RATE), BeforeValidator(_sane)]
HostCount = Annotated[int, at_most(MAX_HOSTS, WHY_HOSTS)]
SwitchCount = Annotated[int, at_most(MAX_SWITCHES, WHY_HOSTS)]
FlowCount = Annotated[int, at_most(MAX_FLOWS, WHY_FLOWS)]
Processes = Annotated[int, at_most(MAX_PROCESSES, WHY_PROCESSES)]
Count = Annotated[int, at_most(MAX_COUNT, WHY_COUNT)]
Setting = Annotated[int, at_most(MAX_SETTING, WHY_SETTING)]
Transitions = Annotated[int, at_most(10**9, WHY_SETTING)]
Real = Annotated[float, at_most(MAX_COUNT, WHY_SETTING), BeforeValidator(_sane)]
WallSeconds = Annotated[float, at_most(MAX_WALL_S, WHY_WALL), BeforeValidator(_sane)]
Seed = Annotated[int, at_most(2**63 - 1, WHY_SEED)]
