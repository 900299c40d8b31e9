# SPDX-License-Identifier: GPL-2.0-or-later
"""Packs the files that a cell reads, by content, for another machine, and maps their paths.

A cell's own files say the paths of the machine that the benchmark runs on, wherever it was played.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ns3_env.agents.runs.checkpoint import policy_files
from ns3_env.cluster.files import named_files, renamed
from ns3_env.cluster.store import keep
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.cell import Job
from ns3_env.eval.benchmark.suite import Contestant
from ns3_env.policies.file import POLICY_FILE
from ns3_env.scenario import NETWORK, Scenario


@dataclass(frozen=True)
class Baggage:
    """The files of a contestant and of the scenarios that it plays.

    Attributes:
        files: content of files that controllers name, by path, and of the checkpoint's policy.
        policy: path of that policy, None where there is none.
        checkpoint: the files of a checkpoint that has no such policy (an agent of one's own), by their names.
    """

    files: Mapping[str, bytes]
    policy: str | None
    checkpoint: Mapping[str, bytes]


def packed(job: Job) -> Baggage:
    """What has to travel with a job. Raises ScenarioError where it cannot be read."""
    names = named_files(job.scenario.controllers)
    if job.who.controller == NETWORK and "File" in job.who.attributes:
        names.add(str(job.who.attributes["File"]))
    policy, checkpoint = None, dict[str, bytes]()
    try:
        if job.who.checkpoint is not None:
            found = policy_files(Path(job.who.checkpoint))
            if len(found) == 1 and (found[0].name == POLICY_FILE or Path(job.who.checkpoint).is_file()):
                policy = str(found[0].absolute())
                names.add(policy)
            else:
                root = Path(job.who.checkpoint)
                root = next(p for p in found[0].parents if (p / "layout.json").exists()) if found else root
                checkpoint = {str(file.relative_to(root)): file.read_bytes() for file in found}
        return Baggage({name: Path(name).read_bytes() for name in names}, policy, checkpoint)
    except (OSError, ConfigError) as error:
        raise ScenarioError(f"{job.who.name}: {error}") from error


class Unpacked:
    """A job as it is on this node."""

    def __init__(self, job: Job, baggage: Baggage) -> None:
        self._here = {
            path: str(keep({Path(path).name: content}) / Path(path).name)
            for path, content in baggage.files.items()
        }
        update: dict[str, object] = {}
        if baggage.policy is not None:
            update["checkpoint"] = self._here[baggage.policy]
        elif baggage.checkpoint:
            update["checkpoint"] = str(keep(baggage.checkpoint))
        if job.who.controller == NETWORK and "File" in job.who.attributes:
            file = self._here[str(job.who.attributes["File"])]
            update["attributes"] = {**job.who.attributes, "File": file}
        self.who: Contestant = job.who.model_copy(update=update)
        self.scenario: Scenario = renamed(job.scenario, self._here)

    def told(self, played: Scenario) -> Scenario:
        """The scenario that was played, as it would have been on the driver's machine."""
        return renamed(played, {here: there for there, here in self._here.items()})
