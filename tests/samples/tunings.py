# SPDX-License-Identifier: GPL-2.0-or-later
"""A tiny tuning: its configuration and curriculum."""

from __future__ import annotations

from pathlib import Path

from tests.samples import runs

# The start ignores delays and barely looks at the queue: windows swing.
CONFIG = """
kind: search
name: tiny
controller:
  name: mpcc
  parameters:
    WeightWindow: {low: 0.01, high: 1000, log: true, start: 10}
    DelayScale: {low: 0, high: 3, start: 3}
    Horizon: {low: 1, high: 8, integer: true}
  attributes: {FloorPackets: 0.02}
  compare: {WeightWindow: 100}
search:
  trials: 13
  population: 4
  episodes: 1
evaluation:
  controllers: [hpcc]
  episodes: 2
  scenario:
    topology: {kind: dumbbell, senders: 3}
    traffic: {kind: incast, size_bytes: 50000, spread_ns: 5000}
    time_limit_ns: 200000
"""


CURRICULUM = """
scenario:
  time_limit_ns: 100000
  traffic: {kind: incast, size_bytes: 20000000, spread_ns: 10000}
stages:
  - {name: two, scenario: {topology: {kind: dumbbell, senders: 2}}, advance: {after_episodes: 3}}
  - {name: four, scenario: {topology: {kind: dumbbell, senders: 4}}}
"""


def written(folder: Path) -> list[str]:
    return runs.written(folder, CONFIG, CURRICULUM)
