# SPDX-License-Identifier: GPL-2.0-or-later
"""What it costs to start: an environment's reset, and a benchmark's cell beside its simulation."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from ns3_env.config.files import write_files
from ns3_env.config.folders import replace_folders
from ns3_env.envs.gym_env import FlowEnv, incast_scenario
from ns3_env.eval.benchmark.cell import CellJob, Played
from ns3_env.eval.benchmark.folder import cell_folder
from ns3_env.eval.episodes.entry import Entry
from ns3_env.simulator import Simulator

_FLOWS = 4
#: Cells that are written together, as a benchmark's are that are played meanwhile.
_WRITTEN_TOGETHER = 5


def reset_ms(resets: int = 500) -> dict[str, float]:
    """CPU milliseconds of a reset of ``gymnasium.make``'s default, up to the first observation: of "python",
    waiting left out, and of the "simulator", which plays until the flow's first decision."""
    env = FlowEnv(incast_scenario(_FLOWS), flow=0)
    try:
        env.reset(seed=1)
        python, simulator = [], []
        for _ in range(resets):
            before, began = _cpu_ns(env._simulator.pid), time.thread_time_ns()
            env.begin(None)
            spent = time.thread_time_ns() - began
            while not env._simulator.answered():
                time.sleep(0.0002)  # waiting spins, which is no work
            began = time.thread_time_ns()
            env.begun()
            python.append(spent + time.thread_time_ns() - began)
            simulator.append(_cpu_ns(env._simulator.pid) - before)
        return {"python": median(python) / 1e6, "simulator": median(simulator) / 1e6}
    finally:
        env.close()


def cell_overhead_ms(cells: int = 30) -> float:
    """CPU milliseconds of a benchmark's cell beside its simulation: 8-to-1 incasts of 2 MB, no series kept,
    played one after the other and written five at a time. The disk is not counted: it works meanwhile."""
    scenario = incast_scenario(8, 2_000_000, 100_000)
    jobs = [
        CellJob("incast-8", scenario.with_seed(seed), Entry(name=name, controller=name), seed, False, "", {})
        for seed in range(cells // 2 + 1)
        for name in ("hpcc", "dcqcn")
    ]
    with tempfile.TemporaryDirectory() as folder, Simulator() as simulator:
        _play(jobs[:2], simulator, Path(folder))  # imports, and the process
        began = time.process_time_ns()
        _play(jobs[2:], simulator, Path(folder))
        spent = time.process_time_ns() - began
    return spent / len(jobs[2:]) / 1e6


def _play(jobs: list[CellJob], simulator: Simulator, out: Path) -> None:
    waiting: dict[Path, Callable[[Path], None]] = {}
    for job in jobs:
        played = job.run(simulator)
        assert isinstance(played, Played), played
        waiting[cell_folder(out, *job.key)] = partial(write_files, files=played.files)
        if len(waiting) == _WRITTEN_TOGETHER or job is jobs[-1]:
            replace_folders(waiting)
            waiting = {}


def _cpu_ns(pid: int | None) -> int:
    """CPU time of a process's main thread so far; see proc(5), /proc/pid/schedstat."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
