# SPDX-License-Identifier: GPL-2.0-or-later
"""Which metrics may a search be judged by? All that have a better direction."""

from __future__ import annotations

from agents.search.metrics_objective import Metrics
from eval.metrics import METRICS, measure

METRICS_OF_EPISODES = Metrics(METRICS, measure)
