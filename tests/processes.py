# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulators' programs, processes, their shared memory and open descriptors."""

import gc
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ns3_env.programs.executable import find_executable
from ns3_env.programs.transport import Transport
from tests.paths import BUILD


def dummy_sim() -> Path:
    """The simulator without a network, or that in NS3_ENV_DUMMY_SIM."""
    variable = os.environ.get("NS3_ENV_DUMMY_SIM")
    path = Path(variable) if variable else BUILD / "rdma-dummy-sim"
    assert path.exists(), f"no {path}: `cmake --build build/dev --target rdma-dummy-sim` builds it"
    return path


def program(
    content: Mapping[str, Any] | str | bytes, folder: Path, *options: str, transport: Transport = "rdma"
) -> subprocess.CompletedProcess[str]:
    """Runs the simulator's program on a scenario's JSON, in the file x.json of the folder."""
    text = json.dumps(content) if isinstance(content, Mapping) else content
    path = folder / "x.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    command = [str(find_executable(transport)), *options, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def shared_memory() -> set[str]:
    """Names in /dev/shm, less those that any process's temporary files have."""
    return {name for name in os.listdir("/dev/shm") if not name.startswith("tmp")}


def open_descriptors() -> int:
    """Number of open file descriptors of this process."""
    return len(os.listdir("/proc/self/fd"))


def descriptors_before() -> int:
    """The same, for comparison with later: objects left by earlier tests are not counted."""
    gc.collect()
    return open_descriptors()


def descendants(pid: int) -> Iterator[int]:
    """Processes below ``pid``."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(") ")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            yield int(status.parent.name)
            yield from descendants(int(status.parent.name))


def wait_until(condition: Callable[[], object], timeout_s: float = 5.0) -> bool:
    """Whether the condition becomes true within that time."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False
