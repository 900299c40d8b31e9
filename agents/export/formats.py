# SPDX-License-Identifier: GPL-2.0-or-later
"""Export formats by name; each is a module that writes such files and runs them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from ns3_env.config.command_line import install
from ns3_env.errors import ConfigError
from ns3_env.policies.file import PolicyFile, write_policy
from ns3_env.policies.history import Floats, Ints
from ns3_env.policies.native_policy import NetworkPolicy

#: Actions (n, 1) in [-1, 1] for histories (n, K, D), zero-padded at the end, of lengths (n,); those of a
#: network that carries a state start with the flow.
Evaluator = Callable[[Floats, Ints], Floats]


class Format(Protocol):
    """Functions of a format's module."""

    def write(self, path: Path, policy: PolicyFile) -> None:
        """Writes the policy, with the header of its file. Raises OSError."""

    def evaluator(self, path: Path) -> Evaluator:
        """Returns the function that gives a file's answers to histories."""


#: Values of ``--format``, and their modules; imported when used.
FORMATS = {
    "native": "ns3_env.agents.export.formats",
    "onnx": "ns3_env.agents.export.onnx_graph",
    "pt2": "ns3_env.agents.export.torch_program",
}


def find_format(name: str) -> Format:
    """The format of that name. Raises ConfigError if it is unknown, or a package is missing."""
    if name not in FORMATS:
        raise ConfigError(f"--format: there are {', '.join(FORMATS)}, not {name!r}")
    try:
        return cast(Format, importlib.import_module(FORMATS[name]))
    except ModuleNotFoundError as error:
        raise ConfigError(f"--format {name}: there is no package {error.name!r}: {install(name)}") from None


def write(path: Path, policy: PolicyFile) -> None:
    """Writes the file. Raises OSError."""
    write_policy(path, policy)


def evaluator(path: Path) -> Evaluator:
    """The policy in a file. Raises ConfigError if it is invalid."""
    return NetworkPolicy.load(path).act
