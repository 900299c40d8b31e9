# SPDX-License-Identifier: GPL-2.0-or-later
"""The logger of a run: progress.csv, and TensorBoard's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import Logger, make_output_format


class RunLogger(Logger):
    """Stable-Baselines3's, whose table quotes no header: commas in names, stages', become semicolons."""

    def __init__(self, folder: Path | None, suffix: str = "") -> None:
        """
        Args:
            folder: of progress.csv and the TensorBoard file; None: no logs.
            suffix: put into their names, so that a run that goes on keeps its first ones.
        """
        name = None if folder is None else str(folder)
        forms = () if name is None else ("csv", "tensorboard")
        super().__init__(name, [make_output_format(form, str(name), suffix) for form in forms])

    def record(self, key: str, value: Any, exclude: str | tuple[str, ...] | None = None) -> None:
        """See Logger."""
        super().record(key.replace(",", ";"), value, exclude)
