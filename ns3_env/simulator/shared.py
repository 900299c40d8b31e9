# SPDX-License-Identifier: GPL-2.0-or-later
"""A process that plays the networks of several simulators."""

from __future__ import annotations

import os
import weakref
from pathlib import Path

from ns3_env import _native
from ns3_env.programs.transport import Transport
from ns3_env.simulator.process import SimulatorProcess


class SharedProcess:
    """One process for the networks of several simulators, which starts with the first episode of any.

    It plays them in turns, and ends when each simulator has left it; the death of one is that of all.
    """

    def __init__(self, size: int) -> None:
        """
        Args:
            size: simulators.
        """
        self._size = size
        self._transport: Transport | None = None
        self._process: SimulatorProcess | None = None
        self._bell: _native.Doorbell | None = None
        self._free: dict[int, _native.AgentChannel] = {}  # channels whose simulators have not started
        self._channels: list[weakref.ref[_native.AgentChannel]] = []

    def enter(
        self, place: int, executable: Path, transport: Transport, capacity: int
    ) -> tuple[SimulatorProcess, _native.AgentChannel] | None:
        """The process, and the channel of the simulator at this place; None if the process has no network
        for it: it plays another transport, or the simulator has left it.

        Raises as :meth:`SimulatorProcess.started`; ChannelError if there is no memory for the channels.
        """
        if self.is_over:
            self._start(executable, transport, capacity)
        assert self._process is not None
        if transport != self._transport or place not in self._free:
            return None
        return self._process, self._free.pop(place)

    def _start(self, executable: Path, transport: Transport, capacity: int) -> None:
        self.end()
        bell = _native.Doorbell()
        channels = [_native.AgentChannel(capacity, bell) for _ in range(self._size)]
        self._process = SimulatorProcess.started(executable, channels, transport, bell=bell)
        self._process.networks = self._size
        self._transport, self._bell = transport, bell
        self._free = dict(enumerate(channels))
        self._channels = [weakref.ref(channel) for channel in channels]

    @property
    def is_over(self) -> bool:
        """No process runs."""
        return self._process is None or self._process.has_ended()

    def played_scenario(self) -> bytes:
        """The JSON of the scenario that the process played last."""
        assert self._bell is not None
        channel = self._channels[min(self._bell.played, self._size - 1)]()
        return b"" if channel is None else sent_scenario(channel)

    def end(self) -> None:
        """Ends the process, whoever uses it; may be called again."""
        process, self._process = self._process, None
        self._free.clear()
        if process is not None:
            process.leave()


def sent_scenario(agent: _native.AgentChannel) -> bytes:
    """The JSON of the scenario sent last, which is still in the channel."""
    return os.pread(agent.blob_fd, os.fstat(agent.blob_fd).st_size, 0)
