# SPDX-License-Identifier: GPL-2.0-or-later
"""Declares an experiment: its cases, its entries, the data extracted from each episode, its outcome."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from inspect import getdoc
from pathlib import Path
from typing import Any, Generic, TypeVar

from ns3_env.errors import ConfigError
from ns3_env.eval.papers.outcome import Outcome, nested
from ns3_env.eval.papers.runs import Port, Shares, count_shares
from ns3_env.policies.released import released
from ns3_env.programs.parameters import PAPER, PUBLISHED, parameters_of
from ns3_env.scenario import AGENT, Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import LocalPool
from ns3_env.simulator.pool import Play as Episode

#: Receives progress messages, a line each.
Progress = Callable[[str], None]
#: Files of trained policies, by the name they are run under.
Policies = Mapping[str, Path]
#: A scenario, or one as the simulator reads it.
Playable = Scenario | Mapping[str, Any]
Case = TypeVar("Case", bound=Hashable)
T = TypeVar("T")


@dataclass(frozen=True)
class Data(Generic[T]):
    """An experiment's episodes, as far as they are stored.

    Attributes:
        runs: results, usually by case, and by entry if there are entries.
        scale: share of the paper's size.
        progress: progress of the steps from here on.
        notes: notes on entries that are missing, or that differ from the released ones.
        supplied: names of the policies that this run supplies.
    """

    runs: T
    scale: float
    progress: Progress
    notes: tuple[str, ...] = ()
    supplied: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Setup:
    """Arguments of a run of an experiment.

    Attributes:
        simulator: simulator for episodes that run one after the other.
        scale: share of the paper's size, above 0.
        progress: receives a line on each running episode.
        policies: the user's policies, by name.
        seed: 1: the seeds that the cases declare; 2: the next ones.
        parameters: parameters of controllers, "paper" or "published"; None: as the experiment declares.
    """

    simulator: Simulator
    scale: float
    progress: Progress
    policies: Policies
    seed: int = 1
    parameters: str | None = None


#: Runs an experiment's episodes; see :class:`Cases` and functions that return it. Raises ScenarioError if
#: simulator refuses a scenario, SimulatorError if it fails.
Play = Callable[[Setup], Data[T]]


@dataclass(frozen=True)
class Experiment(Generic[T]):
    """Declares an experiment of a paper, over the function that makes its outcome.

    Attributes:
        name: name on the command line.
        source: figures and sections of the paper.
        play: function that runs the episodes, at a scale above 0.
        scale: scale of a run without ``--scale``; 1 is the paper's size.
        what_scales: description of the scaled quantity.
        entries: contenders, whose parameters may be chosen and to which a run may add policies; None: those
            that ``play`` has, if any.
        title: one line; "": the first of the function's docstring.
        outcome: function from the data to the outcome.
    """

    name: str
    source: str
    play: Play[T]
    scale: float
    what_scales: str
    entries: Entries | None = None
    title: str = ""
    outcome: Callable[[Data[T]], Outcome] = lambda data: Outcome()

    def __call__(self, outcome: Callable[[Data[T]], Outcome]) -> Experiment[T]:
        """Returns the experiment with its outcome."""
        title = self.title or (getdoc(outcome) or "").rstrip(".").replace("\n", " ")
        entries = self.entries or getattr(self.play, "entries", None)
        return replace(self, title=title, entries=entries, outcome=outcome)


experiment = Experiment


@dataclass(frozen=True)
class Entries:
    """Contenders: controllers with settings that they lack by themselves, and trained policies.

    Attributes:
        controllers: controllers of the simulator, with their attributes; "dcqcn+window" is a separate entry,
            of dcqcn.
        released: names of released policies.
        parameters: "paper": controllers have the values of their own papers, if known; "published":
            those of the published simulator.
    """

    controllers: Mapping[str, Mapping[str, bool]]
    released: tuple[str, ...] = ()
    parameters: str = PUBLISHED

    @property
    def names(self) -> tuple[str, ...]:
        """All, in the paper's order."""
        return (*self.controllers, *self.released)

    def present(self, files: Policies) -> tuple[Policies, tuple[str, ...]]:
        """The policies given, and available released ones whose names are not given; a note for
        each that is missing or not the released one."""
        policies = dict(files)
        notes = [f"{name.upper()} is a policy given for this run." for name in files]
        for name in self.released:
            if name in files:
                continue
            try:
                policies[name] = released(name)
            except ConfigError:
                notes.append(f"{name.upper()} did not play: no policy of that name is released.")
        return policies, tuple(notes)

    def each(self, base: Scenario, policies: Policies, parameters: str | None = None) -> dict[str, Scenario]:
        """The scenario under each entry, by name: the paper's controllers first, then the added policies.

        ``parameters`` replaces the entries' own setting.
        """
        present = [name for name in self.names if name in self.controllers or name in policies]
        return {
            name: base.under(AGENT).playing(policies[name])
            if name in policies
            else self._controlled(base, name, parameters or self.parameters)
            for name in (*present, *(name for name in policies if name not in self.names))
        }

    def _controlled(self, base: Scenario, name: str, parameters: str) -> Scenario:
        controller = name.partition("+")[0]
        preset = parameters_of(controller, parameters) if controller in PAPER else {}
        return base.under(controller, {**preset, **self.controllers[name]})


def in_parallel(
    scenarios: Mapping[Case, Playable], keep: Callable[[dict[str, Any]], T], progress: Progress
) -> dict[Case, T]:
    """Applies ``keep`` to the results of each case and discards the results. Raises as ``Play``.

    The last cases are started first: they are the largest, and would otherwise run by themselves at the end.
    """
    with LocalPool() as players:
        running = {players.submit(Episode(scenarios[case], keep)): case for case in reversed(list(scenarios))}
        results = {}
        for done in as_completed(running):
            results[running[done]] = done.result()
            progress(f"{len(results)} of {len(running)} episodes played")
    return {case: results[case] for case in scenarios}


def _seeded(setup: Setup, scenario: Playable) -> Playable:
    """The scenario, its seed moved on for a run's second, third, ... seed."""
    if isinstance(scenario, Scenario):
        return scenario.with_seed(scenario.seed + setup.seed - 1)
    return {**scenario, "seed": scenario.get("seed", 1) + setup.seed - 1}


@dataclass(frozen=True)
class Cases(Generic[T]):
    """Runs each case with one seed, under every entry if there are any, with the same flows for all.

    Attributes:
        cases: scenarios of a scale, by case.
        every: function from scenarios by (case, entry) to the values that are extracted from each.
        entries: contenders; None: each case runs unchanged.
    """

    cases: Callable[[float], Mapping[Any, Any]]
    every: Callable[[Setup, Any], Mapping[tuple[Any, Any], Any]]
    entries: Entries | None = None

    def __call__(self, setup: Setup) -> Data[T]:
        """Returns the extracted data by case, and by entry if there are any."""
        scenarios: dict[tuple[Any, str], Playable] = {}
        present, notes = self.entries.present(setup.policies) if self.entries else ({}, ())
        for case, base in self.cases(setup.scale).items():
            by_name = self.entries.each(base, present, setup.parameters) if self.entries else {"": base}
            scenarios |= {(case, name): _seeded(setup, scenario) for name, scenario in by_name.items()}
        runs: Any = nested(self.every(setup, scenarios))
        if not self.entries:
            runs = {case: by_name[""] for case, by_name in runs.items()}
        return Data(runs, setup.scale, setup.progress, notes, frozenset(setup.policies))


def episodes(
    cases: Callable[[float], Mapping[Case, Playable]], keep: Callable[[dict[str, Any]], T]
) -> Cases[dict[Case, T]]:
    """Runs the cases of a scale, and applies ``keep`` to each one's results."""
    return Cases(cases, lambda setup, scenarios: in_parallel(scenarios, keep, setup.progress))


def entered(
    entries: Entries, cases: Callable[[float], Mapping[Case, Scenario]], keep: Callable[[dict[str, Any]], T]
) -> Cases[dict[Case, dict[str, T]]]:
    """Runs each case under every entry, and applies ``keep`` to its results."""
    return Cases(cases, lambda setup, scenarios: in_parallel(scenarios, keep, setup.progress), entries)


def counted(
    cases: Callable[[float], Mapping[str, Scenario]],
    port: Port,
    bin_ns: Callable[[float], int],
    entries: Entries | None = None,
) -> Cases[Any]:
    """Runs scenarios in sequence: shares of a port's link, in bins whose width (ns) depends on the scale, as
    :func:`count_shares` has them, by case, and by entry if any."""

    def every(setup: Setup, scenarios: Mapping[tuple[str, str], Scenario]) -> dict[tuple[str, str], Shares]:
        shares = {}
        for key, scenario in scenarios.items():
            setup.progress(", ".join(key).removesuffix(", "))
            shares[key] = count_shares(setup.simulator, scenario, port, bin_ns(setup.scale))
        return shares

    return Cases(cases, every, entries)


def seeds(scale: float, count: int) -> range:
    """Seeds for a paper's repetitions at a scale, at least one."""
    return range(1, max(1, round(scale * count)) + 1)


def repeated(
    cases: Callable[[float], Mapping[Case, Scenario | Callable[[int], Scenario]]],
    keep: Callable[[dict[str, Any]], T],
    count: int,
) -> Play[dict[Case, list[T]]]:
    """Runs the cases of a scale with each of :func:`seeds`; a function makes the scenario of a seed.

    The second seed of a run selects the next, disjoint range of the same length.
    """

    def play(setup: Setup) -> Any:
        repetitions = seeds(setup.scale, count)
        first = (setup.seed - 1) * len(repetitions)
        scenarios = {
            (case, seed): record.with_seed(seed) if isinstance(record, Scenario) else record(seed)
            for case, record in cases(setup.scale).items()
            for seed in (first + x for x in repetitions)
        }
        runs = nested(in_parallel(scenarios, keep, setup.progress))
        table = {case: list(record.values()) for case, record in runs.items()}
        return Data(table, setup.scale, setup.progress)

    return play
