# SPDX-License-Identifier: GPL-2.0-or-later
"""Files, checkpoints and plugins that a Ray node gets by content, and their paths in results."""

import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ns3_env.cluster import worker_context
from ns3_env.config.imports import trusted
from ns3_env.envs.gym_env import incast_scenario
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.cell import CellJob
from ns3_env.eval.episodes.entry import Entry
from ns3_env.policies.released import released
from ns3_env.scenario import Controller, Scenario
from ns3_env.scenario.scenario import renamed
from ns3_env.simulator import PLUGINS_VARIABLE
from tests.samples.policy_files import mlp_file


@pytest.fixture(autouse=True)
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ray's folder on a node."""
    folder = tmp_path / "node"
    folder.mkdir()
    monkeypatch.setattr(worker_context, "scratch", lambda: folder)
    return folder


@contextmanager
def travelled(entry: Entry, scenario: Scenario) -> Iterator[CellJob]:
    """The cell as it is on a node."""
    job, files = CellJob("s", scenario, entry, 1, False, "", {}).packed()
    with worker_context.unpacked(files) as paths:
        yield job.at(paths)


def localised(job: CellJob, scenario: Scenario) -> Scenario:
    """The scenario as the cell's files show it."""
    return renamed(scenario, job.home or {})


def test_files_that_controllers_name_have_other_paths_there_and_their_own_in_results(
    tmp_path: Path, node: Path
) -> None:
    mine, other_file = (mlp_file(tmp_path / f"{name}.safetensors") for name in ("mine", "theirs"))
    contents = mine.read_bytes(), other_file.read_bytes()
    network = {"File": str(mine), "ActionNoise": 0.1}
    other = Controller(name="policy", attributes={"File": str(other_file)})
    scenario = incast_scenario().model_copy(update={"controllers": [Controller(name="agent"), other]})
    with travelled(Entry(name="x", controller="policy", attributes=network), scenario) as here:
        assert here.player is not None
        paths = [
            Path(str(here.player.attributes["File"])),
            Path(str(here.scenario.controllers[1].attributes["File"])),
        ]
        assert tuple(path.read_bytes() for path in paths) == contents
        assert all(node in path.parents for path in paths)
        assert here.player.attributes["ActionNoise"] == 0.1
        assert localised(here, here.scenario) == scenario
    assert not list(node.iterdir())


def test_checkpoints_travel_whether_they_are_a_file_or_a_folder(tmp_path: Path, node: Path) -> None:
    folder = tmp_path / "checkpoint"
    (folder / "deep").mkdir(parents=True)
    (folder / "layout.json").write_text("{}")
    (folder / "deep/weights.npz").write_bytes(b"weights")
    with travelled(Entry(name="own", checkpoint=str(folder)), incast_scenario()) as here:
        assert here.player is not None
        there = Path(here.player.checkpoint or "")
        assert node in there.parents
        assert (there / "deep/weights.npz").read_bytes() == b"weights"
        assert (there / "layout.json").exists()

    with travelled(Entry(name="box", checkpoint="dispatcher"), incast_scenario()) as here:
        assert here.player is not None
        file = Path(here.player.checkpoint or "")
        assert file.read_bytes() == released("dispatcher").read_bytes()
        scenario = incast_scenario().playing(file)
        assert localised(here, scenario) == incast_scenario().playing(released("dispatcher").absolute())


def test_a_node_has_the_driver_s_plugins_and_names_or_says_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = tmp_path / "mine.so"
    plugin.write_bytes(b"code")
    monkeypatch.setenv(PLUGINS_VARIABLE, str(plugin))
    monkeypatch.setenv("NS3_ENV_NAMED_CODE", "my.module:thing")
    packed_up = worker_context.pack()
    monkeypatch.setenv(PLUGINS_VARIABLE, "")
    monkeypatch.setenv("NS3_ENV_NAMED_CODE", "")
    worker_context.unpack(packed_up)
    plugin_copy = Path(os.environ[PLUGINS_VARIABLE])
    assert plugin_copy != plugin
    assert (plugin_copy.name, plugin_copy.read_bytes()) == ("mine.so", b"code")
    assert "my.module:thing" in trusted()
    other = dataclasses.replace(packed_up, programs={**packed_up.programs, "rdma-sim": "another"})
    with pytest.raises(ScenarioError, match=r"node .*: rdma-sim is .*, but another where the command runs"):
        worker_context.unpack(other)
