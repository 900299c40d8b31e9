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


#: Runs an experiment's episodes; see :class:`Cases` and functions that return it. Raises ScenarioError if
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
    play: Play[Any] | None = None,
    title: str = "",
) -> Callable[[Callable[[Data[T]], Outcome]], Experiment[T]]:
    """Makes an experiment of its declaration and of the function from its data to its outcome.

    Args:
        name: name of the declaration.
        keep: function from the results of an episode to the data that is stored.
        cases: scenarios of a scale, by case; None: the declared ones.
        play: function that runs the episodes; None: each case runs under every entry, if any, or with several
            seeds, as the declaration has them.
        title: one line; "": the first of the function's docstring.
    """
    declaration = declared(name)
    if play is None:
        assert keep is not None
        cases, entries = cases or declaration.cases, declaration.entries
        if declaration.repetitions:
            play = repeated(cases, keep, declaration.repetitions)
        else:
            play = entered(entries, cases, keep) if entries else episodes(cases, keep)

    def of(outcome: Callable[[Data[T]], Outcome]) -> Experiment[T]:
        line = title or (getdoc(outcome) or "").rstrip(".").replace("\n", " ")
        return Experiment(name, declaration, line, play, getattr(play, "entries", None), outcome)

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
        return Data(runs, setup.scale, notes, frozenset(setup.policies))


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
    name: str,
    port: Port,
    bin_ns: Callable[[float], int],
    cases: Callable[[float], Mapping[str, Scenario]] | None = None,
) -> Cases[Any]:
    """Runs the cases of an experiment in sequence: shares of a port's link, as :func:`count_shares` has them,
    by case, and by entry if any. The width of bins (ns) depends on the scale; ``cases``: instead of the
    declared ones."""
    declaration = declared(name)

    def every(setup: Setup, scenarios: Mapping[tuple[str, str], Scenario]) -> dict[tuple[str, str], Shares]:
        shares = {}
        for key, scenario in scenarios.items():
            setup.progress(", ".join(key).removesuffix(", "))
            shares[key] = count_shares(setup.simulator, scenario, port, bin_ns(setup.scale))
        return shares

    return Cases(cases or declaration.cases, every, declaration.entries)


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
        return Data({case: list(record.values()) for case, record in runs.items()}, setup.scale)

    return play
