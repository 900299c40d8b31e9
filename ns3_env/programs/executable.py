# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds a transport's simulator program; lists its controllers and their attributes."""

from __future__ import annotations

import functools
import json
import os
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ns3_env import _native
from ns3_env.errors import ConfigError, SimulatorDied, SimulatorError, SimulatorNotFound
from ns3_env.programs.transport import Transport

#: Names the simulator of RDMA; overrides the one installed with the package.
EXECUTABLE_VARIABLE = "NS3_ENV_RDMA_SIM"
#: The same of TCP's.
TCP_EXECUTABLE_VARIABLE = "NS3_ENV_TCP_SIM"
#: Names plugins, a list of paths as PATH is; :func:`ns3_env.simulator.load_plugins` adds to it.
PLUGINS_VARIABLE = "NS3_ENV_PLUGINS"
#: Variable with the seconds without a sign of life after which a simulator is ended (``--hang-timeout``).
HANG_TIMEOUT_VARIABLE = "NS3_ENV_HANG_TIMEOUT"
#: Exit status of a simulator if its input is at fault.
EXIT_BAD_INPUT = 2
_EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


#: Each transport's program, and the variable that names another one.
_PROGRAMS: dict[Transport, tuple[str, str]] = {
    "rdma": ("rdma-sim", EXECUTABLE_VARIABLE),
    "tcp": ("tcp-sim", TCP_EXECUTABLE_VARIABLE),
}


def find_executable(transport: Transport = "rdma") -> Path:
    """Path of the transport's program, rdma-sim or tcp-sim: that in NS3_ENV_RDMA_SIM or NS3_ENV_TCP_SIM, or
    the one installed next to the compiled module.

    Raises SimulatorNotFound.
    """
    return _locate(transport)[0]


def _locate(transport: Transport) -> tuple[Path, int]:
    """The transport's program, and the time of its last change, ns. Raises SimulatorNotFound.

    One call to the system: a reset asks a dozen times.
    """
    program, variable = _PROGRAMS[transport]
    override = os.environ.get(variable)
    path = _path_of(override or "", program)
    try:
        status = os.stat(path)
    except OSError:
        status = None
    if status is None or not stat.S_ISREG(status.st_mode) or not status.st_mode & _EXECUTABLE:
        hint = f"{variable} names it" if override else f"install the package, or set {variable}"
        raise SimulatorNotFound(f"no simulator at {path} ({hint})")
    return path, status.st_mtime_ns


@functools.lru_cache(maxsize=16)
def _path_of(override: str, program: str) -> Path:
    """The path, cached, as every episode needs it several times."""
    return Path(override) if override else Path(_native.__file__).parent / "bin" / program


def named_plugins() -> list[Path]:
    """The plugins that NS3_ENV_PLUGINS names: every simulator loads them."""
    parts = os.environ.get(PLUGINS_VARIABLE, "").split(os.pathsep)
    return [Path(part).absolute() for part in parts if part]


def plugins_of(transport: Transport) -> list[Path]:
    """Returns the plugins that a simulator of the transport loads: plugins are controllers of RDMA."""
    return named_plugins() if transport == "rdma" else []


def plugin_options(transport: Transport = "rdma") -> list[str]:
    """The same, in the form that the simulator accepts."""
    return [f"--plugin={path}" for path in plugins_of(transport)]


def list_controllers(
    executable: str | os.PathLike[str] | None = None, *, transport: Transport = "rdma"
) -> list[str]:
    """Names of the congestion controllers that the transport's simulator knows, those of plugins among them.

    Raises ConfigError, SimulatorNotFound, SimulatorDied.
    """
    return list(describe_controllers(executable, transport=transport))


def describe_controllers(
    executable: str | os.PathLike[str] | None = None, *, transport: Transport = "rdma"
) -> Mapping[str, Mapping[str, Any]]:
    """Returns the declarations of the simulator's congestion controllers, by name, sorted.

    ``attributes``: its ns-3 attributes and their defaults, as text; ``meanings``: their descriptions.
    ``reference``: a bound, which no network could deploy; ``needs_all_flows``: one for all flows of a
    scenario. Under RDMA, ``ecn``: the marking that it is published with, by the keys of a scenario's
    ``switch.ecn``; None if it ignores marks. ``congestion_points``, ``scheduling``: the same of their keys
    of ``switch``. ``plugin``: the file of a custom controller. Under TCP, ``marking``: the
    threshold from which on queues mark for it, None if it needs none. The program is queried once, and again
    when it or a plugin has changed.

    Args:
        executable: the program; default :func:`find_executable` of the transport.
        transport: transport of the controllers.

    Raises:
        ConfigError: a plugin cannot be loaded; the message explains why.
        SimulatorNotFound, SimulatorDied: there is no simulator, or it fails.
    """
    if executable is None:
        path, changed_ns = _locate(transport)
    else:
        path = Path(executable)
        try:
            changed_ns = os.stat(path).st_mtime_ns
        except OSError as error:
            raise SimulatorNotFound(f"no simulator at {path}: {error.strerror}") from None
    return _described(path, changed_ns, tuple(_stamp(plugin) for plugin in plugins_of(transport)))


def _stamp(plugin: Path) -> tuple[Path, int, int]:
    """The file, with its time and size, which differ for a later one of the same name."""
    try:
        status = plugin.stat()
    except OSError as error:
        raise ConfigError(f"plugin {plugin} ({PLUGINS_VARIABLE}): {error.strerror}") from None
    return plugin, status.st_mtime_ns, status.st_size


@functools.lru_cache(maxsize=8)
def _described(
    path: Path, changed_ns: int, plugins: tuple[tuple[Path, int, int], ...]
) -> Mapping[str, Mapping[str, Any]]:
    """Returns the declarations of the program as it was written at ``changed_ns``, with these plugins."""
    options = [f"--plugin={plugin}" for plugin, _, _ in plugins]
    return dict(json.loads(_output(path, options, "--describe-controllers")))


def default_attributes(controller: str, transport: Transport = "rdma") -> dict[str, str]:
    """A controller's ns-3 attributes and their defaults, as text. Raises SimulatorNotFound, SimulatorDied."""
    return dict(describe_controllers(transport=transport)[controller]["attributes"])


def references(transport: Transport = "rdma") -> frozenset[str]:
    """Controllers that are shown and not ranked: no network could deploy them.

    None if there is no such simulator: the code that needs it will report that.
    """
    return _declared("reference", transport)


def network_bounds(transport: Transport = "rdma") -> frozenset[str]:
    """References that need all flows of a scenario: no other controller may be beside them."""
    return _declared("needs_all_flows", transport)


def _declared(flag: str, transport: Transport) -> frozenset[str]:
    """Controllers that are declared with a flag; none if there is no such simulator."""
    try:
        controllers = describe_controllers(transport=transport)
    except SimulatorError:
        return frozenset()
    return frozenset(name for name, declared in controllers.items() if declared.get(flag))


def _output(path: Path, options: list[str], option: str) -> str:
    command = [os.fspath(path), *options, option]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == EXIT_BAD_INPUT and options:
        raise ConfigError(done.stderr.strip().removeprefix("rdma-sim: "))
    if done.returncode != 0:
        raise SimulatorDied(f"{path} {option} ended with exit code {done.returncode}:\n{done.stderr}")
    return done.stdout
