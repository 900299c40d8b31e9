# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: episodes of their cases under their entries, extracted data, their outcome."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from inspect import getdoc
from typing import Any, Generic, TypeVar

from ns3_env.eval.papers.declared import Declared, declared
from ns3_env.eval.papers.entries import Entries, Policies
from ns3_env.eval.papers.outcome import Outcome, nested
from ns3_env.eval.papers.runs import Port, Shares, count_shares
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import LocalPool
from ns3_env.simulator.pool import Play as Episode

#: Receives progress messages, a line each.
Progress = Callable[[str], None]
#: A scenario, or one as the simulator reads it.
Playable = Scenario | Mapping[str, Any]
Case = TypeVar("Case", bound=Hashable)
T = TypeVar("T")
#: Declaration of data without one.
NOTHING = Declared(source="", what_scales="")


@dataclass(frozen=True)
class Data(Generic[T]):
    """An experiment's episodes, as far as they are stored.

    Attributes:
        runs: results, usually by case, and by entry if there are entries.
        scale: share of the paper's size.
        notes: notes on entries that are missing, or that differ from the released ones.
        supplied: names of the policies that this run supplies.
        declared: declaration of the experiment.
    """

    runs: T
    scale: float
    notes: tuple[str, ...] = ()
    supplied: frozenset[str] = frozenset()
    declared: Declared = NOTHING

    def scenario(self, case: Any) -> Scenario:
        """The declared scenario of a case."""
        return self.declared.cases(self.scale)[case]


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


#: Runs an experiment's episodes; see :class:`Cases`. Raises ScenarioError if
#: simulator refuses a scenario, SimulatorError if it fails.
Play = Callable[[Setup], Data[T]]


@dataclass(frozen=True)
class Experiment(Generic[T]):
    """An experiment of a paper.

    Attributes:
        name: name on the command line.
        declared: its declaration.
        title: one line.
        play: function that runs the episodes, at a scale above 0.
        entries: contenders, whose parameters may be chosen and to which a run may add policies, if any.
        outcome: function from the data to the outcome.
    """

    name: str
    declared: Declared
    title: str
    play: Play[T]
    entries: Entries | None
    outcome: Callable[[Data[T]], Outcome]

    def run(self, setup: Setup) -> Outcome:
        """Runs the episodes and evaluates them."""
        return self.outcome(replace(self.play(setup), declared=self.declared))


def experiment(
    name: str,
    keep: Callable[[dict[str, Any]], Any] | None = None,
    *,
    cases: Callable[[float], Mapping[Any, Any]] | None = None,
    every: Every | None = None,
    entries: Entries | None = None,
    play: Play[Any] | None = None,
    title: str = "",
) -> Callable[[Callable[[Data[T]], Outcome]], Experiment[T]]:
    """Makes an experiment of its declaration and of the function from its data to its outcome.

    Args:
        name: name of the declaration.
        keep: function from the results of an episode to the data that is stored.
        cases: scenarios of a scale, by case; None: the declared ones.
        every: function that runs all scenarios; None: one that runs them in parallel and applies ``keep``.
        entries: contenders; None: the declared ones, if any.
        play: function that runs the episodes; None: :class:`Cases` of all these.
        title: one line; "": the first of the function's docstring.
    """
    declaration = declared(name)
    entries = entries or declaration.entries
    if play is None:
        every = every or in_pool(keep or (lambda results: results))
        play = Cases(cases or declaration.cases, every, entries, declaration.repetitions)

    def of(outcome: Callable[[Data[T]], Outcome]) -> Experiment[T]:
        line = title or (getdoc(outcome) or "").rstrip(".").replace("\n", " ")
        return Experiment(name, declaration, line, play, entries, outcome)

    return of


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


#: Runs scenarios by (case, entry or seed), and extracts data from the results of each.
Every = Callable[[Setup, Mapping[tuple[Any, Any], Any]], Mapping[tuple[Any, Any], Any]]


def in_pool(keep: Callable[[dict[str, Any]], Any]) -> Every:
    """Runs scenarios on all cores, and applies ``keep`` to the results of each."""
    return lambda setup, scenarios: in_parallel(scenarios, keep, setup.progress)


def link_shares(port: Port, bin_ns: Callable[[float], int]) -> Every:
    """Runs scenarios in sequence, and counts each flow's share of a port's link as :func:`count_shares` does,
    in bins whose width (ns) depends on the scale."""

    def every(setup: Setup, scenarios: Mapping[tuple[Any, Any], Scenario]) -> dict[tuple[Any, Any], Shares]:
        counted = {}
        for key, scenario in scenarios.items():
            setup.progress(", ".join(key).removesuffix(", "))
            counted[key] = count_shares(setup.simulator, scenario, port, bin_ns(setup.scale))
        return counted

    return every


def seeds(scale: float, count: int) -> range:
    """Seeds for a paper's repetitions at a scale, at least one."""
    return range(1, max(1, round(scale * count)) + 1)


@dataclass(frozen=True)
class Cases(Generic[T]):
    """Runs each case under every entry, with the same flows for all, or with several seeds, or once.

    Attributes:
        cases: scenarios of a scale, by case, or functions that make the scenario of a seed.
        every: function that runs them.
        entries: contenders, if any.
        repetitions: number of seeds at scale 1 (:func:`seeds`); 0: the case's own seed. The second seed of a
            run selects the next, disjoint range of the same length.
    """

    cases: Callable[[float], Mapping[Any, Any]]
    every: Every
    entries: Entries | None = None
    repetitions: int = 0

    def __call__(self, setup: Setup) -> Data[T]:
        """Returns the extracted data by case; of each case by entry, or a list over seeds, if it has them."""
        present, notes = self.entries.present(setup.policies) if self.entries else ({}, ())
        scenarios = {
            (case, name): scenario
            for case, base in self.cases(setup.scale).items()
            for name, scenario in self._several(base, present, setup).items()
        }
        runs: Any = nested(self.every(setup, scenarios))
        if self.repetitions:
            runs = {case: list(by_seed.values()) for case, by_seed in runs.items()}
        elif not self.entries:
            runs = {case: by_name[""] for case, by_name in runs.items()}
        return Data(runs, setup.scale, notes, frozenset(setup.policies))

    def _several(self, base: Any, present: Policies, setup: Setup) -> dict[Any, Playable]:
        """The scenarios of one case, by entry or seed."""
        later = setup.seed - 1
        if self.repetitions:
            several = seeds(setup.scale, self.repetitions)
            make = base.with_seed if isinstance(base, Scenario) else base
            return {seed: make(seed + later * len(several)) for seed in several}
        if not isinstance(base, Scenario):  # as the simulator reads it
            return {"": {**base, "seed": base.get("seed", 1) + later}}
        base = base.with_seed(base.seed + later)
        return dict(self.entries.each(base, present, setup.parameters)) if self.entries else {"": base}
