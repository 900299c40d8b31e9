# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays an ablation's runs as tasks of a Ray cluster, whose folders come back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ns3_env.cluster.pool import RayPool
from ns3_env.cluster.session import joined
from ns3_env.cluster.worker_context import scratch
from ns3_env.config.files import write_files
from ns3_env.config.folders import replace_folder
from ns3_env.eval.comparisons.ablation_run import Planned, Run, Scores, train_and_score
from ns3_env.scenario.scenario import Files
from ns3_env.simulator import Simulator

#: What was judged, the name of the run's folder, and its files by name.
Came = tuple[Scores, str, Mapping[str, bytes]]


@dataclass(frozen=True)
class TrainingJob:
    """A run, trained and judged on a node."""

    planned: Planned
    run_of: Run

    def run(self, simulator: Simulator) -> Came:
        """See ``ns3_env.simulator.pool.Job``; training has simulators of its own."""
        with tempfile.TemporaryDirectory(dir=scratch()) as name:
            judged = train_and_score(self.planned, self.run_of, Path(name))
            (folder,) = Path(name).iterdir()
            files = {str(x.relative_to(folder)): x.read_bytes() for x in folder.rglob("*") if x.is_file()}
            return judged, folder.name, files

    def packed(self) -> tuple[TrainingJob, Files]:
        """See ``ns3_env.simulator.pool.MobileJob``: configurations have been read."""
        return self, {}

    def at(self, paths: Mapping[str, str]) -> TrainingJob:
        """See ``ns3_env.simulator.pool.MobileJob``."""
        return self


def play(address: str, planned: Planned, todo: Mapping[int, Run], runs: Path) -> Iterator[tuple[int, Scores]]:
    """Gives all runs to Ray; the numbers of those that are done, whose folders are below ``runs`` then.

    Raises:
        ConfigError: the cluster does not let us in.
        SimulatorError: a run failed; those before it are kept.
    """
    import ray

    with joined(address) as cluster:
        print(cluster, flush=True)
        largest = max((int(node["Resources"].get("CPU", 1)) for node in ray.nodes()), default=1)  # type: ignore[no-untyped-call]
        with RayPool(address, len(todo)) as pool:
            playing = {}
            for number, run in todo.items():
                cores = max(min(planned.run(*run).config.env.simulators, largest), 1)
                playing[pool.submit(TrainingJob(planned, run), cores=cores)] = number
            for future in as_completed(playing):
                judged, name, files = future.result()
                number = playing[future]
                folder = runs / name
                if folder.exists():  # another seed's, begun at the same second elsewhere
                    folder = runs / f"{name}-seed-{todo[number][1]}"
                replace_folder(folder, partial(write_files, files=files))
                yield number, judged
