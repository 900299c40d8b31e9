# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs of a cluster's log: columns of public traces, waiting, placement, steps, durations."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.config.files import LineFaults
from ns3_env.errors import ScenarioWarning
from ns3_env.eval.metrics.job_times import completion_times, spans
from ns3_env.scenario.topology import Cluster
from ns3_env.scenario.traffic.jobs import log as log_module
from ns3_env.scenario.traffic.jobs.log import Log, LoggedJob
from ns3_env.scenario.traffic.jobs.placement import Placement, place_jobs
from ns3_env.simulator import Simulator
from tests.samples import idle_star

CLUSTER = Cluster(nodes=4, gpus_per_node=4).build()
HELIOS = """job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
7,u,v,8,4,1,COMPLETED,2020-09-01 00:00:30,2020-09-01 00:00:31,2020-09-01 00:01:31,60,1
8,u,v,0,4,1,COMPLETED,2020-09-01 00:00:31,2020-09-01 00:00:31,2020-09-01 00:01:31,60,0
9,u,v,4,4,1,FAILED,2020-09-01 00:00:10,2020-09-01 00:00:11,2020-09-01 00:05:11,300,1
"""
PHILLY = """submitted_time,num_gpus,start_time,end_time
2020-09-01 00:00:30,8,2020-09-01 00:00:31,2020-09-01 00:01:31
2020-09-01 00:00:31,2,2020-09-01 00:00:31,null
2020-09-01 00:00:10,4,2020-09-01 00:00:11,2020-09-01 00:05:11
"""
PAI = """job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type
a,worker,4.0,Terminated,1598918430.0,1598918490.0,600.0,29.3,150.0,V100
a,ps,2.0,Terminated,1598918430.0,1598918490.0,600.0,29.3,,V100
b,worker,4.0,Failed,1598918410.0,1598918710.0,600.0,29.3,50.0,MISC
"""


def read(text: str, folder: Path, **more: Any) -> list[LoggedJob]:
    (folder / "log.csv").write_text(text)
    log = Log(LineFaults(str(folder / "log.csv")), **more)
    log.read_file()
    assert log.wrong.texts() == []
    return log.jobs


@pytest.mark.parametrize("text", [HELIOS, PHILLY, PAI])
def test_columns_of_public_traces_are_understood(text: str, tmp_path: Path) -> None:
    """Two jobs ran on GPUs, the later line first: 4 GPUs for 300 s, then 8 for 60 s."""
    jobs = read(text, tmp_path)
    assert [job[1:4] for job in jobs] == [(1598918410.0, 4, 300.0), (1598918430.0, 8, 60.0)]
    assert [job.line for job in jobs] == [4, 2]


@pytest.mark.parametrize("rows_at_once", [2, 100])
def test_a_window_and_the_first_jobs_are_selected_from_any_order(
    rows_at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "_ROWS_AT_ONCE", rows_at_once)
    text = "arrival_s,gpus,duration_s\n" + "".join(f"{x},2,9\n" for x in (50, 10, 40, 20, 30))
    assert [job.arrival_s for job in read(text, tmp_path, window=(20, 50), first=2)] == [20, 30]
    assert [job.line for job in read(text, tmp_path, window=(20, 50))] == [5, 6, 4]


def logged(*jobs: tuple[float, int, float]) -> list[LoggedJob]:
    return [LoggedJob(line, *job, "") for line, job in enumerate(jobs, start=2)]


def test_jobs_wait_first_come_first_served() -> None:
    """Of 16 GPUs 12 are taken: the third job fits, but waits behind the second."""
    jobs = logged((0, 12, 100), (10, 8, 50), (20, 2, 5), (300, 16, 1))
    starts = [job.start_s for job in place_jobs(jobs, CLUSTER, "packed", np.random.default_rng(1))]
    assert starts == [0, 100, 100, 300]


def placed(placement: Placement, *gpus: int, seed: int = 1) -> list[list[int]]:
    jobs = logged(*((float(i), count, 1e9) for i, count in enumerate(gpus)))
    return [job.hosts for job in place_jobs(jobs, CLUSTER, placement, np.random.default_rng(seed))]


def test_placements() -> None:
    """Four nodes of four: packed fills the fullest node that fits, spread takes turns, random is seeded."""
    assert placed("packed", 2, 4, 1, 1, 6) == [[0, 1], [4, 5, 6, 7], [2], [3], [8, 9, 10, 11, 12, 13]]
    assert placed("spread", 4, 4) == [[0, 4, 8, 12], [1, 5, 9, 13]]
    first, second = placed("random", 8, 8)
    assert sorted(first + second) == list(range(16))
    assert [first, second] == placed("random", 8, 8) != placed("random", 8, 8, seed=2)


def test_on_an_idle_network_a_job_lasts_as_long_as_in_its_log(simulator: Simulator) -> None:
    content = "arrival_s,gpus,duration_s,model\n5,4,300,\n7,4,300,small\n"
    scenario = idle_star.scenario(
        kind="job_log",
        content=content,
        scale=1e-4,
        step={"size_bytes": "8MB", "compute_ns": "300us"},
        models={"small": {"size_bytes": "1MB", "compute_ns": "100us"}},
    )
    rows = spans(simulator.play(scenario))
    starts = [span.start_ns for span in rows if not span.part and span.iteration == 0]
    assert starts == [0, 200_000]
    assert completion_times(rows) == pytest.approx([30e6, 30e6], rel=0.15)


def test_a_job_starts_when_the_last_one_on_its_gpus_is_over(simulator: Simulator) -> None:
    """Both last 1 ms in the log, the first one's 20 steps at least 2 ms."""
    content = "arrival_s,gpus,duration_s\n0,4,10\n0,8,10\n"
    step = {"size_bytes": 8000, "compute_ns": "100us"}
    scenario = idle_star.scenario(kind="job_log", content=content, scale=1e-4, step=step, iterations=20)
    rows = [span for span in spans(simulator.play(scenario)) if not span.part]
    first, second = rows[:20], rows[20:]
    assert first[-1].end_ns > 2e6
    assert second[0].start_ns == first[-1].end_ns


def test_a_job_that_needs_more_gpus_than_there_are_is_left_out_with_a_warning() -> None:
    content = "arrival_s,gpus,duration_s\n0,9,60\n0,2,60\n"
    with pytest.warns(ScenarioWarning, match="1 of 2 jobs need more GPUs than the network's 8"):
        scenario = idle_star.scenario(
            kind="job_log", content=content, scale=1e-5, step={"size_bytes": 9000}, iterations=1
        )
    assert len(scenario.flows()) == 4
