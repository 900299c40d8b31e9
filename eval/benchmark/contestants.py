# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds controllers by name: policies from a module, checkpoints from a folder."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ns3_env.config.imports import import_named
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.suite import Contestant, Suite
from ns3_env.policies.policy import Policy
from ns3_env.policies.released import policy_path
from ns3_env.scenario import Controller
from ns3_env.task import observations as telemetry
from ns3_env.task.actions import make_action_map
from ns3_env.task.availability import unknown_fields

if TYPE_CHECKING:
    from ns3_env.agents.runs.checkpoint import TrainedPolicy


def join(suite: Suite, policies: Sequence[str], checkpoints: Sequence[str]) -> Suite:
    """The suite with those of the command line: "NAME=pkg.module:factory" and "NAME=PATH".

    Raises ScenarioError for text of another form, or a name that is taken.
    """
    added: list[Contestant] = []
    taken = suite.controllers
    for option, texts, form in (
        ("policy", policies, "NAME=pkg.module:factory"),
        ("checkpoint", checkpoints, "NAME=PATH"),
    ):
        for text in texts:
            name, equals, value = text.partition("=")
            if not (name and equals and value):
                raise ScenarioError(f"--{option}: expected {form}, found {text!r}")
            if option == "policy" and policy_path(Path(value)).exists():
                raise ScenarioError(
                    f"--policy: expected {form}, found {text!r}; a trained policy is --checkpoint {text}"
                )
            if option == "policy" and any(entry.name == name and entry.policy == value for entry in taken):
                continue  # the suite's own, see refuse_imports()
            if name in (entry.name for entry in (*taken, *added)):
                raise ScenarioError(f"--{option}: there is a controller {name!r} already")
            try:
                added.append(Contestant.model_validate({"name": name, option: value}))
            except ValueError:
                raise ScenarioError(
                    f"--{option}: the name {name!r}: only letters, digits and _ . + - please"
                ) from None
    return suite.model_copy(update={"controllers": [*suite.controllers, *added]})


def refuse_imports(suite: Suite, policies: Sequence[str]) -> None:
    """A file imports nothing by itself: each policy of the suite must be among those of the command line.

    Raises:
        ScenarioError: naming the first that is not, and what to say.
    """
    for i, entry in enumerate(suite.controllers):
        if entry.policy is not None and f"{entry.name}={entry.policy}" not in policies:
            raise ScenarioError(
                f"{suite.source}: controllers.{i}: policy: would run the code of {entry.policy!r}; if you "
                f"trust it: --policy {entry.name}={entry.policy}, or --allow-imports for all of the file's"
            )


def check(suite: Suite) -> Suite:
    """Loads every policy and checkpoint once; the suite then holds hashes of what they are made of, and a
    tuned controller's attributes in place of its checkpoint.

    Raises:
        ScenarioError: a controller, module, factory or checkpoint is not there or is not what it should be.
    """
    suite.check_controllers()
    under_tcp = suite.played_under("tcp")
    return suite.model_copy(
        update={"controllers": [_checked(entry, under_tcp.get(entry.name)) for entry in suite.controllers]}
    )


def _checked(entry: Contestant, under_tcp: str | None) -> Contestant:
    """``under_tcp``: a scenario of TCP that it plays, if there is one."""
    if entry.controller is not None:
        return entry
    found = _of_module(entry) if entry.policy is not None else _of_checkpoint(entry)
    if isinstance(found, Controller):
        return Contestant(name=entry.name, controller=found.name, attributes=found.attributes)
    if under_tcp is not None and (fault := unknown_fields("tcp", found.policy.fields)) is not None:
        raise ScenarioError(f"{entry.name} cannot play {under_tcp}: it observes {fault}")
    return entry.model_copy(update={"content": _content(entry)})


def load(entry: Contestant) -> TrainedPolicy:
    """The policy of an entry that is no controller of the simulator. Raises ScenarioError."""
    if entry.policy is not None:
        return _of_module(entry)
    found = _of_checkpoint(entry)
    if isinstance(found, Controller):
        raise ScenarioError(f"checkpoint {entry.name}: holds a controller of the simulator, no policy")
    return found


def _of_module(entry: Contestant) -> TrainedPolicy:
    from ns3_env.agents.configuration.config import EnvConfig, Named
    from ns3_env.agents.runs.checkpoint import TrainedPolicy

    place = f"policy {entry.name}"
    try:
        factory = import_named(entry.policy or "")
    except ConfigError as error:
        raise ScenarioError(f"{place}: {error}") from error
    if not callable(factory):
        raise ScenarioError(f"{place}: {entry.policy} is a {type(factory).__name__}: no function or class")
    try:
        policy = factory()
    except Exception as error:
        raise ScenarioError(f"{place}: {entry.policy}() raised {type(error).__name__}: {error}") from error
    if not isinstance(policy, Policy):
        missing = [name for name in ("fields", "action_map", "predict") if not hasattr(policy, name)]
        raise ScenarioError(
            f"{place}: {entry.policy}() gave {type(policy).__name__}, which has no {', '.join(missing)}; "
            "see ns3_env/policies/policy.py"
        )
    try:
        telemetry.field_indices(policy.fields)
        make_action_map(policy.action_map)
    except KeyError as error:
        raise ScenarioError(f"{place}: {error.args[0]}") from None
    return TrainedPolicy(policy, EnvConfig(fields=list(policy.fields), action=Named(name=policy.action_map)))


def _of_checkpoint(entry: Contestant) -> TrainedPolicy | Controller:
    from ns3_env.agents.runs.checkpoint import load_checkpoint

    try:
        return load_checkpoint(Path(entry.checkpoint or ""))
    except ConfigError as error:
        raise ScenarioError(f"checkpoint {entry.name}: {error}") from error


def _content(entry: Contestant) -> str:
    """Hash of the policy's source file or of the checkpoint's files: another one makes cells stale."""
    from ns3_env.agents.runs.checkpoint import policy_files

    found = hashlib.sha256()
    if entry.policy is not None:
        spec = importlib.util.find_spec(entry.policy.partition(":")[0])
        files = [Path(spec.origin)] if spec is not None and spec.origin is not None else []
    else:
        files = policy_files(Path(entry.checkpoint or ""))
    for file in files:
        found.update(file.name.encode() + b"\0" + file.read_bytes())
    return found.hexdigest()[:16]
