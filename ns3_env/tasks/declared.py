# SPDX-License-Identifier: GPL-2.0-or-later
"""All tasks, declared."""

from ns3_env.tasks import networks as _networks  # fills the registry
from ns3_env.tasks.registry import TASKS, task

__all__ = ["TASKS", "task"]
del _networks
