# SPDX-License-Identifier: GPL-2.0-or-later
"""Flags that ns-3 scripts with RDMA are built with: the compiler's, the libraries, the CMake package."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from ns3_env import _native
from ns3_env.config.command_line import guarded
from ns3_env.errors import ConfigError
from ns3_env.programs.plugins import cmake_dir, compiler_flags

#: Modules of ns-3 that come with the package, in an order for the linker.
NS3_MODULES = (
    "flow-monitor",
    "applications",
    "internet",
    "traffic-control",
    "bridge",
    "point-to-point",
    "network",
    "stats",
    "core",
)
#: Minor version of ns-3, 3.NS3_MINOR.
NS3_MINOR = 44


def library_dir() -> Path:
    """Folder of the package's libraries. Raises ConfigError if the installation lacks RDMA's."""
    folder = Path(_native.__file__).resolve().parent / "lib"
    if not (folder / "libns3_env-rdma.so").is_file():
        raise ConfigError(f"{folder} has no libns3_env-rdma.so: install the package again")
    return folder


def linker_flags() -> list[str]:
    """Options for the linker, after the sources; libraries that a script does not use are not loaded."""
    folder = library_dir()
    modules = [f"-lns3.{NS3_MINOR}-{module}" for module in NS3_MODULES]
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", "-Wl,--as-needed", "-lns3_env-rdma", *modules]


def parser() -> argparse.ArgumentParser:
    """Command line of ``ns3-env config``."""
    command_line = argparse.ArgumentParser(
        prog="ns3-env config",
        description="Prints what ns-3 scripts with RDMA are built with: "
        "g++ -O2 incast.cc $(ns3-env config --cflags --libs) -o incast",
    )
    command_line.add_argument("--cflags", action="store_true", help="for the compiler")
    command_line.add_argument("--libs", action="store_true", help="for the linker, behind the sources")
    command_line.add_argument("--cmakedir", action="store_true", help="for find_package: -Dns3_env_DIR=...")
    return command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``ns3-env config``; returns the exit code."""
    command_line = parser()
    options = command_line.parse_args(arguments)
    if not (options.cflags or options.libs or options.cmakedir):
        command_line.error("one of --cflags, --libs and --cmakedir is needed")

    def work() -> int:
        words = compiler_flags() if options.cflags else []
        words += linker_flags() if options.libs else []
        words += [str(cmake_dir())] if options.cmakedir else []
        print(shlex.join(words))
        return 0

    return guarded(work)
