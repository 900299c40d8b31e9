# SPDX-License-Identifier: GPL-2.0-or-later
"""Training as traffic: a transformer by its model and its parallelism, any model by its layers."""

from __future__ import annotations

from ns3_env.scenario.traffic.training.training import Model, Parallel, Training
from ns3_env.scenario.traffic.training.workload import Workload

__all__ = ["Model", "Parallel", "Training", "Workload"]
