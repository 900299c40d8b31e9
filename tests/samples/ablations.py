# SPDX-License-Identifier: GPL-2.0-or-later
"""A tiny ablation: its configuration, curriculum and file."""

from __future__ import annotations

from pathlib import Path

CONFIG = """
kind: train
agent: {name: fdcc, hidden: 4, shortcut: 4, net_arch: [4], learning_starts: 20, batch_size: 8}
env: {placement: simulator, fields: [rtt, pacing_rate, last_action]}
train: {decisions: 60, checkpoint_every: 1000}
"""


CURRICULUM = """
scenario:
  time_limit_ns: 60000
  topology: {kind: dumbbell, senders: 2}
  traffic: {kind: incast, size_bytes: 200000}
stages: [{name: only}]
"""


ABLATION = """
title: tiny
config: config.yaml
curriculum: curriculum.yaml
seeds: [1, 2]
judged_seeds: [5]
scenarios:
  2-to-1:
    time_limit_ns: 50000000
    topology: {kind: dumbbell, senders: 2}
    traffic: {kind: incast, size_bytes: 100000}
metrics: [goodput, unfinished_flows]
variants:
  - {name: usual, title: as configured}
  - {name: OTHER, title: another, overrides: [OVERRIDE]}
"""


def ablation(folder: Path, name: str = "short", override: str = "agent.history_length=1") -> Path:
    """An ablation's files."""
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")
    (folder / "curriculum.yaml").write_text(CURRICULUM, encoding="utf-8")
    path = folder / "ablation.yaml"
    path.write_text(ABLATION.replace("OTHER", name).replace("OVERRIDE", override), encoding="utf-8")
    return path
