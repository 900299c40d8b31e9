# SPDX-License-Identifier: GPL-2.0-or-later
"""Files, checkpoints and plugins that a Ray node gets by content, and their paths in results."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from ns3_env.cluster import store, worker_context
from ns3_env.config.imports import trusted
from ns3_env.envs.gym_env import incast_scenario
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.cell import Job
from ns3_env.eval.benchmark.ray_cells import Unpacked, packed
from ns3_env.eval.episodes.entry import Entry
from ns3_env.policies.released import released
from ns3_env.scenario import Controller, Scenario
from ns3_env.simulator import PLUGINS_VARIABLE
from tests.samples.policy_files import mlp_file


@pytest.fixture(autouse=True)
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ray's folder on a node."""
    folder = tmp_path / "node"
    folder.mkdir()
    for module in (store, worker_context):
        monkeypatch.setattr(module, "scratch", lambda: folder, raising=False)
    return folder


def job(entry: Entry, scenario: Scenario) -> Job:
    return Job(Path("out"), "s", scenario, entry, 1, False, "", {})


def test_files_that_controllers_name_have_other_paths_there_and_their_own_in_results(
    tmp_path: Path, node: Path
) -> None:
    mine, theirs = (mlp_file(tmp_path / f"{name}.safetensors") for name in ("mine", "theirs"))
    contents = mine.read_bytes(), theirs.read_bytes()
    network = {"File": str(mine), "ActionNoise": 0.1}
    other = Controller(name="policy", attributes={"File": str(theirs)})
    scenario = incast_scenario().model_copy(update={"controllers": [Controller(name="agent"), other]})
    sent = job(Entry(name="x", controller="policy", attributes=network), scenario)
    job_files = packed(sent)
    mine.unlink()
    theirs.unlink()
    here = Unpacked(sent, job_files)
    paths = [
        Path(str(here.entry.attributes["File"])),
        Path(str(here.scenario.controllers[1].attributes["File"])),
    ]
    assert tuple(path.read_bytes() for path in paths) == contents
    assert all(node in path.parents for path in paths)
    assert here.entry.attributes["ActionNoise"] == 0.1
    assert here.localise(here.scenario) == scenario


def test_checkpoints_travel_whether_they_are_a_file_or_a_folder(tmp_path: Path, node: Path) -> None:
    folder = tmp_path / "checkpoint"
    (folder / "deep").mkdir(parents=True)
    (folder / "layout.json").write_text("{}")
    (folder / "deep/weights.npz").write_bytes(b"weights")
    sent = job(Entry(name="own", checkpoint=str(folder)), incast_scenario())
    there = Path(Unpacked(sent, packed(sent)).entry.checkpoint or "")
    assert there != folder
    assert (there / "deep/weights.npz").read_bytes() == b"weights"
    assert (there / "layout.json").exists()

    sent = job(Entry(name="box", checkpoint="courier"), incast_scenario())
    here = Unpacked(sent, packed(sent))
    file = Path(here.entry.checkpoint or "")
    assert file.read_bytes() == released("courier").read_bytes()
    played = incast_scenario().playing(file)
    assert here.localise(played) == incast_scenario().playing(released("courier").absolute())


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
    found = Path(os.environ[PLUGINS_VARIABLE])
    assert found != plugin
    assert (found.name, found.read_bytes()) == ("mine.so", b"code")
    assert "my.module:thing" in trusted()
    other = dataclasses.replace(packed_up, programs={**packed_up.programs, "rdma-sim": "another"})
    with pytest.raises(ScenarioError, match=r"node .*: rdma-sim is .*, but another where the command runs"):
        worker_context.unpack(other)
