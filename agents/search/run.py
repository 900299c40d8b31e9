# SPDX-License-Identifier: GPL-2.0-or-later
"""A search run: generation by generation, each finished trial kept, clean stop on request."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from ns3_env.agents.configuration.run_folder import Outcome, RunFolder
from ns3_env.agents.search.arena import Arena, decisions_of, pool_of, score_of
from ns3_env.agents.search.attributes import AttributesSubject
from ns3_env.agents.search.objectives import Episodes, Judgement
from ns3_env.agents.search.optimiser import Optimiser
from ns3_env.agents.search.plan import Plan
from ns3_env.agents.search.subject import Point
from ns3_env.agents.search.trials import Trial, TrialLog
from ns3_env.agents.training.progress import LiveLine, RunLogger, StopRequest
from ns3_env.config.command_line import new_console
from ns3_env.config.folders import alone_in
from ns3_env.scenario.controllers import CONTROLLER_FILE, write_controller

#: A number of trials that no search reaches.
MANY = 2**31


def run(
    plan: Plan,
    parent: Path,
    console: Console | None = None,
) -> Outcome:
    """Searches as planned.

    Args:
        plan: plan returned by ``plan()``.
        parent: folder in which a new run's folder is made.
        console: console for the progress.

    Raises:
        ConfigError: the trials of the run's folder are another run's, or another search runs in it.
        ScenarioError: an episode cannot be scored.
        SimulatorError: a simulator failed; the trials before it are kept.
    """
    folder = plan.resume or RunFolder.create(parent, plan.config.name, plan.config, plan.curriculum.config)
    stop = StopRequest()
    with alone_in(folder.path, "search"), pool_of(plan.config.env) as pool, stop.listening():
        counts = plan.config.search.decisions is not None
        trials = TrialLog(folder.path / "trials.csv", plan.subject.columns, counts=counts)
        validations = TrialLog(folder.path / "validation.csv", plan.subject.columns, "generation", counts)
        print(f"run folder: {folder.path}", flush=True)
        arena = Arena(plan.subject, plan.objective, pool)
        search = _Search(plan, folder, trials, validations, arena, stop, console or new_console())
        try:
            search.run()
        finally:
            search.close()
    return stop.outcome(folder)


@dataclass(frozen=True)
class _Best:
    """State in a checkpoint: the best trial, or with validation the best mean of the search."""

    point: Point
    score: float


class _Search:
    """A run under way."""

    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        trials: TrialLog,
        validations: TrialLog,
        arena: Arena,
        stop: StopRequest,
        console: Console,
    ) -> None:
        self.config, self.subject = plan.config, plan.subject
        self.folder, self.log, self.validations = folder, trials, validations
        self.arena, self.stop = arena, stop
        search = plan.config.search
        self.optimiser = Optimiser(plan.subject.space, plan.config.seed, search.population, search.step)
        self.episodes = Episodes(plan.curriculum, search, plan.config.seed)
        self.best: _Best | None = None
        self.news = False  # trials were run that no checkpoint and no row of the log have
        unit = "trials" if search.decisions is None else "decisions"
        self.live = LiveLine(console, unit, search.decisions or search.trials or 0)
        self.generation = 0
        self.began, self.done_before = time.monotonic(), len(trials.trials)
        suffix = f"-{self.done_before}" if self.done_before else ""
        self.logger = RunLogger(folder.path, suffix)

    def run(self) -> None:
        """Runs the remaining trials, generation by generation, until trials or search end, or a stop."""
        start = self.subject.space.start
        if not self.log.trials:
            self.checkpoint(start)  # proof that checkpoints can be written
        self.live.start()
        if not (self.play(0, [start]) and self.validate(start)):
            return
        self.keep(range(1))
        done, trials = 1, self.config.search.trials or MANY
        while not (spent := self.spent(done)) and not self.ended:
            points = self.optimiser.ask()
            self.generation += 1
            numbers = range(done, min(done + len(points), trials))
            if not self.play(done, points[: len(numbers)]):
                self.keep([number for number in numbers if number in self.log.trials])
                return
            if len(numbers) == len(points):
                self.optimiser.tell([self.log.trials[number].score for number in numbers])
                if not self.validate(self.optimiser.mean):
                    return
            self.keep(numbers)
            done = numbers.stop
        if not spent:
            print(f"the search has converged after {done} trials: {self.ended}")

    def spent(self, done: int) -> bool:
        """Returns whether the budget is spent after this number of trials and the validations up to this
        generation."""
        search = self.config.search
        decisions = self.log.decisions(done) + self.validations.decisions(self.generation + 1)
        return done >= (search.trials or MANY) or (
            search.decisions is not None and decisions >= search.decisions
        )

    @property
    def ended(self) -> str:
        """Reason why no better point is expected, "" while one is, and always if the episodes change."""
        return self.optimiser.ended if self.config.search.validation is None else ""

    def play(self, first: int, points: Sequence[Point]) -> bool:
        """Runs those trials that are not done; whether all are now. The first has the number ``first``."""
        described = {first + i: self.subject.describe(point) for i, point in enumerate(points)}
        todo = {
            first + i: point
            for i, point in enumerate(points)
            if self.log.score(first + i, described[first + i]) is None
        }

        def done(number: int, judged: list[Judgement]) -> None:
            self.news = True
            self.log.add(Trial(number, described[number], self.score(judged), decisions_of(judged)))

        if todo:
            self.arena.play(todo, self.episodes.of_generation(self.generation), done, self.stopped)
        if self.config.search.validation is None:
            for i, point in enumerate(points):
                if (trial := self.log.trials.get(first + i)) is not None:
                    self.improve(point, trial.score)
        return all(number in self.log.trials for number in described) and not self.stop.asked

    def validate(self, point: Point) -> bool:
        """Runs the held-back episodes if this generation has them; False if it was stopped."""
        validation = self.config.search.validation
        if validation is None or self.generation % validation.every:
            return True
        described = self.subject.describe(point)

        def done(number: int, judged: list[Judgement]) -> None:
            self.news = True
            self.validations.add(Trial(number, described, self.score(judged), decisions_of(judged)))
            self.record_validation(judged)

        if self.validations.score(self.generation, described) is None:
            self.arena.play({self.generation: point}, self.episodes.of_validation(), done, self.stopped)
        trial = self.validations.trials.get(self.generation)
        if trial is not None:
            self.improve(point, trial.score)
        return trial is not None and not self.stop.asked

    def score(self, judged: Sequence[Judgement]) -> float:
        """Returns the score of a point, by its episodes."""
        return score_of(judged)

    def stopped(self) -> bool:
        """Returns whether a stop was requested; meanwhile shows the progress."""
        self.live.show(self.done, self.line)
        return self.stop.asked

    @property
    def done(self) -> int:
        """Trials, or decisions if those are the budget."""
        if self.config.search.decisions is None:
            return len(self.log.trials)
        return self.log.decisions(MANY) + self.validations.decisions(MANY)

    def improve(self, point: Point, score: float) -> None:
        """Remembers a point that is better than the best before."""
        if self.best is None or score > self.best.score:
            self.best = _Best(point, score)

    def keep(self, numbers: Sequence[int]) -> None:
        """Saves a checkpoint of the best, and a row of the log, if there is a new result."""
        if self.best is None or not self.news or not numbers:
            return
        self.news = False
        self.checkpoint(self.best.point)
        self.logger.record("tuning/best", self.best.score)
        self.logger.record("tuning/mean", float(np.mean([self.log.trials[x].score for x in numbers])))
        self.logger.record("tuning/spread", self.optimiser.spread)
        self.logger.record("tuning/generation", self.generation)
        if self.config.search.decisions is not None:
            self.logger.record("tuning/decisions", self.done)
        for name, value in self.subject.describe(self.best.point).items():
            if not isinstance(value, str):
                self.logger.record(f"best/{name}", value)
        self.logger.dump(len(self.log.trials))

    def record_validation(self, judged: Sequence[Judgement]) -> None:
        """Puts the score, its components, and that of each stage into the log's next row."""
        self.logger.record("validation/score", self.score(judged))
        for name in judged[0].terms:
            self.logger.record(f"validation/{name}", float(np.mean([x.terms[name] for x in judged])))
        stages = [episode.stage for episode in self.episodes.of_validation()]
        for stage in dict.fromkeys(stages):
            of_stage = [x for x, name in zip(judged, stages, strict=True) if name == stage]
            self.logger.record(f"validation_stage/{stage}", score_of(of_stage))

    def checkpoint(self, point: Point) -> None:
        """Saves the controller that a point represents under the number of trials done, or of decisions."""
        trials = len(self.log.trials)
        state = {"trials": trials, "score": None if self.best is None else self.best.score}
        if self.config.search.decisions is not None:
            state["decisions"] = self.done
        keep = self.config.keep_checkpoints
        self.folder.save_checkpoint(self.done, lambda folder: self.subject.save(point, folder), state, keep)
        if isinstance(self.subject, AttributesSubject):
            write_controller(self.folder.path / CONTROLLER_FILE, self.subject.controller(point))

    def line(self) -> list[str]:
        """Generation, trials per minute, the best score so far and the start's."""
        minutes = (time.monotonic() - self.began) / 60
        rate = (len(self.log.trials) - self.done_before) / max(minutes, 1e-9)
        parts = [f"generation {self.generation}", f"{rate:.0f}/min"]
        log = self.log if self.config.search.validation is None else self.validations
        if self.best is not None and 0 in log.trials:
            what = "reward" if self.config.objective is None else "score"
            parts.append(f"{what} {self.best.score:.4f} (start {log.trials[0].score:.4f})")
        return parts

    def close(self) -> None:
        """Removes the bar from the terminal, closes the logs."""
        self.live.close()
        self.logger.close()
