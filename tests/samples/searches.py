# SPDX-License-Identifier: GPL-2.0-or-later
"""A tiny direct search: its configuration and curriculum."""

from __future__ import annotations

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


CONFIG = """
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
evaluation:
  controllers: [hpcc]
  episodes: 2
  scenario:
    topology: {kind: dumbbell, senders: 3}
    traffic: {kind: incast, size_bytes: 50000, spread_ns: 5000}
    time_limit_ns: 200000
"""


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
