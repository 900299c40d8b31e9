# SPDX-License-Identifier: GPL-2.0-or-later
"""Stand-ins for ns3-ai's Python and for a simulation, made from only the wire format's description.

Nothing here is shared with ``ns3_env.ns3ai``: the segment is created and polled by a separate library
(``ns3_env/cpp/test/ns3ai``), messages are parsed by hand.
"""

import ctypes
import functools
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.paths import BUILD

_SPIN_S = 20.0  # the real one spins for ever
_TYPES = "type.googleapis.com/ns3_ai_gym."


@functools.cache
def built() -> Path:
    """The folder of the stand-ins, which is built if it does not exist."""
    cmake = str(Path(sys.executable).parent / "cmake")
    command = [cmake, "--build", str(BUILD), "--target", "ns3ai-foreign"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return BUILD


def foreign_tree(folder: Path, layout: int = 1) -> Path:
    """A folder whose ``ns3`` runs the foreign simulation.

    ``layout``: of Boost's segments.
    """
    return tree_of(folder, str(built() / f"ns3ai-foreign-simulator-{layout}"))


#: Imitates the script of ns-3.36 to 3.45: the program is its child, an abnormal exit is printed,
#: and the script ends with ``exit(returncode)``, which for death by signal n is -n.
_SCRIPT = """\
#!{python} -IS
import subprocess, sys

assert sys.argv[1] == "run"
given = sys.argv[3:]
try:
    subprocess.run({command!r} + given[given[:1] == ["--"] :], check=True)
except subprocess.CalledProcessError as error:
    error.cmd = " ".join(error.cmd)
    print(error)
    sys.exit(error.returncode)
except KeyboardInterrupt:
    print("interrupted")
sys.exit(0)
"""


def tree_of(folder: Path, *command: str) -> Path:
    """The folder, as an ns-3 source tree in which every target runs the command."""
    script = folder / "ns3"
    script.write_text(_SCRIPT.format(python=sys.executable, command=list(command)))
    script.chmod(0o755)
    return folder


@functools.cache
def _library(layout: int = 1) -> Any:
    library = ctypes.CDLL(str(built() / f"ns3ai-foreign-python-{layout}.so"))
    for name in ("ForeignMake", "ForeignToPython", "ForeignToSimulator"):
        getattr(library, name).restype = ctypes.c_void_p
    for name in ("ForeignFinished", "ForeignRecvBegin", "ForeignSendBegin"):
        getattr(library, name).restype = ctypes.c_bool
    return library


class Interface:
    """The segment in the form of ns3-ai's Python, by its names; ``elements`` of vectors, or none."""

    def __init__(
        self, elements: int = 0, segment: str = "My Seg", segment_bytes: int = 4096, layout: int = 1
    ) -> None:
        self._library = _library(layout)
        self.handle = ctypes.c_void_p(self._library.ForeignMake(segment.encode(), segment_bytes, elements))

    def receive_begin(self) -> int:
        """Spins; the address of the simulator's message."""
        assert self._library.ForeignRecvBegin(self.handle, ctypes.c_double(_SPIN_S)), (
            "the simulator said nothing"
        )
        return int(self._library.ForeignToPython(self.handle))

    def receive_end(self) -> None:
        self._library.ForeignRecvEnd(self.handle)

    def send_begin(self) -> int:
        assert self._library.ForeignSendBegin(self.handle, ctypes.c_double(_SPIN_S)), (
            "the simulator reads nothing"
        )
        return int(self._library.ForeignToSimulator(self.handle))

    def send_end(self) -> None:
        self._library.ForeignSendEnd(self.handle)

    @property
    def finished(self) -> bool:
        return bool(self._library.ForeignFinished(self.handle))

    def receive(self) -> bytes:
        """A message of the Gym interface."""
        address = self.receive_begin()
        (size,) = struct.unpack("<I", ctypes.string_at(address + 1024, 4))
        content = ctypes.string_at(address, size)
        self.receive_end()
        return content

    def send(self, content: bytes) -> None:
        ctypes.memmove(
            self.send_begin(), content + bytes(1024 - len(content)) + struct.pack("<I", len(content)), 1028
        )
        self.send_end()

    def remove(self) -> None:
        self._library.ForeignRemove(self.handle)


def start(command: str) -> subprocess.Popen[str]:
    """Starts the program in a shell, in its own process group; it must run for a moment."""
    process = subprocess.Popen(
        command, shell=True, preexec_fn=os.setpgrp, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(0.1)
    if process.poll() is not None:
        raise RuntimeError(f"the simulator ended: {process.communicate()}")
    return process


class ForeignNs3Env:
    """ns3-ai's Gym environment: one box observed, one box of actions."""

    def __init__(self, target: str, path: Path, settings: dict[str, Any], layout: int = 1) -> None:
        options = "".join(f" --{key}={value}" for key, value in settings.items())
        self.command = f"{path}/ns3 run {target}" + (f" --{options}" if options else "")
        self.interface = Interface(layout=layout)
        self.begin()

    def begin(self) -> None:
        self.process = start(self.command)
        init = dict(fields(self.interface.receive()))
        self.observation_box, self.action_box = box_space(init[1]), box_space(init[2])
        self.interface.send(b"\x08\x01")  # SimInitAck: done

    def state(self) -> tuple[NDArray[Any], float, bool, int, str]:
        message = dict(fields(self.interface.receive()))
        over = bool(message.get(3, 0))
        if over:
            self.interface.send(b"\x10\x01")  # EnvActMsg: stopSimReq
        (reward,) = struct.unpack("<f", message.get(2, bytes(4)))
        info = message.get(5, b"").decode()
        return floats(message[1]), reward, over, message.get(4, 0), info

    def step(self, action: list[float]) -> tuple[NDArray[Any], float, bool, int, str]:
        packed = struct.pack(f"<{len(action)}f", *action)
        box = b"\x08\x03" + text(2, bytes([len(action)])) + text(5, packed)
        container = text(1, (_TYPES + "BoxDataContainer").encode()) + text(2, box)
        self.interface.send(text(1, b"\x08\x02" + text(2, container)))
        return self.state()

    def stop(self) -> None:
        """Asks it to stop, instead of sending an action."""
        self.interface.send(b"\x10\x01")

    def wait(self) -> int:
        """Waits for the program and returns its exit code."""
        return self.process.wait(10)

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.interface.remove()


def text(number: int, content: bytes) -> bytes:
    """A field of bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    written = b""
    while value > 127:
        written, value = written + bytes([value & 127 | 128]), value >> 7
    return written + bytes([value])


def read_varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def fields(content: bytes) -> Iterator[tuple[int, Any]]:
    """Number and content of each field; numbers as such, all else as bytes."""
    at = 0
    while at < len(content):
        key, at = read_varint(content, at)
        kind = key & 7
        if kind == 0:
            value, at = read_varint(content, at)
            yield key >> 3, value
            continue
        size = {1: 8, 5: 4}.get(kind, 0)
        if kind == 2:
            size, at = read_varint(content, at)
        yield key >> 3, content[at : at + size]
        at += size


def _any(content: bytes, kind: int, name: str) -> dict[int, Any]:
    """Content of the Any of a SpaceDescription or a DataContainer of that kind."""
    outer = dict(fields(content))
    assert outer[1] == kind
    inner = dict(fields(outer[2]))
    assert inner[1].decode() == _TYPES + name
    return dict(fields(inner[2]))


def box_space(content: bytes) -> tuple[float, float, int, tuple[int, ...]]:
    """low, high, dtype, shape."""
    box = _any(content, 2, "BoxSpace")
    low, high = (struct.unpack("<f", box.get(i, bytes(4)))[0] for i in (1, 2))
    return low, high, box[3], tuple(box.get(4, b""))


def floats(content: bytes) -> NDArray[Any]:
    """The numbers of a box of floats."""
    box = _any(content, 2, "BoxDataContainer")
    assert box[1] == 3
    return np.frombuffer(box[5], dtype="<f4")
