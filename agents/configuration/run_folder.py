# SPDX-License-Identifier: GPL-2.0-or-later
"""Folder of a training run: configuration, checkpoints, logs, evaluation."""

from __future__ import annotations

import json
import platform
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ns3_env.config.files import find_link, put_in_place, write_atomically, write_file
from ns3_env.config.yaml import read_mapping, to_text
from ns3_env.errors import ConfigError
from ns3_env.programs.plugins import plugin_versions

PACKAGES = ("ns3-env", "ns3", "torch", "stable-baselines3", "gymnasium", "numpy", "pydantic", "cma")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages a result depends on, and contents of the simulator's plugins."""
    package_versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            package_versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # noqa: PERF203
            package_versions[package] = "not installed"
    return {**package_versions, **plugin_versions()}


def read_json(path: Path) -> dict[str, Any]:
    """The keys and values in a checkpoint's file. Raises ConfigError, naming the file, if it is invalid."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not a checkpoint: cannot be read") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: not a checkpoint: expected keys and values")
    return data


class RunFolder:
    """runs/NAME-DATE: config.yaml, curriculum.yaml, checkpoints/DECISIONS/, TensorBoard, progress.csv."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, parent: Path, name: str, config: BaseModel, curriculum: BaseModel) -> RunFolder:
        """Makes the folder and writes the resolved inputs: ``config`` and ``curriculum`` as they are used."""
        stem = f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
        parent.mkdir(parents=True, exist_ok=True)
        for number in range(1000):
            path = parent / (stem if number == 0 else f"{stem}-{number}")
            try:
                path.mkdir()
                break
            except FileExistsError:
                continue
        run = cls(path)
        run.checkpoints.mkdir()
        resolved = {**config.model_dump(mode="json", exclude={"versions"}), "versions": versions()}
        files = {"config.yaml": resolved, "curriculum.yaml": curriculum.model_dump(mode="json")}
        for file, content in files.items():
            write_atomically(path / file, to_text(content))
        return run

    @property
    def checkpoints(self) -> Path:
        """Folder of the checkpoints."""
        return self.path / "checkpoints"

    @property
    def best_policy(self) -> Path:
        """The policy's file with the best validation, if there were any."""
        return self.path / "best.safetensors"

    @property
    def untrained_policy(self) -> Path:
        """The policy's file as it was before it learned, to compare with."""
        return self.path / "untrained.safetensors"

    def read(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """(config, curriculum) of the run, as they were resolved.

        Raises:
            ConfigError: the folder is not a run's, or has a symbolic link in it: a run that continues, and
                its evaluation, write files that may have that name.
        """
        if (link := find_link(self.path)) is not None:
            raise ConfigError(f"{link} is a symbolic link, which no run has: put its target there")
        try:
            return read_mapping(self.path / "config.yaml"), read_mapping(self.path / "curriculum.yaml")
        except ConfigError as error:
            raise ConfigError(f"{self.path}: not the folder of a run: {error}") from error

    def save_checkpoint(
        self, decisions: int, write: Callable[[Path], None], state: dict[str, Any], keep: int
    ) -> Path:
        """Adds checkpoints/DECISIONS: complete, or not at all.

        Args:
            decisions: decisions taken so far; names the folder.
            write: writes the trainer's files into the given folder.
            state: further state that a resumed run needs; written to state.json.
            keep: number of checkpoints kept, the newest ones.
        """
        final = self.checkpoints / f"{decisions:012d}"
        partial = self.checkpoints / f".{decisions:012d}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        write(partial)
        write_file(partial / "state.json", json.dumps(state, indent=1))
        put_in_place({partial: final})
        for old in self.kept()[:-keep]:
            shutil.rmtree(old, ignore_errors=True)
        return final

    def kept(self) -> list[Path]:
        """The checkpoints that are complete, the oldest first."""
        if not self.checkpoints.is_dir():
            return []
        return sorted(path for path in self.checkpoints.iterdir() if re.fullmatch(r"\d{12}", path.name))

    def latest_checkpoint(self) -> tuple[Path, dict[str, Any]]:
        """The newest checkpoint's folder and state.

        Raises:
            ConfigError: there is no checkpoint, or its state cannot be read.
        """
        complete = self.kept()
        if not complete:
            raise ConfigError(f"{self.path}: no checkpoint to continue from")
        return complete[-1], read_json(complete[-1] / "state.json")


@dataclass(frozen=True)
class Outcome:
    """End of a run."""

    folder: RunFolder
    interrupted: bool
