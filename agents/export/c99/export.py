# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports a policy as a C file, which is kept only if it decides as the policy does."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from ns3_env.agents.export.c99.check import Measured, compiler, measure, record_decisions
from ns3_env.agents.export.c99.file import CFile, c_file
from ns3_env.agents.export.export import COUNT, check_out
from ns3_env.agents.export.source import find_source
from ns3_env.config.files import flush, write_atomically
from ns3_env.errors import ConfigError
from ns3_env.policies.file import POLICY_FILE, PolicyFile, write_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.programs.executable import list_controllers

#: Largest difference that passes: of an action in [-1, 1], and of the window and the rate that follow, as a
#: share of the original's.
LIMIT = 0.02


def export_c(checkpoint: Path, out: Path) -> tuple[CFile, Measured]:
    """Writes the policy into ``out``, which appears only if no decision of 1,000 is further than LIMIT away.

    Args:
        checkpoint: see ``ns3_env.agents.export.export.export``.
        out: the file; its name is the prefix of its functions.

    Raises:
        ConfigError: the checkpoint or the file's name is unsuitable, the policy has something that the C file
            cannot have, or there is no C compiler.
        ScenarioError: the run's scenario is wrong.
        SimulatorError: the simulator failed.
    """
    check_out(out)
    if out.suffix != ".c" or not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", out.stem):
        raise ConfigError(
            f"--out: {out.name}: --format c takes a name of small letters, digits and _ with the ending .c,"
            " for its functions start with it"
        )
    if out.stem in list_controllers():
        raise ConfigError(
            f"--out: {out.name}: the simulator has a controller {out.stem!r} already, and examples/nic makes"
            f" one of the file's name: write e.g. --out {out.with_stem(f'my_{out.stem}')}"
        )
    compiler()
    source = find_source(checkpoint)
    program = c_file(source.name, out.stem, source.policy)
    # A safety is the simulator's: the decisions are compared without it.
    plain = PolicyFile(source.policy.spec.model_copy(update={"safety": None}), source.policy.tensors)
    plain_program = c_file(source.name, out.stem, plain)
    with tempfile.TemporaryDirectory() as folder:
        partial, file = Path(folder) / out.name, Path(folder) / POLICY_FILE
        write_policy(file, plain)
        player = NetworkPolicy.load(file)
        decisions = record_decisions(player, source.env, source.scenario, source.seed, COUNT)
        write_atomically(partial, plain_program.text.encode())
        measured = measure(plain_program, partial, decisions, Path(folder))
        if measured.difference <= LIMIT:
            write_atomically(out, program.text.encode())
            flush(out.absolute().parent)
    return program, measured
