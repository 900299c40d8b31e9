# SPDX-License-Identifier: GPL-2.0-or-later
"""A training step of a transformer as traffic, by its model and its parallelism."""

from __future__ import annotations

from ns3_env.scenario.traffic.training.training import Model, Parallel, Training

__all__ = ["Model", "Parallel", "Training"]
