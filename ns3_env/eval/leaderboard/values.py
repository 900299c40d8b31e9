# SPDX-License-Identifier: GPL-2.0-or-later
"""What a task measures of an episode, from its flows' charged slowdowns."""

from __future__ import annotations

import numpy as np

from ns3_env.simulator.results import Floats
from ns3_env.tasks import TaskSpec


def value_of(spec: TaskSpec, slowdowns: Floats, of_max_min: Floats) -> float:
    """The task's measure; less is better.

    Args:
        spec: the task.
        slowdowns: charged slowdowns of the flows (n,); NaN where a flow is not charged.
        of_max_min: those under max_min. Only its measure "max_min" reads them.

    Returns:
        Of the measure "slowdown", the mean. Of "max_min", the factor by which slowdowns differ from those of
        the max-min allocation, geometric mean over flows, whichever is larger; 1 for that itself.
    """
    if spec.measure == "slowdown":
        return float(np.nanmean(slowdowns))
    return float(np.exp(np.nanmean(np.abs(np.log(slowdowns / of_max_min)))))
