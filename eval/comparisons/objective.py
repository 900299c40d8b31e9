# SPDX-License-Identifier: GPL-2.0-or-later
"""The project's metrics, as input of a search's objective."""

from __future__ import annotations

from ns3_env.agents.search.metrics_objective import Metrics
from ns3_env.eval.metrics import METRICS, measure

METRICS_OF_EPISODES = Metrics(METRICS, measure)
