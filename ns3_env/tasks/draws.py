# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws that the tasks' networks have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Keys of a scenario, or of a part of it.
Keys = dict[str, Any]
Random = np.random.Generator


def log_uniform(random: Random, least: float, most: float) -> float:
    """Draws a number whose logarithm is uniform between those of ``least`` and ``most``."""
    return float(np.exp(random.uniform(np.log(least), np.log(most))))
