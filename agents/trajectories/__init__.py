# SPDX-License-Identifier: GPL-2.0-or-later
"""Trajectories: observations, actions and rewards of a task's flows, as a Minari dataset."""

from ns3_env.agents.trajectories.recording import record

__all__ = ["record"]
