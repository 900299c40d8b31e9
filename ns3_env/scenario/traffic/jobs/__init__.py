# SPDX-License-Identifier: GPL-2.0-or-later
"""Training jobs as traffic: computation and collectives that wait for each other."""

from __future__ import annotations

from ns3_env.scenario.traffic.jobs.collective import Collective, Jobs
from ns3_env.scenario.traffic.jobs.job_log import JobLog

__all__ = ["Collective", "JobLog", "Jobs"]
