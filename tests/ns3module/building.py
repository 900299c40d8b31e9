# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts of ns-3 compiled by the documented line, and runs of them."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT

EXAMPLES = ROOT / "examples" / "ns3"


def flags(*options: str) -> list[str]:
    """Flags that ``ns3-env config`` prints."""
    command = [sys.executable, "-m", "ns3_env.eval.commands.main", "config", *options]
    return shlex.split(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def build(source: Path, program: Path) -> Path:
    """Compiles a script as in docs/ns3.md, without optimisation."""
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    command = [*compiler, "-O0", str(source), *flags("--cflags", "--libs"), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return program


def run(program: Path, *arguments: str, code: int = 0) -> str:
    """Output of a script, on both streams; it has to end with this code."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
