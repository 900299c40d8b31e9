# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: episodes of their cases under their entries, extracted data, their outcome."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import as_completed
from dataclasses import dataclass
from inspect import getdoc
from typing import Any, Generic, TypeVar

from ns3_env.eval.papers.declared import Declared, Entries, Policies, declared
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


@dataclass(frozen=True)
class Data(Generic[T]):
    """An experiment's episodes, as far as they are stored.

    Attributes:
        runs: results, usually by case, and by entry if there are entries.
        scale: share of the paper's size.
        declared: declaration of the experiment.
        notes: notes on entries that are missing, or that differ from the released ones.
        supplied: names of the policies that this run supplies.
    """

    runs: T
    scale: float
    declared: Declared
    notes: tuple[str, ...] = ()
    supplied: frozenset[str] = frozenset()

    def scenario(self, case: Any) -> Scenario:
        """The declared scenario of a case."""
        return self.declared.case(case, self.scale)


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


#: Runs an experiment's episodes, and returns their data. Raises ScenarioError if the simulator refuses a
#: scenario, SimulatorError if it fails.
Play = Callable[[Setup], T]
#: Runs scenarios by (case, entry or seed), and extracts data from the results of each.
Every = Callable[[Setup, Mapping[tuple[Any, Any], Any]], Mapping[tuple[Any, Any], Any]]


@dataclass(frozen=True)
class Experiment(Generic[T]):
    """An experiment of a paper.

    Attributes:
        name: name on the command line.
        title: one line.
        declared: its declaration; of ``repetitions``, the second seed of a run selects the next, disjoint
            range of the same length.
        outcome: function from the data to the outcome.
        cases: scenarios of a scale, by case, or functions that make the scenario of a seed.
        every: function that runs them.
        entries: contenders, whose parameters may be chosen and to which a run may add policies, if any.
        play: function that runs the episodes instead of ``every``.
    """

    name: str
    title: str
    declared: Declared
    outcome: Callable[[Data[T]], Outcome]
    cases: Callable[[float], Mapping[Any, Any]]
    every: Every
    entries: Entries | None = None
    play: Play[T] | None = None

    def run(self, setup: Setup) -> Outcome:
        """Runs the episodes and evaluates them."""
        present, notes = self.entries.present(setup.policies) if self.entries else ({}, ())
        runs = self.play(setup) if self.play else self.runs(setup, present)
        return self.outcome(Data(runs, setup.scale, self.declared, notes, frozenset(setup.policies)))

    def runs(self, setup: Setup, present: Policies) -> Any:
        """Runs each case under every entry, with the same flows for all, or with several seeds, or once.

        Returns the extracted data by case; of each case by entry, or a list over seeds, if it has them.
        """
        scenarios = {
            (case, name): scenario
            for case, base in self.cases(setup.scale).items()
            for name, scenario in self._several(base, present, setup).items()
        }
        runs = nested(self.every(setup, scenarios))
        if self.declared.repetitions:
            return {case: list(by_seed.values()) for case, by_seed in runs.items()}
        return runs if self.entries else {case: by_name[""] for case, by_name in runs.items()}

    def _several(self, base: Any, present: Policies, setup: Setup) -> dict[Any, Playable]:
        """The scenarios of one case, by entry or seed."""
        later = setup.seed - 1
        if self.declared.repetitions:
            several = seeds(setup.scale, self.declared.repetitions)
            make = base.with_seed if isinstance(base, Scenario) else base
            return {seed: make(seed + later * len(several)) for seed in several}
        if not isinstance(base, Scenario):  # as the simulator reads it
            return {"": {**base, "seed": base.get("seed", 1) + later}}
        base = base.with_seed(base.seed + later)
        return dict(self.entries.each(base, present, setup.parameters)) if self.entries else {"": base}


def experiment(
    name: str,
    keep: Callable[[dict[str, Any]], Any] = lambda results: results,
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
        cases, entries: see :class:`Experiment`; None: the declared ones.
        every: function that runs all scenarios; None: one that runs them in parallel and applies ``keep``.
        play: see :class:`Experiment`.
        title: one line; "": the first of the function's docstring.
    """
    declaration = declared(name)

    def of(outcome: Callable[[Data[T]], Outcome]) -> Experiment[T]:
        return Experiment(
            name,
            title or (getdoc(outcome) or "").rstrip(".").replace("\n", " "),
            declaration,
            outcome,
            cases or declaration.cases,
            every or in_pool(keep),
            entries or declaration.entries,
            play,
        )

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
