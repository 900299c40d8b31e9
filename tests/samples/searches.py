# SPDX-License-Identifier: GPL-2.0-or-later
"""Tiny searches: of weights and of attributes, with validation, and tunings by the agent's reward."""

from pathlib import Path

from tests.samples import runs

WHAT = {
    "weights": """
network:
  fields: [rtt, qlen]
  hidden: [4]
""",
    "attributes": """
controller:
  name: hpcc
  parameters:
    Eta: {low: 0.5, high: 1, start: 0.6}
""",
}

EVALUATION = """
evaluation:
  controllers: [hpcc]
  episodes: 2
  scenario:
    topology: {kind: dumbbell, senders: 3}
    traffic: {kind: incast, size_bytes: 50000, spread_ns: 5000}
    time_limit_ns: 200000
"""

CONFIG = (
    """
kind: search
name: tiny
WHAT
objective:
  baselines: [hpcc, dctcp]
  terms: {fct_slowdown_avg: 1, pfc_pause_fraction: 0.5, unfinished_flows: 1, queue_avg_bytes: 0.2}
search:
  trials: 13
  population: 4
  step: 0.5
  episodes: 1
  validation: {every: 2, episodes: 2}
env: {reward: {name: staged}}
"""
    + EVALUATION
)

CURRICULUM = """
scenario: {time_limit_ns: 200000}
stages:
  - name: incast
    scenario:
      topology: {kind: dumbbell, senders: 4}
      traffic: {kind: incast, size_bytes: 200000, spread_ns: 9000}
    advance: {after_episodes: 3}
  - name: workload
    scenario:
      topology: {kind: fat_tree_3, hosts_per_tor: 1}
      traffic: {kind: poisson, sizes: fb_hadoop, load: 0.5, duration_ns: 20000}
"""

# The start ignores delays and barely reacts to the queue: windows oscillate.
TUNING = (
    """
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
search: {trials: 13, population: 4, episodes: 1}
env: {reward: {name: staged}}
"""
    + EVALUATION
)

DCQCN = (
    """
kind: search
name: any
controller:
  name: dcqcn
  parameters:
    Gain: {low: 0.001, high: 0.5, log: true}
    IncreaseInterval: {low: 1000, high: 500000, log: true, unit: ns}
  compare: {Gain: 0.01}
search: {trials: 5, population: 4, episodes: 1}
env: {reward: {name: staged}}
"""
    + EVALUATION
)

INCASTS = """
scenario:
  time_limit_ns: 100000
  traffic: {kind: incast, size_bytes: 20000000, spread_ns: 10000}
stages:
  - {name: two, scenario: {topology: {kind: dumbbell, senders: 2}}, advance: {after_episodes: 3}}
  - {name: four, scenario: {topology: {kind: dumbbell, senders: 4}}}
"""

#: Configuration and curriculum of each, by the kind of search.
SEARCHES = {
    **{name: (CONFIG.replace("WHAT", section), CURRICULUM) for name, section in WHAT.items()},
    "tuning": (TUNING, INCASTS),
    "dcqcn": (DCQCN, INCASTS),
}


def written(folder: Path, what: str) -> list[str]:
    """Options of ``train`` for a search whose files are written into the folder."""
    return runs.written(folder, *SEARCHES[what])
