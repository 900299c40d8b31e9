# SPDX-License-Identifier: GPL-2.0-or-later
"""Trajectories: what flows of a task saw, did and got under a policy, as a Minari dataset."""

from ns3_env.agents.trajectories.recording import record

__all__ = ["record"]
