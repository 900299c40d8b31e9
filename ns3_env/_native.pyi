# SPDX-License-Identifier: GPL-2.0-or-later
# What does the compiled module offer? Types of ns3_env._native (rdma/bridge/python-module.cc).
import numpy as np
from numpy.typing import NDArray

class ChannelError(RuntimeError): ...

MESSAGE_NONE: int
MESSAGE_READY: int
MESSAGE_DECISIONS: int
MESSAGE_EPISODE_END: int
MESSAGE_ERROR: int
COMMAND_STEP: int
COMMAND_RESET: int
COMMAND_CLOSE: int
ROW_FIRST: int
ROW_TERMINATED: int
ROW_TRUNCATED: int
FIELD_COUNT: int
ACTION_WIDTH: int

FieldTuple = tuple[str, str, str, float, float]

def telemetry_fields() -> list[FieldTuple]: ...
def channel_layout_hash() -> int: ...
def wait_any(ends: list[AgentEnd], timeout_s: float) -> int: ...

class AgentEnd:
    def __init__(self, capacity: int) -> None: ...
    channel_fd: int
    blob_fd: int
    capacity: int
    time_ps: int
    row_count: int
    heartbeat: int
    flows: NDArray[np.uint32]
    slots: NDArray[np.int32]
    flags: NDArray[np.uint32]
    records: NDArray[np.float64]
    actions: NDArray[np.float64]
    fields: list[FieldTuple]
    def wait(self, timeout_s: float) -> int: ...
    def send(self, command: int, action_count: int = 0) -> None: ...
    def read_blob(self) -> bytes: ...
    def write_blob(self, text: bytes) -> None: ...

def mpcc_fields() -> list[str]: ...
def mpcc_parameters() -> dict[str, bool | int | float | str]: ...
def mpcc_decide(laws: list[MpccLaw], rows: NDArray[np.float64]) -> NDArray[np.float64]: ...

class MpccLaw:
    def __init__(self, **parameters: bool | int | float | str) -> None: ...
    @property
    def counters(self) -> dict[str, int]: ...
    def reset(self) -> None: ...
