# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds controllers by name: policies from a module, checkpoints from a folder."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from ns3_env.config.imports import is_code
from ns3_env.decision.task import unknown_fields
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.episodes.entry import Entry, named_entries, of_checkpoint, of_module
from ns3_env.scenario import Controller


def join(suite: Suite, policies: Sequence[str], checkpoints: Sequence[str]) -> Suite:
    """The suite with those of the command line: "NAME=pkg.module:factory" and "NAME=PATH".

    Raises ScenarioError for text of another form, or a name in use.
    """
    policies_of_suite = {
        f"{entry.name}={entry.policy}" for entry in suite.controllers
    }  # see refuse_imports()
    added: list[Entry] = []
    for option, texts in (
        ("policy", [x for x in policies if x not in policies_of_suite]),
        ("checkpoint", checkpoints),
    ):
        names = [entry.name for entry in (*suite.controllers, *added)]
        added += named_entries(option, texts, names)
    return suite.model_copy(update={"controllers": [*suite.controllers, *added]})


def refuse_imports(suite: Suite, policies: Sequence[str]) -> None:
    """A file imports nothing by itself: each policy of the suite must be among those of the command line.

    Raises:
        ScenarioError: naming the first that is not, and the option to add.
    """
    for i, entry in enumerate(suite.controllers):
        if (
            entry.policy is not None
            and is_code(entry.policy)
            and f"{entry.name}={entry.policy}" not in policies
        ):
            raise ScenarioError(
                f"{suite.source}: controllers.{i}: policy: would run the code of {entry.policy!r}; if you "
                f"trust it: --policy {entry.name}={entry.policy}, or --allow-imports for all of the file's"
            )


def check(suite: Suite) -> Suite:
    """Loads every policy and checkpoint once; the suite then contains hashes of their content, and a
    tuned controller's attributes in place of its checkpoint.

    Raises:
        ScenarioError: a controller, module, factory or checkpoint is missing or invalid.
    """
    suite.check_controllers()
    under_tcp = suite.played_under("tcp")
    return suite.model_copy(
        update={"controllers": [_checked(entry, under_tcp.get(entry.name)) for entry in suite.controllers]}
    )


def _checked(entry: Entry, under_tcp: str | None) -> Entry:
    """``under_tcp``: a scenario of TCP in which it runs, if any."""
    if entry.controller is not None:
        return entry
    decider = of_module(entry) if entry.policy is not None else of_checkpoint(entry)
    if isinstance(decider, Controller):
        return entry.tuned(decider)
    if under_tcp is not None and (fault := unknown_fields("tcp", decider.policy.fields)) is not None:
        raise ScenarioError(f"{entry.name} cannot play {under_tcp}: it observes {fault}")
    return entry.model_copy(update={"content": _content(entry)})


def _content(entry: Entry) -> str:
    """Hash of the policy's source file or of the checkpoint's files: another one makes cells stale."""
    from ns3_env.agents.training.checkpoint import resolve

    digest = hashlib.sha256()
    if entry.policy is not None:
        spec = importlib.util.find_spec(entry.policy.partition(":")[0])
        files = [Path(spec.origin)] if spec is not None and spec.origin is not None else []
    else:
        files = resolve(Path(entry.checkpoint or "")).files
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
