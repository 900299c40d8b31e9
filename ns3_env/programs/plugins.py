# SPDX-License-Identifier: GPL-2.0-or-later
"""Plugins: controllers as shared objects that the command line or the environment names.

A plugin is code: no file names one. Which are in force stands in the environment (``NS3_ENV_PLUGINS``), so
that worker processes load the same ones.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from ns3_env.errors import ConfigError
from ns3_env.programs.executable import PLUGINS_VARIABLE, describe_controllers, named_plugins


def load_plugins(files: Iterable[str | os.PathLike[str]]) -> None:
    """The controllers of these plugins are known from now on, in this process and those that it starts.

    Raises:
        ConfigError: a file is not there, is no plugin, or was built against another contract; nothing is
            loaded then.
        SimulatorNotFound, SimulatorDied: see :func:`describe_controllers`.
    """
    named = named_plugins()
    wanted = list(named)
    for file in files:
        path = Path(file).resolve()
        if not path.is_file():
            raise ConfigError(f"plugin {file}: there is no such file; name a shared object, NAME.so")
        if os.pathsep in str(path):
            raise ConfigError(
                f"plugin {path}: a {os.pathsep!r} in its path: it parts the paths of {PLUGINS_VARIABLE}"
            )
        if path not in wanted:
            wanted.append(path)
    if wanted == named:
        return
    before = os.environ.get(PLUGINS_VARIABLE)
    os.environ[PLUGINS_VARIABLE] = os.pathsep.join(map(str, wanted))
    try:
        describe_controllers()
    except BaseException:
        if before is None:
            del os.environ[PLUGINS_VARIABLE]
        else:
            os.environ[PLUGINS_VARIABLE] = before
        raise


def plugin_versions() -> dict[str, str]:
    """For each controller that a plugin brought, ``"plugin NAME"``: the file's name and its content's hash.

    Raises what :func:`describe_controllers` raises.
    """
    if not named_plugins():
        return {}
    return {
        f"plugin {name}": _content(Path(declared["plugin"]), Path(declared["plugin"]).stat().st_mtime_ns)
        for name, declared in describe_controllers().items()
        if "plugin" in declared
    }


@functools.lru_cache(maxsize=64)
def _content(path: Path, changed_ns: int) -> str:
    """Of the file as it was written at ``changed_ns``."""
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
