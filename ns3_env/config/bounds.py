# SPDX-License-Identifier: GPL-2.0-or-later
"""Bounds of everything that a user writes, the simulator's if it has one, with their reasons."""

from __future__ import annotations

from collections.abc import Sized
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from ns3_env._native import BOUNDS
from ns3_env.config import units

#: The simulator's bounds (ns3_env/cpp/json/bounds.h) of flows, times (ns), rates (bit/s) and its other input.
MAX_BYTES = int(BOUNDS["flow_bytes"])
MAX_PAYLOAD_BYTES = int(BOUNDS["payload_bytes"])
MAX_BUFFER_BYTES = int(BOUNDS["buffer_bytes"])
MAX_RESERVE_BYTES = int(BOUNDS["reserve_bytes"])
MAX_HEADROOM_FRAMES = int(BOUNDS["headroom_frames"])
MAX_TELEMETRY_BYTES = int(BOUNDS["telemetry_bytes"])
MAX_ALPHA_SHIFT = int(BOUNDS["alpha_shift"])
MAX_WEIGHT = BOUNDS["weight"]
MAX_TIME_NS = int(BOUNDS["time_ns"])
MAX_DELAY_NS = int(BOUNDS["delay_ns"])
MAX_RATE_BPS = BOUNDS["rate_bps"]
MIN_LINK_RATE_BPS = BOUNDS["least_link_rate_bps"]
MIN_RATE_BPS = BOUNDS["least_rate_bps"]
MAX_LINKS = int(BOUNDS["links"])
MAX_LINK_STEPS = int(BOUNDS["link_steps"])
MAX_CONTROLLERS = int(BOUNDS["controllers"])
MAX_RTTS = int(BOUNDS["rtts"])
MAX_BDPS = int(BOUNDS["bdps"])
MAX_PACKETS = int(BOUNDS["packets"])
MAX_SOCKET_BUFFER_BYTES = int(BOUNDS["socket_buffer_bytes"])
MIN_SOCKET_BUFFER_SEGMENTS = int(BOUNDS["least_socket_buffer_segments"])
#: The number of PFC's priorities.
MAX_CLASSES = 8
MAX_THREADS = 1024
#: Bounds of this machine.
MAX_HOSTS = 200_000
MAX_SWITCHES = 20_000
MAX_FLOWS = 10_000_000
#: Bounds of a job's files, all ranks together.
MAX_NODES = 1_000_000
MAX_JOB_BYTES = 256 << 20
MAX_PROCESSES = 1024
MAX_COUNT = 10**12
MAX_SETTING = 10**6
MAX_TRANSITIONS = 10**9
MAX_WALL_S = 1e8

WHY_BYTES = "at 8 Tb/s these take a quarter of an hour, which takes months to simulate"
WHY_BUFFER = "no switch has that much memory"
WHY_TIME = "an hour of simulated time, which takes months to simulate"
WHY_TELEMETRY = "no packet has more room for it"
WHY_DELAY = "a signal goes round the earth 50 times in ten seconds"
WHY_RTTS = "no flow lives that long"
WHY_BDPS = "no flow is that large"
WHY_RATE = "a byte then takes a picosecond, the simulator's smallest time"
WHY_STEPS = "each takes memory in the simulator"
WHY_HOSTS = "each takes memory in the simulator, and a path to every other one"
WHY_FLOWS = "each takes memory, here and in the simulator"
WHY_NODES = "each takes memory, and time before the simulator begins"
WHY_PROCESSES = "each is a process or a thread of this machine"
WHY_COUNT = "no machine gets that far"
WHY_SETTING = "memory and time grow with it"
WHY_WALL = "that is years"
WHY_SEED = "the generators' seeds have 63 bits"
WHY_LEARNER_SEED = "NumPy's generator, which Stable-Baselines3 seeds, takes 32 bits"


def excess(value: float, limit: float, why: str) -> str | None:
    """Describes a value above its bound; otherwise None."""
    return f"must be at most {_text(limit)}: {why}" if value > limit else None


def _text(limit: float) -> str:
    return str(limit) if isinstance(limit, int) else f"{limit:g}"


def _sane(value: Any) -> Any:
    """Caps integers beyond all floats, which pydantic's bounds on floats cannot compare."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**300:
        return 1e300 if value > 0 else -1e300
    return value


def at_most(limit: float, why: str) -> AfterValidator:
    """A number no larger than ``limit``; the error gives the reason."""

    def check(value: Any) -> Any:
        if value is not None and (text := excess(value, limit, why)) is not None:
            raise PydanticCustomError("too_large", "{text}", {"text": text})
        return value

    return AfterValidator(check)


def few(limit: int, why: str) -> BeforeValidator:
    """A list of no more than ``limit`` entries, counted before they are checked."""

    def check(value: Any) -> Any:
        if isinstance(value, Sized) and not isinstance(value, str) and len(value) > limit:
            text = f"{len(value)} entries; there may be at most {_text(limit)}: {why}"
            raise PydanticCustomError("too_many", "{text}", {"text": text})
        return value

    return BeforeValidator(check)


_SIZE = BeforeValidator(units.reader(units.SIZE, is_whole=True))
_REAL_SIZE = BeforeValidator(units.reader(units.SIZE, is_whole=False))
_TIME = BeforeValidator(units.reader(units.TIME, is_whole=True))
_REAL_TIME = BeforeValidator(units.reader(units.TIME, is_whole=False))
_RATE = BeforeValidator(units.reader(units.RATE, is_whole=False))

#: Sizes, times and rates may be written with a unit (ns3_env/config/units.py).
Bytes = Annotated[int, at_most(MAX_BYTES, WHY_BYTES), _SIZE]
RealBytes = Annotated[float, at_most(MAX_BYTES, WHY_BYTES), BeforeValidator(_sane), _REAL_SIZE]
BufferBytes = Annotated[int, at_most(MAX_BUFFER_BYTES, WHY_BUFFER), _SIZE]
RealBufferBytes = Annotated[float, at_most(MAX_BUFFER_BYTES, WHY_BUFFER), BeforeValidator(_sane), _REAL_SIZE]
ReserveBytes = Annotated[int, at_most(MAX_RESERVE_BYTES, WHY_BUFFER), _SIZE]
HeadroomFrames = Annotated[int, at_most(MAX_HEADROOM_FRAMES, WHY_BUFFER)]
Nanoseconds = Annotated[int, at_most(MAX_TIME_NS, WHY_TIME), _TIME]
RealNanoseconds = Annotated[float, at_most(MAX_TIME_NS, WHY_TIME), BeforeValidator(_sane), _REAL_TIME]
DelayNs = Annotated[int, at_most(MAX_DELAY_NS, WHY_DELAY), _TIME]
TelemetryBytes = Annotated[int, at_most(MAX_TELEMETRY_BYTES, WHY_TELEMETRY), _SIZE]
#: Rate of a link: the longest frame's time on the longest path is still counted in picoseconds.
LinkRate = Annotated[
    float, Field(ge=MIN_LINK_RATE_BPS), at_most(MAX_RATE_BPS, WHY_RATE), BeforeValidator(_sane), _RATE
]
#: The same, or 0 for a time in which a link sends nothing.
RateOrZero = Annotated[float, Field(ge=0), at_most(MAX_RATE_BPS, WHY_RATE), BeforeValidator(_sane), _RATE]
BitsPerSecond = Annotated[
    float, Field(ge=MIN_RATE_BPS), at_most(MAX_RATE_BPS, WHY_RATE), BeforeValidator(_sane), _RATE
]
#: Sizes and times relative to a path.
Bdps = Annotated[float, at_most(MAX_BDPS, WHY_BDPS), BeforeValidator(_sane)]
Rtts = Annotated[float, at_most(MAX_RTTS, WHY_RTTS), BeforeValidator(_sane)]
#: Number of a node, or of one of its ports.
PortNumber = Annotated[int, Field(ge=0, lt=2**32)]
HostCount = Annotated[int, at_most(MAX_HOSTS, WHY_HOSTS)]
SwitchCount = Annotated[int, at_most(MAX_SWITCHES, WHY_HOSTS)]
FlowCount = Annotated[int, at_most(MAX_FLOWS, WHY_FLOWS)]
Processes = Annotated[int, at_most(MAX_PROCESSES, WHY_PROCESSES)]
Count = Annotated[int, at_most(MAX_COUNT, WHY_COUNT)]
Setting = Annotated[int, at_most(MAX_SETTING, WHY_SETTING)]
Transitions = Annotated[int, at_most(MAX_TRANSITIONS, WHY_SETTING)]
Real = Annotated[float, at_most(MAX_COUNT, WHY_SETTING), BeforeValidator(_sane)]
WallSeconds = Annotated[float, at_most(MAX_WALL_S, WHY_WALL), BeforeValidator(_sane)]
Seed = Annotated[int, at_most(2**63 - 1, WHY_SEED)]
LearnerSeed = Annotated[int, at_most(2**32 - 1, WHY_LEARNER_SEED)]
