# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders of runs for tests, written by hand without a training."""

from __future__ import annotations

from pathlib import Path

CURRICULUM = "stages:\n- {name: 2-to-1}\n- {name: 4-to-1}\n"
HEADER = (
    "time/total_timesteps,time/time_elapsed,curriculum/stage,episode/reward,time/learning,validation/score"
)
MORE = f"{HEADER},validation_episode/queue_bytes,validation_episode/goodput,train/actor_loss"


def row(number: int, scale: float = 1.0) -> str:
    """The whole row of a log, at ``number`` hundred decisions."""
    values = (100 * number, 20 * number, number // 4, -scale / number, 0.8, "" if number % 2 else -scale)
    held_back = ("", "") if number % 2 else (scale * 1000 * number, 0.9)
    return ",".join(map(str, (*values, *held_back, scale * number)))


def write(folder: Path, rows: int = 6, scale: float = 1.0, seed: int = 1) -> Path:
    """A run with such a log."""
    folder.mkdir(parents=True)
    config = f"kind: train\nname: fdcc\nseed: {seed}\nagent: {{name: fdcc}}\ntrain: {{decisions: 2000}}\n"
    (folder / "config.yaml").write_text(config)
    (folder / "curriculum.yaml").write_text(CURRICULUM)
    lines = [MORE, *(row(number, scale) for number in range(1, rows + 1))]
    (folder / "progress.csv").write_text("\n".join(lines) + "\n")
    return folder


def add(run: Path, text: str) -> None:
    """Goes on writing the log."""
    with (run / "progress.csv").open("a") as file:
        file.write(text)
