# SPDX-License-Identifier: GPL-2.0-or-later
"""Which metrics may a search be judged by? All that have a better direction."""

from __future__ import annotations

from ns3_env.agents.search.metrics_objective import Metrics
from ns3_env.eval.metrics import METRICS, measure

METRICS_OF_EPISODES = Metrics(METRICS, measure)
