# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: short flows under FB_Hadoop (Zhang 2023, Fig. 6.5)."""

from ns3_env.eval.paper.fdcc.workloads import experiment

EXPERIMENT = experiment("fb_hadoop", "6.5")
