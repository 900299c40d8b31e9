# SPDX-License-Identifier: GPL-2.0-or-later
"""Records a policy on a task: the policy's evaluation, and the dataset's metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from ns3_env.agents.baselines.constant import RandomPolicy
from ns3_env.agents.baselines.mpcc import MpccPolicy
from ns3_env.agents.configuration.config import Spared
from ns3_env.agents.training.checkpoint import resolve
from ns3_env.agents.trajectories.dataset import Trajectory, write
from ns3_env.agents.trajectories.playing import from_file, from_policy, own_map
from ns3_env.envs.flow_stream import episode_seed
from ns3_env.errors import ConfigError
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.released import is_released
from ns3_env.tasks.definition import TaskSpec
from ns3_env.tasks.networks import task as found_task

#: Policies by name, made from task and seed: of the simulator's controllers only MPCC decides from telemetry.
NAMED: dict[str, Callable[[TaskSpec, int], Any]] = {
    "mpcc": lambda spec, seed: MpccPolicy(),
    "random": lambda spec, seed: RandomPolicy(spec.fields, spec.action.name, seed),
}


def record(
    task: str,
    policy: str | PathLike[str] | Any,
    episodes: int,
    dataset_id: str,
    *,
    seed: int = 1,
    noise: float = 0.0,
) -> Any:
    """Evaluates a policy on training scenarios of a task and records observations, actions and rewards.

    All flows of the task are under the policy and decide under the task's clock. Actions are the task's: of a
    policy with another action map, as MPCC's windows, the nearest action of the task is taken and applied, so
    that a row's action led to the next row. A dataset's episode is a flow; infos have "elapsed"
    (base RTTs since the flow's last decision), "slowdown" (of the flow, on its last row), "final" (no value
    is to be bootstrapped from there, though the episode is truncated) and "flow" (its index in its scenario);
    the episode's seed is its scenario's.

    Args:
        task: name of the task, or its id.
        policy: "mpcc" or "random"; a released policy's name, a training run's folder, or a policy's file,
            which runs inside the simulator if it decides as the task does; or an object with ``predict`` like
            Stable-Baselines3's models, with ``fields`` and ``action_map`` if they differ from the task's.
        episodes: number of scenarios, of one flow or hundreds each.
        dataset_id: Minari id of the dataset: "ns3_env/incast/mpcc-v0".
        seed: seed from which the scenarios are drawn, all of them training scenarios.
        noise: standard deviation of the noise added to the task's actions.

    Returns:
        The ``minari.MinariDataset``, as ``minari.load_dataset(dataset_id)`` gives it.

    Raises:
        ConfigError: no such policy, a file that is not a policy, no Minari, or a dataset of this id is there.
        ValueError: no such task.
        ScenarioError: the task's transport lacks a field that the policy observes.
    """
    spec = found_task(task)
    name, flows = _flows(spec, policy, episodes, seed, noise)
    metadata = {
        "algorithm_name": name,
        "noise": noise,
        "task": spec.id,
        "seed": seed,
        "scenario_seeds": [episode_seed(seed, number) for number in range(episodes)],
        "description": (
            f"Flows of {spec.id} under {name}: {spec.summary}. An episode is a flow; all flows are under "
            "the policy. Scenarios have training seeds alone; the task's test scenarios are in none."
        ),
    }
    return write(dataset_id, spec, flows, metadata)


def _flows(
    spec: TaskSpec, policy: Any, episodes: int, seed: int, noise: float
) -> tuple[str, Iterator[Trajectory]]:
    """The policy's name, and its source."""
    name, player = _player(spec, policy, seed)
    if isinstance(player, Path):
        return name, from_file(spec, player, episodes, seed, noise)
    _refuse_unknown(spec, player)
    return name, from_policy(spec, player, episodes, seed, noise)


def _player(spec: TaskSpec, policy: Any, seed: int) -> tuple[str, Any]:
    """The policy's name, and a file if the simulator can read it, else an object with ``predict``."""
    if not isinstance(policy, str | PathLike):
        return type(policy).__name__, policy
    if isinstance(policy, str) and policy in NAMED:
        return policy, NAMED[policy](spec, seed)
    path = Path(policy)
    if not (path.suffix or path.is_dir() or is_released(path)):
        raise ConfigError(
            f"policy: {str(policy)!r} is neither {' nor '.join(NAMED)}, nor a released policy, nor a "
            "policy's file: other controllers decide inside the simulator, with each ACK, and report no "
            "observations"
        )
    file = resolve(path).policy_file
    if file is None:
        raise ConfigError(f"policy: {path} has no policy's file, which the simulator can run")
    loaded = NetworkPolicy.load(file)
    return path.name, file if _plays_inside(spec, loaded) else loaded


def _plays_inside(spec: TaskSpec, policy: NetworkPolicy) -> bool:
    """Returns whether the simulator, evaluating the file by itself, can run the task."""
    header = policy.spec
    spared = {key: value for key in Spared.model_fields if (value := getattr(header, key))}
    carried = header.telemetry_bytes == spec.problem().telemetry_bytes and spared == spec.spared
    return carried and header.clock == spec.clock and own_map(spec.flow_action, policy) is None


def _refuse_unknown(spec: TaskSpec, policy: Any) -> None:
    """Raises ScenarioError if flows of the task lack a field that the policy observes."""
    spec.problem().check(spec.training(0), tuple(getattr(policy, "fields", ())))
