# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays an ablation's runs as tasks of a Ray cluster, whose folders come back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ns3_env.cluster.retries import RETRIES, caught, value
from ns3_env.cluster.session import joined
from ns3_env.cluster.store import scratch
from ns3_env.cluster.worker_context import WorkerContext, pack, unpack
from ns3_env.config.files import write_file
from ns3_env.config.folders import replace_folder
from ns3_env.eval.training.ablation_run import Planned, Run, Scores, train_and_score

#: Between two looks whether the caller has to hear of a signal, s.
_TICK_S = 0.2
#: What was judged, and the files of the run's folder by name.
Came = tuple[Scores, str, Mapping[str, bytes]]


def play(address: str, planned: Planned, todo: Mapping[int, Run], runs: Path) -> Iterator[tuple[int, Scores]]:
    """Gives all runs to Ray; the numbers of those that are done, whose folders are below ``runs`` then.

    Raises:
        ConfigError: the cluster does not let us in.
        SimulatorError: a run failed; those before it are kept.
    """
    import ray

    with joined(address) as cluster:
        print(cluster, flush=True)
        context = ray.put(pack())
        task = ray.remote(_run)
        largest = max((int(node["Resources"].get("CPU", 1)) for node in ray.nodes()), default=1)  # type: ignore[no-untyped-call]
        playing = {}
        for number, run in todo.items():
            cores = max(min(planned.run(*run).config.env.simulators, largest), 1)
            ref = task.options(num_cpus=cores, max_retries=RETRIES).remote(planned, run, context)
            playing[ref] = number
        try:
            while playing:
                for ref in ray.wait(list(playing), timeout=_TICK_S, fetch_local=False)[0]:
                    number = playing.pop(ref)
                    judged, name, files = value(ref)
                    _put(runs, name, todo[number][1], files)
                    yield number, judged
        finally:
            for ref in playing:
                ray.cancel(ref, force=True)


def _put(runs: Path, name: str, seed: int, files: Mapping[str, bytes]) -> None:
    """The run's folder, as it would have been made here."""

    def write(folder: Path) -> None:
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_file(folder / path, content)

    folder = runs / name
    if folder.exists():  # another seed's, begun at the same second elsewhere
        folder = runs / f"{name}-seed-{seed}"
    replace_folder(folder, write)


def _run(planned: Planned, run: Run, context: WorkerContext) -> Came | Exception:
    """A task: a run, trained and judged on this node."""

    def work() -> Came:
        unpack(context)
        with tempfile.TemporaryDirectory(dir=scratch()) as name:
            judged = train_and_score(planned, run, Path(name))
            (folder,) = Path(name).iterdir()
            files = {str(x.relative_to(folder)): x.read_bytes() for x in folder.rglob("*") if x.is_file()}
            return judged, folder.name, files

    return caught(work)
