# SPDX-License-Identifier: GPL-2.0-or-later
"""What a plugin's build needs: ``python -m ns3_env.programs.plugin_build --cmakedir | --cflags``.

In a clone and in a wheel alike: headers and CMake package lie beside the simulator's program.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from ns3_env import _native
from ns3_env.config.command_line import guarded
from ns3_env.errors import ConfigError

#: Where the compiled parts were installed to; in a clone not the folder of this file.
_ROOT = Path(_native.__file__).resolve().parent


def cmake_dir() -> Path:
    """The folder of ``ns3_env-config.cmake``. Raises ConfigError where the installation lacks it."""
    return _installed(_ROOT / "cmake", "ns3_env-config.cmake")


def include_dir() -> Path:
    """The folder of the contract's headers and of ns-3's core. Raises ConfigError where it is not there."""
    return _installed(_ROOT / "include", "ns3_env/cpp/contract/congestion-control.h")


def compiler_flags() -> list[str]:
    """What a compiler has to be told; ``-shared -fPIC`` and an optimisation level are the caller's.

    Raises ConfigError where the headers are not there.
    """
    return ["-std=c++20", "-D__LINUX__", "-DNS3_BUILD_PROFILE_RELEASE", f"-isystem{include_dir()}"]


def _installed(folder: Path, file: str) -> Path:
    if not (folder / file).is_file():
        raise ConfigError(f"{folder} has no {file}: install the package again")
    return folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m ns3_env.programs.plugin_build",
        description="Says where one's own controller finds what it is built against.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--cmakedir", action="store_true", help="for find_package: -Dns3_env_DIR=...")
    what.add_argument("--cflags", action="store_true", help="for a compiler: g++ -O2 -shared -fPIC ...")
    given = parser.parse_args(arguments)

    def work() -> int:
        print(cmake_dir() if given.cmakedir else shlex.join(compiler_flags()))
        return 0

    return guarded(work)


if __name__ == "__main__":
    sys.exit(main())
