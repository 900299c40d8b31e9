# SPDX-License-Identifier: GPL-2.0-or-later
"""Lock on a segment's name, held by one environment while its simulation starts."""

from __future__ import annotations

import errno
import hashlib
import socket
import time

from ns3_env.errors import SimulatorHung

_LOOK_S = 0.005


class NameLock:
    """Held from its making until :meth:`release`, or the process's end: a name in the kernel, no file.

    Args:
        segment: the segment's name.
        timeout_s: the longest wait for it; None: for ever.

    Raises SimulatorHung where another environment has it for longer.
    """

    def __init__(self, segment: str, timeout_s: float | None) -> None:
        name = hashlib.sha256(segment.encode()).hexdigest()  # as long as the kernel takes it
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        began = time.monotonic()
        while True:
            try:
                self._socket.bind(f"\0ns3_env/ns3ai/{name}")
                return
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    self._socket.close()
                    raise
            except BaseException:
                self._socket.close()
                raise
            if timeout_s is not None and time.monotonic() - began > timeout_s:
                self._socket.close()
                raise SimulatorHung(
                    f"another environment has been starting a simulation on the segment {segment!r} for "
                    f"{timeout_s:g} s: give each a name of its own (segment=, segment_key=)"
                )
            time.sleep(_LOOK_S)

    def release(self) -> None:
        """Others may have it; may be called again."""
        self._socket.close()
