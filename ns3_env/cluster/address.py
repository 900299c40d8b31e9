# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the address of a Ray cluster, and checks quickly that it answers."""

from __future__ import annotations

import os
import socket

from ns3_env.errors import ConfigError

#: A cluster of this machine's own, for as long as the command runs.
LOCAL = "local"
#: The one that runs on this machine, or that of RAY_ADDRESS.
AUTO = "auto"

_PATIENCE_S = 3.0
#: What a client of HTTP/2 says first (RFC 9113, sec. 3.4), with empty settings; Ray's head speaks it.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_FRAME_BYTES, _SETTINGS = 9, 4


def find(address: str, said: str = "--ray") -> str:
    """The cluster's address, HOST:PORT; ``LOCAL`` where that is what is wanted.

    Args:
        address: ``local``, ``auto`` or HOST:PORT.
        said: what errors begin with.

    Raises:
        ConfigError: nobody answers there, or it is none of these.
        ModuleNotFoundError: Ray is not installed.
    """
    import ray  # noqa: F401

    if address == LOCAL:
        return LOCAL
    found = _running(said) if address == AUTO else address
    host, colon, port = found.rpartition(":")
    if "://" in found or not (colon and host and port.isdecimal()):
        raise ConfigError(
            f"{said}: expected local, auto or HOST:PORT of a cluster's head, found {found!r}"
            + (" (ray:// is Ray Client: log in to a node of the cluster instead)" if "://" in found else "")
        )
    if (fault := _fault(host, int(port))) is not None:
        raise ConfigError(
            f"{said}: no Ray cluster answers at {found} ({fault}); `ray start --head` begins one, "
            "`local` has one for as long as the command runs"
        )
    return found


def _running(said: str) -> str:
    """The cluster of RAY_ADDRESS, or that of which a node runs here."""
    if named := os.environ.get("RAY_ADDRESS"):
        return named
    from ray._private.services import get_ray_address_from_environment

    try:
        return str(get_ray_address_from_environment(AUTO, None))
    except ConnectionError:
        raise ConfigError(
            f"{said}: auto: no node of a Ray cluster runs on this machine; `ray start --head` begins one, "
            "`local` has one for as long as the command runs"
        ) from None


def _fault(host: str, port: int) -> str | None:
    """Why nobody who speaks as Ray does is there; None where somebody is."""
    try:
        with socket.create_connection((host, port), timeout=_PATIENCE_S) as talk:
            talk.sendall(_GREETING)
            frame = b""
            while len(frame) < _FRAME_BYTES:
                part = talk.recv(_FRAME_BYTES - len(frame))
                if not part:
                    return "what listens there is not Ray"
                frame += part
    except TimeoutError:
        return f"no answer within {_PATIENCE_S:g} s"
    except (OSError, OverflowError) as error:
        return str(error)
    return None if frame[3] == _SETTINGS else "what listens there is not Ray"
