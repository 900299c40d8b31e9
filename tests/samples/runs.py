# SPDX-License-Identifier: GPL-2.0-or-later
"""A tiny training run: its configuration, curriculum and folder."""

from pathlib import Path
from typing import Any

import yaml

CONFIG = """
name: tiny
agent: {name: fdcc, hidden: 8, shortcut: 8, net_arch: [8], learning_starts: 100, gradient_steps: 1}
env:
  simulators: 2
  fields: [rtt, qlen, switch_rate, last_action]
train: {decisions: 400, checkpoint_every: 200}
evaluation:
  controllers: [hpcc]
  scenario:
    topology: {kind: dumbbell, senders: 3}
    traffic: {kind: incast, size_bytes: 20000}
    time_limit_ns: 200000
"""


CURRICULUM = """
scenario:
  time_limit_ns: 200000
  traffic: {kind: incast, size_bytes: 50000, spread_ns: 2000}
stages:
  - {name: two, scenario: {topology: {kind: dumbbell, senders: 2}}, advance: {after_episodes: 3}}
  - {name: four, scenario: {topology: {kind: dumbbell, senders: 4}}}
"""


def the_run(tmp_path: Path) -> Path:
    (run,) = (tmp_path / "runs").iterdir()
    return run


def checkpoints(run: Path) -> list[Path]:
    """The oldest first."""
    return sorted((run / "checkpoints").iterdir())


def written(folder: Path, config: Any = CONFIG, curriculum: Any = CURRICULUM) -> list[str]:
    """Options of ``train.py`` for these texts or contents, written into files of the folder."""
    for name, content in (("config", config), ("curriculum", curriculum)):
        text = content if isinstance(content, str) else yaml.safe_dump(content)
        (folder / f"{name}.yaml").write_text(text)
    return [
        *("--config", str(folder / "config.yaml"), "--curriculum", str(folder / "curriculum.yaml")),
        *("--runs", str(folder / "runs")),
    ]
