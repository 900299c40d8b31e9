# SPDX-License-Identifier: GPL-2.0-or-later
"""Entries: controllers, Python policies and checkpoints by name, and a scenario run under one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from ns3_env.agents.configuration.config import EnvConfig, Named
from ns3_env.agents.training.checkpoint import TrainedPolicy, resolve
from ns3_env.config.command_line import POLICY_HELP
from ns3_env.config.gone import refuse
from ns3_env.config.imports import import_named, is_code
from ns3_env.config.model import Strict, shown
from ns3_env.decision import observations
from ns3_env.decision.actions import make_action_map
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Placement, Policy
from ns3_env.policies.released import is_released, named_controller, policy_path
from ns3_env.programs.parameters import with_preset
from ns3_env.scenario import AGENT, POLICY, Controller, Scenario
from ns3_env.simulator import Simulator

#: A value of a grid, as stored in a table.
Parameter = bool | int | float | str

#: A name is also a folder's.
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=100)]


class OfGrid(Strict):
    """An entry that may expand to several: see ``ns3_env.eval.benchmark.grid``."""

    name: _Name
    grid: None = Field(default=None, description="axes; the suite lists the entries of the grid")
    family: str = Field(default="", description="the name in the file, of entries that a grid made")
    parameters: dict[str, Parameter] = Field(default_factory=dict, description="the point of the grid")

    @property
    def of(self) -> str:
        """The family's name, or the entry's own."""
        return self.family or self.name


def in_full(name: str) -> dict[str, Any]:
    """``hpcc`` means {name: hpcc, controller: hpcc}, a released policy's name for its checkpoint."""
    if is_released(Path(name)):
        return {"name": name, "checkpoint": name}
    controller = named_controller(name)
    attributes = {"attributes": dict(controller.attributes)} if controller.attributes else {}
    return {"name": name, "controller": controller.name, **attributes}


class Entry(OfGrid):
    """A decider: a controller of the simulator, a Python policy, or a trained checkpoint."""

    controller: str | None = Field(default=None, description="name in the simulator")
    policy: str | None = Field(default=None, description="pkg.module:factory")
    checkpoint: str | None = Field(
        default=None,
        description=POLICY_HELP,
    )
    placement: Placement = Field(
        default="simulator",
        description="place of a checkpoint's decisions: in the simulator, or in Python, asked by it",
    )
    attributes: dict[str, bool | int | float | str] = Field(
        default_factory=dict, description="of the simulator's controller"
    )
    content: str | None = Field(
        default=None, description="hash of the policy's source or the checkpoint; filled in by the benchmark"
    )

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        if isinstance(data, str):
            return in_full(data)
        for key in data if isinstance(data, Mapping) else ():
            refuse("key", str(key))
        return with_preset(data, "controller")

    @model_validator(mode="after")
    def _is_one_thing(self) -> Entry:
        kinds = ("controller", "policy", "checkpoint")
        keys = [key for key in kinds if getattr(self, key) is not None]
        if len(keys) != 1:
            what = " and ".join(keys) if keys else "nothing"
            raise ValueError(f"{self.name}: give one of controller, policy and checkpoint; there is {what}")
        if self.attributes and self.controller is None:
            raise ValueError(f"{self.name}: attributes belong to a controller of the simulator")
        return self

    def tuned(self, controller: Controller) -> Entry:
        """A copy with a controller and its attributes instead of the checkpoint."""
        return self.model_copy(
            update={"checkpoint": None, "controller": controller.name, "attributes": controller.attributes}
        )


def load(entry: Entry) -> TrainedPolicy | Controller:
    """The policy, or the tuned controller, of an entry's module or checkpoint. Raises ScenarioError."""
    return of_module(entry) if entry.policy is not None else of_checkpoint(entry)


def of_module(entry: Entry) -> TrainedPolicy:
    """Calls the factory of ``entry.policy``. Raises ScenarioError."""
    place = f"policy {entry.name}"
    if not is_code(entry.policy or ""):
        raise ScenarioError(
            f"{place}: expected pkg.module:name, found {shown(entry.policy)}; for the file or folder of a "
            "trained policy write checkpoint: instead of policy:"
        )
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
        observations.declared(policy.fields)
        make_action_map(policy.action_map)
    except (KeyError, ValueError) as error:
        raise ScenarioError(f"{place}: {error.args[0]}") from None
    return TrainedPolicy(policy, EnvConfig(fields=list(policy.fields), action=Named(name=policy.action_map)))


def of_checkpoint(entry: Entry) -> TrainedPolicy | Controller:
    """Loads ``entry.checkpoint``. Raises ScenarioError."""
    try:
        return resolve(Path(entry.checkpoint or "")).load()
    except ConfigError as error:
        raise ScenarioError(f"checkpoint {entry.name}: {error}") from error


def played_by(
    entry: Entry,
    scenario: Scenario,
    simulator: Simulator,
    recording: Callable[[Scenario], Scenario] = lambda scenario: scenario,
    *,
    columns: bool = False,
) -> tuple[Scenario, dict[str, Any]]:
    """The scenario as run under ``entry``, and its results.

    ``recording`` adds the recording to the scenario under ``entry``; ``columns``: see ``results_of``.
    Raises ScenarioError, SimulatorError.
    """
    entry_scenario, trained = under(entry, scenario)
    recorded_scenario = recording(entry_scenario)
    return recorded_scenario, results_of(recorded_scenario, trained, simulator, columns=columns)


def results_of(
    scenario: Scenario,
    trained: TrainedPolicy | None,
    simulator: Simulator,
    *,
    columns: bool = False,
) -> dict[str, Any]:
    """Runs an episode of the result of ``under``; a policy in Python has its own simulator.

    With ``columns``, long series may be arrays (``Simulator.play``). Raises ScenarioError, SimulatorError.
    """
    if trained is None:
        return simulator.play(scenario, columns=columns)
    from ns3_env.eval.episodes.policy import run_policy

    seed = scenario.seed
    return run_policy(trained.policy, trained.env, scenario, seed, seeds=[seed])[0].results


def under(entry: Entry, scenario: Scenario) -> tuple[Scenario, TrainedPolicy | None]:
    """The scenario under ``entry``, and its policy if that decides in Python. Raises ScenarioError."""
    if entry.controller is not None:
        return scenario.under(entry.controller, entry.attributes), None
    loaded = load(entry)
    if isinstance(loaded, Controller):
        return scenario.under(loaded.name, loaded.attributes), None
    agent_scenario = scenario.under(AGENT)
    if isinstance(loaded.policy, NetworkPolicy) and entry.placement == "simulator":
        return agent_scenario.playing(loaded.policy.path), None
    if isinstance(loaded.policy, NetworkPolicy):
        agent_scenario = agent_scenario.with_agent(loaded.policy.spec.agent_attributes)
    if loaded.clock is not None:  # the one that the policy was trained with
        agent_scenario = agent_scenario.model_copy(update={"clock": loaded.clock})
    return agent_scenario, loaded


def trained_policies(checkpoints: Sequence[str], names: Sequence[str]) -> dict[str, Path]:
    """The files of trained policies, by name. Raises ScenarioError, naming the option."""
    entries = named_entries("checkpoint", checkpoints, names)
    return {entry.name: policy_of(Path(entry.checkpoint or "")) for entry in entries}


def trained_entries(checkpoints: Sequence[str], names: Sequence[str]) -> Iterator[Entry]:
    """Yields entries that the simulator runs by itself: policies' files, and tuned controllers with their
    attributes. Raises ScenarioError, naming the option."""
    for entry in named_entries("checkpoint", checkpoints, names):
        content, path = of_checkpoint(entry), Path(entry.checkpoint or "")
        if isinstance(content, Controller) and content.name != POLICY:
            yield entry.tuned(content)
        else:
            yield entry.model_copy(update={"checkpoint": str(policy_of(path))})


#: Options that name a decider, and the form of their values.
FORMS = {"policy": "NAME=pkg.module:factory", "checkpoint": "NAME=PATH"}


def named_entries(option: str, texts: Sequence[str], others: Sequence[str]) -> list[Entry]:
    """The entries of a command line's ``--policy`` or ``--checkpoint``.

    Args:
        option: a key of ``FORMS``.
        texts: values of the option.
        others: names already in use.

    Raises ScenarioError for text of another form, or a name in use.
    """
    entries: list[Entry] = []
    for text in texts:
        name, _, value = text.partition("=")
        if not (name and value):
            raise ScenarioError(f"--{option}: expected {FORMS[option]}, found {shown(text)}")
        if option == "policy" and policy_path(Path(value)).exists():
            raise ScenarioError(
                f"--policy: expected {FORMS[option]}, found {shown(text)}; a trained policy is "
                f"--checkpoint {text}"
            )
        if name in others or name in (entry.name for entry in entries):
            raise ScenarioError(f"--{option}: there is a controller {name!r} already")
        try:
            entries.append(Entry.model_validate({"name": name, option: value}))
        except ValueError:
            raise ScenarioError(
                f"--{option}: the name {name!r}: only letters, digits and _ . + - please"
            ) from None
    return entries


def policy_of(path: Path) -> Path:
    """The file of a policy, however it is named. Raises ScenarioError."""
    try:
        policy = resolve(path).load()
    except ConfigError as error:
        raise ScenarioError(f"--checkpoint: {error}") from None
    if isinstance(policy, Controller) and policy.name == POLICY:  # the result of a search
        return Path(str(policy.attributes["File"]))
    if isinstance(policy, Controller) or not isinstance(policy.policy, NetworkPolicy):
        raise ScenarioError(
            f"--checkpoint: {path}: holds no policy's file that the simulator could play; "
            "a suite's `checkpoint:` and `eval compare policy` ask it in Python"
        )
    return policy.policy.path
