# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: short flows under WebSearch (Zhang 2023, Fig. 6.4)."""

from ns3_env.eval.paper.fdcc.workloads import experiment

EXPERIMENT = experiment("websearch", "6.4")
