# SPDX-License-Identifier: GPL-2.0-or-later
"""How does a search go? Trials on the curriculum's episodes, each kept when it is done, stopped cleanly."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from stable_baselines3.common.logger import Logger, make_output_format

from agents.search.config import Parameter, TuneConfig
from agents.search.objective import make_score, with_recordings
from agents.search.optimiser import Optimiser, Values
from agents.search.parameters import with_starts
from agents.search.trials import Trial, TrialLog
from agents.training.checkpoint import controller_layout, write_layout
from agents.training.curriculum import Curriculum, CurriculumConfig
from agents.training.environment import check_env, check_evaluation
from agents.training.inputs import Inputs
from agents.training.progress import LiveLine, StopRequest
from agents.training.run_folder import Outcome, RunFolder
from ns3_env.episode_pool import Players
from ns3_env.errors import ConfigError, ScenarioError, SimulatorError
from ns3_env.scenario import Controller
from ns3_env.strict import validate
from ns3_env.vec_env import episode_seed

#: Keys of the configuration that change no score, and so may change when a run goes on.
_SCORELESS_KEYS = (
    "search.trials",
    "env.simulators",
    "env.hang_timeout_s",
    "keep_checkpoints",
    "controller.compare",
    "evaluation",
    "versions",
)


@dataclass(frozen=True)
class Plan:
    """A run that has been checked: nothing of it has begun. ``parameters`` all have a start."""

    config: TuneConfig
    curriculum: Curriculum
    parameters: dict[str, Parameter]
    resume: RunFolder | None


def plan(inputs: Inputs, overrides: Sequence[str] = ()) -> Plan:
    """Checks everything a run needs.

    Args:
        inputs: what ``read_inputs()`` returned.
        overrides: ``key=value`` for the configuration.

    Raises:
        ConfigError: naming file and key.
        ScenarioError: a stage's scenario is wrong, or is none that can be judged.
    """
    inputs = inputs.with_overrides(overrides)
    config = validate(inputs.config, TuneConfig, inputs.config_source)
    if inputs.recorded is not None:
        _check_same_scores(validate(inputs.recorded, TuneConfig, inputs.config_source), config)
    env = config.env.of_agent()
    check_env(env, inputs.config_source)
    check_evaluation(env, config.evaluation, inputs.config_source)
    where = inputs.curriculum_source
    stages = validate(inputs.curriculum, CurriculumConfig, where)
    curriculum = Curriculum(stages, env, config.seed, where)
    for stage, scenario in zip(stages.stages, curriculum.scenarios, strict=True):
        if len(set(scenario.flows().dst)) > 1:
            raise ScenarioError(
                f"{where}: stage {stage.name!r}: flows have several receivers; rewards are read from the one "
                "queue that flows into one receiver share: use an incast"
            )
    parameters = with_starts(config.controller, inputs.config_source, config.env.hang_timeout_s)
    return Plan(config, curriculum, parameters, inputs.resume)


def _check_same_scores(before: TuneConfig, now: TuneConfig) -> None:
    """Raises ConfigError where trials that are done would get another score, or others would be asked."""
    then, today = (_flat(config.model_dump(mode="json")) for config in (before, now))
    for key in sorted({*then, *today}):
        if then.get(key) != today.get(key) and not key.startswith(_SCORELESS_KEYS):
            raise ConfigError(
                f"command line: {key}: a run that goes on keeps it ({then.get(key)}): begin a new run; "
                f"only {', '.join(_SCORELESS_KEYS[:-1])} may change"
            )


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in data.items():
        found |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return found


def run(plan: Plan, parent: Path, console: Console | None = None) -> Outcome:
    """Tunes as planned.

    Args:
        plan: what ``plan()`` returned.
        parent: folder in which a new run's folder is made.
        console: where the progress is shown.

    Raises:
        ConfigError: the trials of the run's folder are another run's.
        ScenarioError: an episode cannot be scored.
        SimulatorError: a simulator failed; the trials before it are kept.
    """
    folder = plan.resume or RunFolder.create(
        parent,
        plan.config.name,
        plan.config.model_dump(mode="json", exclude={"versions"}),
        plan.curriculum.config.model_dump(mode="json"),
    )
    log = TrialLog(folder.path / "trials.csv", list(plan.parameters))
    print(f"run folder: {folder.path}", flush=True)
    stop = StopRequest()
    env = plan.config.env
    with Players(env.simulators, hang_timeout_s=env.hang_timeout_s) as players, stop.listening():
        tuning = _Tuning(plan, folder, log, players, stop, console or Console())
        try:
            tuning.run()
        finally:
            tuning.close()
    if stop.asked:
        print(f"interrupted; go on with: python train.py --resume {folder.path}", file=sys.stderr, flush=True)
    return Outcome(folder, stop.asked)


class _Tuning:
    """A run under way."""

    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        log: TrialLog,
        players: Players,
        stop: StopRequest,
        console: Console,
    ) -> None:
        self.config, self.parameters = plan.config, plan.parameters
        self.folder, self.log, self.players, self.stop = folder, log, players, stop
        self.score = make_score(plan.config.env)
        search = plan.config.search
        self.optimiser = Optimiser(plan.parameters, plan.config.seed, search.population, search.step)
        self.episodes = [
            (stage.name, scenario, episode_seed(plan.config.seed, number * search.episodes + i))
            for number, (stage, scenario) in enumerate(
                zip(plan.curriculum.config.stages, plan.curriculum.scenarios, strict=True)
            )
            for i in range(search.episodes)
        ]
        self.live = LiveLine(console, "trials", search.trials)
        self.generation = 0
        self.began, self.done_before = time.monotonic(), len(log.trials)
        suffix = f"-{self.done_before}" if self.done_before else ""
        outputs = [make_output_format(form, str(folder.path), suffix) for form in ("csv", "tensorboard")]
        self.logger = Logger(str(folder.path), outputs)

    def run(self) -> None:
        """Plays what is not done yet, generation by generation, until trials or search end, or a stop."""
        if not self.log.trials:
            self.checkpoint(self.optimiser.start())  # proof that checkpoints can be written
        self.live.start()
        if not self.play(0, [self.optimiser.start()]):
            return
        done, trials = 1, self.config.search.trials
        while done < trials and not self.optimiser.ended:
            asked = self.optimiser.ask()
            self.generation += 1
            if not self.play(done, asked[: trials - done]):
                return
            numbers = range(done, min(done + len(asked), trials))
            if len(numbers) == len(asked):
                self.optimiser.tell([self.log.trials[number].score for number in numbers])
            done = numbers.stop
        if done < trials:
            print(f"the search has converged after {done} of {trials} trials: {self.optimiser.ended}")

    def play(self, first: int, settings: Sequence[Values]) -> bool:
        """Plays those trials that are not done; whether all are now. The first has the number ``first``."""
        todo = [
            (number, values)
            for number, values in enumerate(settings, start=first)
            if self.log.score(number, values) is None
        ]
        if not todo:
            return True
        scores = {number: [math.nan] * len(self.episodes) for number, _ in todo}
        playing: dict[Future[float], tuple[int, int]] = {}
        for number, values in todo:
            for i, (_, scenario, seed) in enumerate(self.episodes):
                played = with_recordings(scenario, self.controller(values), seed)
                playing[self.players.submit(played, self.score)] = number, i
        left = dict.fromkeys(scores, len(self.episodes))
        values_of = dict(todo)
        while playing:
            for future in wait(playing, timeout=0.2, return_when=FIRST_COMPLETED).done:
                number, i = playing.pop(future)
                scores[number][i] = self.checked(future, values_of[number], i)
                left[number] -= 1
                if left[number] == 0:
                    self.log.add(Trial(number, values_of[number], float(np.mean(scores[number]))))
            self.live.show(len(self.log.trials), self.line)
            if self.stop.asked:
                playing = {future: at for future, at in playing.items() if not future.cancel()}
        self.keep([self.log.trials[number].score for number in scores if number in self.log.trials])
        return not any(left.values()) and not self.stop.asked

    def checked(self, played: Future[float], values: Values, episode: int) -> float:
        """An episode's score. Raises ScenarioError where it has none, SimulatorError naming the settings."""
        try:
            score = played.result()
        except SimulatorError as error:
            raise type(error)(f"with {values}: {error}") from error
        if math.isnan(score):
            raise ScenarioError(
                f"curriculum: stage {self.episodes[episode][0]!r}: no flow gets an answer within its "
                "time_limit_ns, so there is nothing to judge: make it longer"
            )
        return score

    def keep(self, scores: Sequence[float]) -> None:
        """Saves a checkpoint of the best settings, and a row of the log."""
        best = self.log.best
        if best is None or not scores:
            return
        self.checkpoint(best.values)
        self.logger.record("tuning/best", best.score)
        self.logger.record("tuning/mean", float(np.mean(scores)))
        self.logger.record("tuning/spread", self.optimiser.spread)
        self.logger.record("tuning/generation", self.generation)
        for name, value in best.values.items():
            self.logger.record(f"best/{name}", value)
        self.logger.dump(len(self.log.trials))

    def controller(self, values: Values) -> Controller:
        """The controller with these values of its parameters."""
        config = self.config.controller
        searched = {name: self.parameters[name].attribute(value) for name, value in values.items()}
        return Controller(name=config.name, attributes={**config.attributes, **searched})

    def checkpoint(self, values: Values) -> None:
        """Saves the controller with these values under the number of trials done."""
        controller = self.controller(values)
        best, done = self.log.best, len(self.log.trials)

        def write(folder: Path) -> None:
            write_layout(folder, controller_layout(controller))

        state = {"trials": done, "score": None if best is None else best.score}
        self.folder.save_checkpoint(done, write, state, self.config.keep_checkpoints)

    def line(self) -> str:
        """Generation, the best reward so far and the start's, trials per minute."""
        parts = [f"generation {self.generation}"]
        if self.log.best is not None and 0 in self.log.trials:
            start = self.log.trials[0].score
            parts.append(f"reward {self.log.best.score:.4f} (start {start:.4f})")
        minutes = (time.monotonic() - self.began) / 60
        parts.append(f"{(len(self.log.trials) - self.done_before) / max(minutes, 1e-9):.0f}/min")
        return " · ".join(parts)

    def close(self) -> None:
        """Takes the bar off the terminal, closes the logs."""
        self.live.close()
        self.logger.close()
