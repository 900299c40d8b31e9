# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes of a Ray cluster on one machine: one core each, started by `ray start`, killed at will."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from ns3_env.cluster.session import find
from ns3_env.errors import ConfigError
from tests.paths import ROOT
from tests.processes import descendants

_START = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1"]
_OPTIONS = ["--object-store-memory=80000000", "--disable-usage-stats"]
#: A node without a sign of life for 1.5 s counts as dead; Ray's default is ten times that.
_WATCHFUL = {"RAY_health_check_period_ms": "500", "RAY_health_check_failure_threshold": "3"}


class Node:
    """A node, and the processes that it consists of."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [*_START, *_OPTIONS, *options],
            cwd=ROOT,
            env={**os.environ, **_WATCHFUL},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill(self) -> None:
        """Kills all its processes at once, like a power cut."""
        pids = [self.process.pid, *descendants(self.process.pid)]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


class Head(Node):
    """The head node of the cluster."""

    def __init__(self, folder: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"127.0.0.1:{port}"
        super().__init__(
            "--head",
            f"--port={port}",
            "--node-ip-address=127.0.0.1",
            "--include-dashboard=false",
            f"--temp-dir={folder}",
        )
        deadline = time.monotonic() + 90
        while not self._answers():
            assert time.monotonic() < deadline, "Ray's head does not start"
            time.sleep(0.2)

    def _answers(self) -> bool:
        try:
            return bool(find(self.address))
        except ConfigError:
            return False

    def another(self) -> Node:
        """Starts one more node; Ray reports when it has joined."""
        return Node(f"--address={self.address}", "--node-ip-address=127.0.0.1")


def options(suite: Path, out: Path, *more: str) -> list[str]:
    return ["benchmark", str(suite), "--out", str(out), *more]
