# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports a policy or a tuned controller to a file, reads it again and compares the policy's answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ns3_env.agents.export.formats import Evaluator, find_format
from ns3_env.agents.export.recording import record
from ns3_env.agents.export.source import Source, find_source
from ns3_env.agents.training.checkpoint import resolve
from ns3_env.config.files import flush
from ns3_env.errors import ConfigError
from ns3_env.policies.file import KEY, MAX_POLICY_BYTES, PolicyFile
from ns3_env.policies.header import MAX_HISTORY
from ns3_env.policies.history import Floats, Ints
from ns3_env.scenario import Controller
from ns3_env.scenario.controllers import CONTROLLER_HEAD, read_controller, write_controller

#: Number of observations on which a file is compared.
COUNT = 1000
#: Largest difference of an action in [-1, 1] that passes: float32 has 6e-8, and layers add up.
LIMIT = 1e-5


@dataclass(frozen=True)
class Comparison:
    """Comparison of an exported file's answers with the original's.

    Attributes:
        difference: largest absolute difference to the original's actions.
        count: number of observations.
        original: name of the file that the original was read from.
        sha256: SHA-256 of the weights.
        size_bytes: size of the file.
    """

    difference: float
    count: int
    original: str
    sha256: str
    size_bytes: int

    @property
    def passed(self) -> bool:
        """Returns whether the file answers as the original does."""
        return self.difference <= LIMIT


def export(
    checkpoint: Path, form: str, out: Path, change: Callable[[PolicyFile], PolicyFile] = lambda policy: policy
) -> Comparison:
    """Writes the policy into ``out``, which appears only if it answers as the original does.

    Args:
        checkpoint: a run, a checkpoint, a policy's file or its folder, or the name of a released policy.
        form: one of ``formats.FORMATS``.
        out: the file; replaced only if an earlier export wrote it.
        change: function applied to the policy first, which leaves its weights as they are.

    Raises:
        ConfigError: the checkpoint, the format or the file's name is unsuitable.
        ScenarioError: the run's scenario is wrong.
        SimulatorError: the simulator failed.
    """
    check_out(out)
    chosen, source = find_format(form), find_source(checkpoint)
    histories, lengths = record_histories(source, COUNT)
    partial = out.with_name(f".{out.stem}.{os.getpid()}.partial{out.suffix}")
    try:
        chosen.write(partial, change(source.policy))
        difference = largest_difference(chosen.evaluator(partial), source.original, histories, lengths)
        size = partial.stat().st_size
        comparison = Comparison(difference, len(lengths), source.name, source.policy.sha256, size)
        if comparison.passed:
            os.replace(partial, out)
            flush(out.absolute().parent)
    finally:
        partial.unlink(missing_ok=True)
    return comparison


def export_controller(checkpoint: Path, out: Path) -> Controller:
    """Writes the tuned controller of ``checkpoint`` into ``out``, and reads it again.

    Raises ConfigError: the checkpoint or the file's name is unsuitable.
    """
    check_out(out, CONTROLLER_HEAD)
    write_controller(out, resolve(checkpoint).controller())
    return read_controller(out)


def record_histories(source: Source, count: int) -> tuple[Floats, Ints]:
    """Histories (count, K, D) that a policy reads while it runs across the channel; lengths (count,).

    Those of a policy that carries a state are of flows' first decisions. Raises as ``record``.
    """
    spec = source.player.spec
    # The whole input of a carried state: a full history may lack the flow's first decision.
    depth, most = (MAX_HISTORY, MAX_HISTORY - 1) if spec.network.carries else (spec.history, None)
    decisions = record(source.player, source.env, source.scenario, source.seed, count, most)
    histories, lengths = decisions.histories(depth)
    return histories[:count], lengths[:count]


def largest_difference(one: Evaluator, other: Evaluator, histories: Floats, lengths: Ints) -> float:
    """Largest difference of their answers; infinite if an answer is no number."""
    apart = np.abs(one(histories, lengths).astype(np.float64) - other(histories, lengths)).max()
    return float(apart) if np.isfinite(apart) else float("inf")


def check_out(out: Path, mark: str = KEY) -> None:
    """Raises ConfigError if the file cannot be written, or exists and is no earlier export, which has this
    ``mark``."""
    if not out.absolute().parent.is_dir():
        raise ConfigError(f"--out: there is no folder {out.absolute().parent}")
    if out.is_symlink():
        raise ConfigError(f"--out: {out} is a symbolic link: name the file itself")
    if out.exists() and not out.is_file():
        raise ConfigError(f"--out: {out} is no file: name another")
    if out.exists() and (out.stat().st_size > 2 * MAX_POLICY_BYTES or mark.encode() not in out.read_bytes()):
        raise ConfigError(f"--out: {out} is there, and no export wrote it: name another, or remove it")
