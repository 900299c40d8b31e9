# SPDX-License-Identifier: GPL-2.0-or-later
"""Datasets of trajectories: files and their reading, values of returns, the seeds in them."""

import dataclasses
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.agents.baselines.constant import RandomPolicy
from ns3_env.agents.baselines.mpcc import MpccPolicy
from ns3_env.agents.trajectories import dataset as storing
from ns3_env.agents.trajectories import record
from ns3_env.agents.trajectories.dataset import Trajectory
from ns3_env.agents.trajectories.playing import from_policy
from ns3_env.errors import ConfigError
from ns3_env.eval.commands.main import main
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.tasks import FIRST_TEST_SEED, task
from tests.samples.policy_files import mlp_file

minari = pytest.importorskip("minari")
LONG_SHORT = task("LongShort")


@pytest.fixture(autouse=True, scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("datasets")
        patch.setenv("MINARI_DATASETS_PATH", str(folder))
        yield folder


@pytest.fixture(scope="module")
def recorded(datasets: Path) -> Any:
    return record("LongShort", "mpcc", 1, "ns3_env/longshort/mpcc-v0", seed=5)


def same(one: Trajectory, other: Trajectory) -> None:
    for field in dataclasses.fields(Trajectory):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), field.name)


def test_what_was_played_is_read_again(recorded: Any) -> None:
    read = list(storing.read(minari.load_dataset("ns3_env/longshort/mpcc-v0")))
    again = list(from_policy(LONG_SHORT, MpccPolicy(), 1, 5))
    assert len(read) == len(again) == recorded.total_episodes > 10
    for one, other in zip(read, again, strict=True):
        same(one, other)
    assert read[0].observations.dtype == read[0].actions.dtype == np.float32


def test_a_flows_rewards_are_minus_its_slowdown_where_the_task_pays_that() -> None:
    for flow in from_policy(task("Tcp"), RandomPolicy(task("Tcp").fields, task("Tcp").action.name, 1), 1, 5):
        assert flow.rewards.sum() == pytest.approx(-flow.slowdown)


def test_a_row_has_one_of_the_tasks_actions_and_what_it_led_to(recorded: Any) -> None:
    for flow in recorded.iterate_episodes():
        steps = len(flow.rewards)
        assert len(flow.observations) == steps + 1 == len(flow.infos["elapsed"])
        assert flow.terminations[-1]
        assert not flow.terminations[:-1].any()
        assert recorded.action_space.contains(flow.actions[0])
        assert np.abs(flow.actions).max() <= 1
    actions = np.concatenate([flow.actions for flow in recorded.iterate_episodes()])
    assert 0.01 < actions.std() < 1


def test_a_dataset_says_who_played_what(recorded: Any) -> None:
    description = recorded.storage.metadata
    assert description["task"] == "ns3_env/LongShort-v4" == recorded.env_spec.id
    assert description["algorithm_name"] == "mpcc"
    assert description["requirements"] == [f"ns3-env=={version('ns3-env')}"]
    [seed] = description["scenario_seeds"]
    assert 0 <= seed < 2**31 < FIRST_TEST_SEED
    assert {metadata["seed"] for metadata in recorded.storage.get_episode_metadata([0, 3])} == {seed}


def deciding_as_the_task(path: Path, **changes: Any) -> Path:
    """A policy's file with the observation, the actions, the clock and the telemetry of the task."""
    return mlp_file(
        path,
        observation=[{"field": name, "transform": "symlog"} for name in LONG_SHORT.fields],
        action={"name": LONG_SHORT.action.name, **vars(LONG_SHORT.action)},
        clock=LONG_SHORT.clock,
        telemetry_bytes=LONG_SHORT.problem().telemetry_bytes,
        **LONG_SHORT.spared,
        **changes,
    )


def test_noise_disturbs_a_files_actions_and_is_told(tmp_path: Path) -> None:
    file = deciding_as_the_task(tmp_path / "policy.safetensors", zero=True)
    noisy = record("LongShort", file, 1, "ns3_env/longshort/noisy-v0", noise=0.2)
    actions = np.concatenate([flow.actions for flow in noisy.iterate_episodes()])
    assert actions.std() == pytest.approx(0.2, rel=0.1)
    assert noisy.storage.metadata["noise"] == 0.2
    same_from_python = from_policy(LONG_SHORT, NetworkPolicy.load(file), 1, 5, noise=0.2)
    assert np.concatenate([flow.actions for flow in same_from_python]).std() == pytest.approx(0.2, rel=0.1)


def test_nothing_is_left_of_a_dataset_that_was_not_written_to_its_end(datasets: Path) -> None:
    def broken() -> Iterator[Trajectory]:
        yield from from_policy(LONG_SHORT, MpccPolicy(), 1, 5)
        raise RuntimeError("the simulator died")

    with pytest.raises(RuntimeError, match="died"):
        storing.write("broken-v0", LONG_SHORT, broken(), {})
    assert not (datasets / "broken-v0").exists()


@pytest.mark.parametrize(
    ("policy", "dataset_id", "message"),
    [
        ("hpcc", "some-v0", "neither mpcc nor random"),
        ("nothing.safetensors", "some-v0", "does not exist"),
        ("random", "ns3_env/longshort/mpcc-v0", "there is such a dataset"),
    ],
)
def test_what_cannot_be_recorded_is_refused(
    recorded: Any, policy: str, dataset_id: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        record("LongShort", policy, 1, dataset_id)


def test_mpcc_is_refused_where_nobody_tells_it_of_hops() -> None:
    with pytest.raises(Exception, match="telemetry of switches"):
        record("Tcp", "mpcc", 1, "tcp-v0")


def test_the_command_records_a_released_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "LongShort", "--policy", "dispatcher", "--episodes", "1"]) == 0
    assert 'minari.load_dataset("ns3_env/longshort/dispatcher-v0")' in capsys.readouterr().out
    assert minari.load_dataset("ns3_env/longshort/dispatcher-v0").total_episodes > 10
    assert main(["record", "LongShort", "--policy", "dispatcher"]) == 2, "there is such a dataset"
    assert main(["record", "Long", "--policy", "mpcc"]) == 2
    assert "there is no task 'Long'" in capsys.readouterr().err
