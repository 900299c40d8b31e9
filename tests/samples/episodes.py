# SPDX-License-Identifier: GPL-2.0-or-later
"""Rollouts of a policy, and whether two are the same."""

from pathlib import Path
from typing import Any

import numpy as np

from ns3_env.envs.rollouts import Rollout, Rollouts
from ns3_env.scenario import Scenario
from tests.samples.policy_files import FIELDS
from tests.samples.scenarios import incast

ENDS = incast(3, 300_000, spread_ns=20_000, time_limit_ns=400_000)


def played(
    policy: Path, scenario: Scenario, count: int = 3, simulators: int = 1, **options: Any
) -> list[Rollout]:
    exploration = options.pop("exploration", None)
    with Rollouts(scenario, num_simulators=simulators, fields=FIELDS, **options) as rollouts:
        for _ in range(count):
            rollouts.begin(policy, exploration)
        return [rollouts.next() for _ in range(count)]


def same(a: Rollout, b: Rollout) -> bool:
    columns = "flows first terminated truncated observations actions rewards windows records"
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in columns.split())
