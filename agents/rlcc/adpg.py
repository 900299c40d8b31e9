# SPDX-License-Identifier: GPL-2.0-or-later
"""Loss of the analytic deterministic policy gradient.

Tessler et al. 2022: a flow's rate is too high where r > 0 and too low where r < 0, so the derivative of its
reward -r^2 by its action needs no critic: it has r's sign.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch as th

from ns3_env.envs.rollouts import Rollout

Reals = npt.NDArray[np.float64]


def outlook(rollout: Rollout, distances: Reals, gamma: float, horizon: int) -> Reals:
    """What follows each action: the mean over k < ``horizon`` of gamma^k r_{t+1+k}, as far as the flow goes.

    Args:
        rollout: an episode of n rows.
        distances: (n,) r of each row.
        gamma: discount.
        horizon: rows that are looked at.

    Returns:
        (m,) of the rows on which an action was taken.
    """
    rows, last = np.flatnonzero(rollout.decided), np.flatnonzero(~rollout.decided)
    end = last[np.searchsorted(last, rows)]  # the row with which each row's flow ends
    total, count = np.zeros(len(rows)), np.zeros(len(rows))
    for k in range(horizon):
        there = rows + 1 + k <= end
        total[there] += gamma**k * distances[rows[there] + 1 + k]
        count += there
    return total / count


def loss(
    actions: th.Tensor, following: th.Tensor, flows: th.Tensor, horizon: int, difference_weight: float
) -> th.Tensor:
    """mean_t(a_t R_t) + w mean_{i < j}((a_i - a_j)^2): an action is to fall where r will be above 0.

    Args:
        actions: (m,) a, of each flow in the order of time.
        following: (m,) R, of ``outlook``.
        flows: (m,) which flow took it; actions of different ones are not compared.
        horizon: largest j - i.
        difference_weight: w.
    """
    squares = [
        ((actions[:-lag] - actions[lag:]) ** 2)[flows[:-lag] == flows[lag:]]
        for lag in range(1, min(horizon, len(actions) - 1) + 1)
    ]
    pairs = th.cat(squares) if squares else actions[:0]
    apart = pairs.mean() if len(pairs) > 0 else actions.new_zeros(())
    return (actions * following).mean() + difference_weight * apart
