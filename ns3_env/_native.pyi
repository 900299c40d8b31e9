# SPDX-License-Identifier: GPL-2.0-or-later
# Types of the compiled module ns3_env._native (ns3_env/cpp/python).
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ns3_env.scenario.traffic.jobs.algorithms import Send

class ChannelError(RuntimeError): ...

MESSAGE_NONE: int
MESSAGE_READY: int
MESSAGE_DECISIONS: int
MESSAGE_EPISODE_END: int
MESSAGE_COPIED: int
MESSAGE_ERROR: int
MESSAGE_FAILED: int
MESSAGE_TRANSITIONS: int
COMMAND_STEP: int
COMMAND_RESET: int
COMMAND_CLOSE: int
ROW_FIRST: int
ROW_TERMINATED: int
ROW_TRUNCATED: int
FIELD_COUNT: int
ACTION_WIDTH: int
BOUNDS: dict[str, int | float]

FieldTuple = tuple[str, str, str, float, float]

def observation_fields() -> list[FieldTuple]: ...
def channel_layout_hash() -> int: ...

#: flows, slots, first, terminated, truncated, due, records, simulators
JointColumns = tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.bool_],
    NDArray[np.bool_],
    NDArray[np.bool_],
    NDArray[np.bool_],
    NDArray[np.float64],
    NDArray[np.int64],
]

def join(
    messages: list[
        tuple[
            int,
            int,
            NDArray[np.int64],
            NDArray[np.int64],
            NDArray[np.bool_],
            NDArray[np.bool_],
            NDArray[np.bool_],
            NDArray[np.bool_],
            NDArray[np.float64],
        ]
    ],
) -> JointColumns: ...
def wait_any(ends: list[AgentChannel], timeout_s: float) -> int: ...

class Doorbell:
    def __init__(self) -> None: ...
    fd: int
    played: int

class AgentChannel:
    def __init__(self, capacity: int, bell: Doorbell | None = None) -> None: ...
    channel_fd: int
    blob_fd: int
    capacity: int
    time_ps: int
    row_count: int
    heartbeat: int
    kind: int
    our_turn: bool
    due: int
    turns: int
    copy_pid: int
    flows: NDArray[np.uint32]
    slots: NDArray[np.int32]
    flags: NDArray[np.uint32]
    records: NDArray[np.float64]
    actions: NDArray[np.float64]
    fields: list[FieldTuple]
    def wait(self, timeout_s: float) -> int: ...
    def send(self, command: int, action_count: int = 0) -> None: ...
    def branch(self, other: AgentChannel, output_fd: int, until_ps: int = -1, asks: bool = True) -> None: ...
    def step(self, actions: NDArray[np.float64]) -> None: ...
    def rows(
        self,
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        NDArray[np.bool_],
        NDArray[np.float64],
        NDArray[np.bool_],
        bool,
        int,
        int,
    ]: ...
    def read_blob(self) -> bytes: ...
    def write_blob(self, text: bytes) -> None: ...

def json_of(numbers: list[int]) -> str: ...

class JobFlows:
    def __init__(self, chunk_bytes: int | None) -> None: ...
    def __len__(self) -> int: ...
    def add_step(self, delay_ns: int, after: Sequence[int], part: str, iteration: int, rank: int) -> int: ...
    def reduce(self, tasks: Sequence[int]) -> list[int]: ...
    def add(
        self,
        sends: list[Send],
        hosts: Sequence[int],
        ranks: Sequence[int],
        ready: Sequence[Sequence[int]],
        once: bool,
        part: str,
        iteration: int,
    ) -> list[list[int]]: ...
    def forget_pairs(self) -> None: ...
    def columns(self) -> tuple[dict[str, list[int]], dict[str, list[int]], list[str]]: ...

def mpcc_fields() -> list[str]: ...
def mpcc_parameters() -> dict[str, bool | int | float | str]: ...
def mpcc_decide(controls: list[MpccControl], rows: NDArray[np.float64]) -> NDArray[np.float64]: ...

class ChannelGroup:
    def __init__(self, ends: tuple[AgentChannel, ...]) -> None: ...
    waiting: bool
    def wait(self, timeout_s: float) -> bool: ...
    def take(self, slots: int, partly: bool) -> tuple[JointColumns, list[int], list[float]] | None: ...
    def step(self, actions: NDArray[np.float64], counts: list[int]) -> None: ...

class MpccControl:
    def __init__(self, **parameters: bool | int | float | str) -> None: ...
    @property
    def counters(self) -> dict[str, int]: ...
    def reset(self) -> None: ...

class PolicyError(ValueError): ...

class Policy:
    def __init__(self, path: str) -> None: ...
    def evaluate(
        self, observations: NDArray[np.float32], lengths: NDArray[np.int64]
    ) -> NDArray[np.float32]: ...
    def step(
        self, observations: NDArray[np.float32], states: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...
    def measure_us(self, flows: int, seconds: float) -> float: ...
    @property
    def history_length(self) -> int: ...
    @property
    def state_width(self) -> int: ...
    @property
    def telemetry_bytes(self) -> int: ...

class ActionMap:
    def __init__(self, json: str) -> None: ...
    def __call__(
        self, actions: NDArray[np.float64], records: NDArray[np.float64], *, infinite: bool = False
    ) -> NDArray[np.float64]: ...
    def nearest(self, applied: NDArray[np.float64], records: NDArray[np.float64]) -> NDArray[np.float64]: ...

#: Attribute of "agent" that requests a field, by the field's name; other fields are always reported.
REQUESTS: dict[str, str]
PORT_FIELDS: tuple[str, ...]
#: Of each kind of action its settings and the fields that it reads; a setting is (default, least, most), or
#: (default, words).
ACTIONS: dict[str, tuple[dict[str, tuple[Any, ...]], tuple[str, ...]]]

class Formula:
    LIMIT: float
    STEP_LIMIT: float
    LOG_FLOOR: float
    def __init__(self, text: str) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def fields(self) -> tuple[str, ...]: ...
    @property
    def steps(self) -> list[float | str]: ...

class Reading:
    def __init__(self, fields: list[str], settles: bool = False, cost: str | None = None) -> None: ...
    def observe(self, records: NDArray[np.float64]) -> NDArray[np.float32]: ...
    def outcomes(
        self,
        records: NDArray[np.float64],
        first: NDArray[np.bool_],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> tuple[
        NDArray[np.float64] | None,
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        NDArray[np.float64],
    ]: ...
    def row(
        self,
        records: NDArray[np.float64],
        first: NDArray[np.bool_],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        row: int,
    ) -> tuple[NDArray[np.float32], float | None, bool, dict[str, float], dict[str, Any]]: ...

def named(records: NDArray[np.float64]) -> list[dict[str, float]]: ...

class RttTarget:
    def __init__(self, json: str) -> None: ...
    def __call__(self, rtts: NDArray[np.float64], rates: NDArray[np.float64]) -> NDArray[np.float64]: ...

def wire_bytes(fields: list[int]) -> int: ...
def known_without_switches(field: int) -> bool: ...

HISTORY_BLOCK: int

def recurrent_forward(
    arrays: list[NDArray[np.float32]],
    steps: int,
    x: NDArray[np.float32],
    ends: NDArray[np.float32],
    current: NDArray[np.float32],
) -> NDArray[np.float32]: ...
def recurrent_backward(
    arrays: list[NDArray[np.float32]],
    steps: int,
    inputs: int,
    ends: NDArray[np.float32],
    states: NDArray[np.float32],
    slope: NDArray[np.float32],
    gradients: list[NDArray[np.float32]],
) -> NDArray[np.float32]: ...

class Steps:
    def __init__(
        self, begin: NDArray[np.int64], times: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> None: ...
    def served(
        self, active: NDArray[np.int64], edges: NDArray[np.float64], capacity: float, beside: float
    ) -> NDArray[np.float64]: ...
