# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of a report: what it says and shows of a scenario, several worked out at the same time."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.standings import Standing, standings
from ns3_env.eval.metrics import load_metrics, own_metrics
from ns3_env.eval.report import losses
from ns3_env.eval.report.losses import LostRow
from ns3_env.eval.report.pictures import Picture, of_scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import LocalPool

#: Told which scenario is done, of how many.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Part:
    """One scenario of a report."""

    standing: Standing
    pictures: Sequence[Picture]
    lost: Sequence[LostRow]


@dataclass(frozen=True)
class PartJob:
    """A part to be worked out (``ns3_env.simulator.pool.Job``): a folder with one scenario's cells alone."""

    folder: BenchFolder
    scenario: str
    metrics: tuple[str, ...] = ()  # of one's own

    def run(self, simulator: Simulator | None = None) -> Part:
        """The part; nothing is simulated. Raises ScenarioError for a file that cannot be read."""
        load_metrics(self.metrics)
        folder = self.folder
        (standing,) = standings(folder, cases=[folder.suite.scenario(self.scenario)])
        names = [entry.name for entry in folder.suite.controllers]
        lost = losses.of_scenario(names, folder.cells)
        return Part(standing, of_scenario(folder, standing), lost)


def parts_of(folder: BenchFolder, progress: Progress) -> list[Part]:
    """One for each scenario, in the suite's order. Raises ScenarioError for a file that cannot be read."""
    names = [case.name for case in folder.suite.scenarios]
    jobs = [PartJob(_alone(folder, name), name, own_metrics()) for name in names]
    at_once = min(len(jobs), len(os.sched_getaffinity(0)))
    found: dict[str, Part] = {}
    if at_once == 1:
        for job in jobs:
            found[job.scenario] = job.run()
            progress(job.scenario, len(found), len(jobs))
    else:
        with LocalPool(at_once) as pool:
            playing = {pool.submit(job): job.scenario for job in jobs}
            for future in as_completed(playing):
                found[playing[future]] = future.result()
                progress(playing[future], len(found), len(jobs))
    return [found[name] for name in names]


def _alone(folder: BenchFolder, name: str) -> BenchFolder:
    """The folder with one scenario's cells."""
    return dataclasses.replace(
        folder,
        cells=[cell for cell in folder.cells if cell.scenario == name],
        missing=[key for key in folder.missing if key[0] == name],
        failed={key: text for key, text in folder.failed.items() if key[0] == name},
        stale=[cell for cell in folder.stale if cell.scenario == name],
    )
