# SPDX-License-Identifier: GPL-2.0-or-later
"""Plugins: controllers as shared objects that the command line or the environment names.

A plugin is code: no file names one. The active ones are listed in the environment (``NS3_ENV_PLUGINS``), so
that worker processes load the same ones.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ns3_env import _native
from ns3_env.config.command_line import guarded
from ns3_env.errors import ConfigError
from ns3_env.programs.executable import (
    PLUGINS_VARIABLE,
    describe_controllers,
    find_executable,
    named_plugins,
)


def load_plugins(files: Iterable[str | os.PathLike[str]]) -> None:
    """Makes the controllers of these plugins known from now on, in this process and those that it starts.

    Raises:
        ConfigError: a file is missing, is no plugin, or was built against another contract; nothing is
            loaded then.
        SimulatorNotFound, SimulatorDied: see :func:`describe_controllers`.
    """
    plugins = named_plugins()
    paths = list(plugins)
    for file in files:
        path = Path(file).resolve()
        if not path.is_file():
            raise ConfigError(f"plugin {file}: there is no such file; name a shared object, NAME.so")
        if os.pathsep in str(path):
            raise ConfigError(
                f"plugin {path}: a {os.pathsep!r} in its path: it parts the paths of {PLUGINS_VARIABLE}"
            )
        if path not in paths:
            paths.append(path)
    if paths == plugins:
        return
    before = os.environ.get(PLUGINS_VARIABLE)
    os.environ[PLUGINS_VARIABLE] = os.pathsep.join(map(str, paths))
    try:
        describe_controllers()
    except BaseException:
        if before is None:
            del os.environ[PLUGINS_VARIABLE]
        else:
            os.environ[PLUGINS_VARIABLE] = before
        raise


def plugin_versions() -> dict[str, str]:
    """For each controller of a plugin, ``"plugin NAME"``: the file's name and its content's hash.

    Raises as :func:`describe_controllers`.
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
    """Returns the content of the file as it was written at ``changed_ns``."""
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"


#: Folder of the compiled parts; in a clone not the folder of this file.
_ROOT = Path(_native.__file__).resolve().parent


def cmake_dir() -> Path:
    """The folder of ``ns3_env-config.cmake``. Raises ConfigError if the installation lacks it."""
    return _installed(_ROOT / "cmake", "ns3_env-config.cmake")


def include_dir() -> Path:
    """The folder of the contract's headers and of ns-3's core. Raises ConfigError if it is not there."""
    return _installed(_ROOT / "include", "ns3_env/cpp/contract/congestion-control.h")


def compiler_flags() -> list[str]:
    """Returns the options of a compiler; ``-shared -fPIC`` and an optimisation level are the caller's.

    Raises ConfigError if the headers are not there.
    """
    return ["-std=c++20", "-D__LINUX__", "-DNS3_BUILD_PROFILE_RELEASE", f"-isystem{include_dir()}"]


def _installed(folder: Path, file: str) -> Path:
    if not (folder / file).is_file():
        raise ConfigError(f"{folder} has no {file}: install the package again")
    return folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m ns3_env.programs.plugins",
        description="Builds and checks your own controller.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--cmakedir", action="store_true", help="for find_package: -Dns3_env_DIR=...")
    what.add_argument("--cflags", action="store_true", help="for a compiler: g++ -O2 -shared -fPIC ...")
    what.add_argument("--check", metavar="FILE", help="try the promises of the contract on a plugin")
    options = parser.parse_args(arguments)

    def work() -> int:
        if options.check:
            return subprocess.run([find_executable(), f"--plugin={options.check}", "--check"]).returncode
        print(cmake_dir() if options.cmakedir else shlex.join(compiler_flags()))
        return 0

    return guarded(work)


if __name__ == "__main__":
    sys.exit(main())
