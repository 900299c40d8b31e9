# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins and leaves a Ray cluster, without telemetry or dashboard, and leaves nothing behind."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from ns3_env.errors import ConfigError

#: A cluster of this machine's own, for as long as the command runs.
LOCAL = "local"
#: The one that runs on this machine, or that of RAY_ADDRESS.
AUTO = "auto"

_PATIENCE_S = 3.0


def find(address: str, option: str = "--ray") -> str:
    """The cluster's address, HOST:PORT; ``LOCAL`` if a local one is requested.

    Ray itself would wait for minutes for a head that does not answer.

    Args:
        address: ``local``, ``auto`` or HOST:PORT.
        option: option or key that error messages name first.

    Raises:
        ConfigError: no cluster answers there, or it has none of these forms.
        ModuleNotFoundError: Ray is not installed.
    """
    from ray._private.services import get_ray_address_from_environment

    if address == LOCAL:
        return LOCAL
    try:
        if address == AUTO:
            address = str(get_ray_address_from_environment(AUTO, None))
        host, _, port = address.rpartition(":")
        socket.create_connection((host, int(port)), timeout=_PATIENCE_S).close()
    except (OSError, OverflowError, ValueError) as error:
        raise ConfigError(
            f"{option}: no Ray cluster answers at {address!r} ({error}): expected local, a cluster for as "
            "long as the command runs; auto, that of which a node runs here; or HOST:PORT of the head of one "
            "that `ray start --head` began"
        ) from None
    return address


#: Of a cluster of this machine's own; the excess goes to its temporary folder.
_OBJECTS_BYTES = 80 << 20
#: Telemetry off, and no warnings of features unused here, unless the user sets them.
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
#: Variables that configure the token for a cluster.
_TOKEN = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


@dataclass(frozen=True)
class Cluster:
    """Cluster that has been joined.

    Attributes:
        address: address of the cluster's head, or "local".
        nodes: number of machines, or of nodes that represent one.
        cores: number of cores on all nodes.
    """

    address: str
    nodes: int
    cores: int

    def __str__(self) -> str:
        nodes = f"{self.nodes} node{'s' if self.nodes > 1 else ''}"
        return f"Ray ({self.address}): {nodes}, {self.cores} core{'s' if self.cores != 1 else ''}"


@contextmanager
def joined(address: str, cores: int | None = None) -> Iterator[Cluster]:
    """This process is a driver of the cluster within the block; its tasks there end with it.

    Args:
        address: address returned by :func:`ns3_env.cluster.session.find`.
        cores: number of cores of a local cluster; by default those that this process may use.

    Raises:
        ConfigError: Ray refuses this process, e.g. without the cluster's token.
        ModuleNotFoundError: Ray is not installed.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():  # by the caller, who ends it
        yield _joined(address)
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    folder = None
    if address == LOCAL:
        _have_a_token()
        folder = tempfile.mkdtemp(prefix="ray-")
        options |= {
            "num_cpus": cores or len(os.sched_getaffinity(0)),
            "object_store_memory": _OBJECTS_BYTES,
            "include_dashboard": False,
            "_temp_dir": folder,
        }
    try:
        try:
            ray.init(address=address, **options)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            message = " ".join(str(error).split())
            token = "" if address == LOCAL else "; does RAY_AUTH_TOKEN hold the cluster's token?"
            raise ConfigError(f"Ray at {address}: {type(error).__name__}: {message}{token}") from error
        yield _joined(address)
    finally:
        with suppress(Exception):  # whatever state Ctrl-C left it in
            ray.shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _joined(address: str) -> Cluster:
    import ray

    nodes = sum(bool(node["Alive"]) for node in ray.nodes())  # type: ignore[no-untyped-call]
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return Cluster(address, nodes, int(resources.get("CPU", 0)))


def _have_a_token() -> None:
    """A local cluster's token is this process's; without one Ray would write one into the home."""
    if not any(name in os.environ for name in _TOKEN):
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
