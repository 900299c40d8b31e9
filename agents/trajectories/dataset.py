# SPDX-License-Identifier: GPL-2.0-or-later
"""Minari dataset of trajectories, written a few flows at a time."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from ns3_env.errors import ConfigError
from ns3_env.tasks.definition import TaskSpec

#: Flows that are written at once: the file is opened for each lot.
_LOT = 256


@dataclass(frozen=True)
class Trajectory:
    """A flow from its first decision to its end, which is ``terminated`` or else a cut.

    Attributes:
        seed: seed of its scenario.
        flow: index of the flow in the scenario.
        observations: (T + 1, D) float32.
        actions: (T, A) float32, in the task's action space.
        rewards: (T,) reward of the action in the same row.
        elapsed: (T,) duration of each action, in base RTTs.
        slowdown: slowdown of the flow, see :class:`ns3_env.decision.outcomes.Outcomes`.
        terminated: true if the flow is done.
        final: true if the value after the last row is 0.
    """

    seed: int
    flow: int
    observations: NDArray[np.float32]
    actions: NDArray[np.float32]
    rewards: NDArray[np.float64]
    elapsed: NDArray[np.float64]
    slowdown: float
    terminated: bool
    final: bool


def write(dataset_id: str, spec: TaskSpec, flows: Iterable[Trajectory], metadata: Mapping[str, Any]) -> Any:
    """The ``minari.MinariDataset`` of this id, with an episode for each flow.

    Raises:
        ConfigError: Minari is not installed, or has a dataset of this id.
        ValueError: Minari refuses the id.
    """
    try:
        import minari
        from minari.dataset.minari_storage import MinariStorage
        from minari.namespace import create_namespace, list_local_namespaces
        from minari.storage.datasets_root_dir import get_dataset_path
    except ImportError as error:
        raise ConfigError(f"Minari is not installed: pip install 'ns3-env[minari]' ({error})") from None
    namespace, _, _ = minari.dataset.minari_dataset.parse_dataset_id(dataset_id)
    folder = get_dataset_path(dataset_id).absolute()  # Minari looks for sizes below it
    if folder.exists():
        raise ConfigError(f"{dataset_id}: there is such a dataset: {folder}; name another version")
    if namespace is not None and namespace not in list_local_namespaces():
        create_namespace(namespace)
    data = folder / "data"
    data.mkdir(parents=True)
    try:
        problem = spec.problem()
        spaces = {"observation_space": problem.observation_space, "action_space": problem.action_space}
        storage = MinariStorage.new(data, env_spec=gym.spec(spec.id), data_format="hdf5", **spaces)
        storage.update_metadata(
            {
                "dataset_id": dataset_id,
                "minari_version": minari.__version__,
                "requirements": [f"ns3-env=={version('ns3-env')}"],
                **metadata,
            }
        )
        rest = iter(flows)
        while lot := [_buffer(flow) for flow in islice(rest, _LOT)]:
            storage.update_episodes(lot)
    except BaseException:  # half a dataset would be read as a whole one
        shutil.rmtree(folder)
        raise
    return minari.load_dataset(dataset_id)


def _buffer(flow: Trajectory) -> Any:
    from minari.data_collector import EpisodeBuffer

    steps = len(flow.rewards)
    last = np.arange(steps) == steps - 1
    return EpisodeBuffer(
        seed=flow.seed,
        observations=flow.observations,
        actions=flow.actions,
        rewards=flow.rewards,
        terminations=last & flow.terminated,
        truncations=last & (not flow.terminated),
        infos={
            "elapsed": np.insert(flow.elapsed, 0, 0.0),
            "slowdown": np.append(np.full(steps, np.nan), flow.slowdown),
            "final": np.append(np.zeros(steps, np.bool_), flow.final),
            "flow": np.full(steps + 1, flow.flow, np.int32),
        },
    )


def read(dataset: Any) -> Iterator[Trajectory]:
    """The trajectories of a dataset by :func:`write`, in their order."""
    for number, episode in enumerate(dataset.iterate_episodes()):
        [metadata] = dataset.storage.get_episode_metadata([number])
        infos = episode.infos
        yield Trajectory(
            seed=metadata["seed"],
            flow=int(infos["flow"][0]),
            observations=episode.observations,
            actions=episode.actions,
            rewards=episode.rewards,
            elapsed=infos["elapsed"][1:],
            slowdown=float(infos["slowdown"][-1]),
            terminated=bool(episode.terminations[-1]),
            final=bool(infos["final"][-1]),
        )
