# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows and steps of a job, made in columns by the native part, as a flow list."""

from __future__ import annotations

from ns3_env._native import JobFlows
from ns3_env.scenario.traffic.kind import Flows
from ns3_env.scenario.traffic.tasks import Tasks


def flows_of(job_flows: JobFlows, job: str, controller: str | None, start_ns: int) -> Flows:
    """The flow list of a job.

    Args:
        job_flows: its flows and steps.
        job: its name in results.
        controller: controller of all of its flows.
        start_ns: earliest start of its flows and steps.
    """
    flows, steps, parts = job_flows.columns()
    src, dst, sizes = (flows.pop(name) for name in ("src", "dst", "size_bytes"))
    count, step_count = len(src), len(steps["delay_ns"])
    flows |= {"delay_ns": [0] * count, "job": [0] * count}
    steps["job"] = [min(part, 0) for part in steps["part"]]
    tasks = Tasks(
        of_flows=flows,
        of_steps=steps,
        flows_after=flows.pop("after"),
        steps_after=steps.pop("after"),
        step_start_ns=[start_ns] * step_count,
        jobs=[job] if count or 0 in steps["job"] else [],
        parts=parts,
    )
    return Flows(src, dst, sizes, [start_ns] * count, [controller] * count, [None] * count, tasks=tasks)
