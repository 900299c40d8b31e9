# SPDX-License-Identifier: GPL-2.0-or-later
"""Callbacks of training: the run's own (metrics, log, validation, checkpoints), the user's by name."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from stable_baselines3.common.callbacks import BaseCallback

from ns3_env.agents.configuration.config import Named, TrainConfig
from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.curriculum.curriculum import Curriculum
from ns3_env.agents.curriculum.plateau import Score
from ns3_env.agents.training.progress import VALIDATING, LiveLine, StopRequest
from ns3_env.agents.training.rollout_env import MakeRollouts, RolloutEnv, local_rollouts
from ns3_env.agents.training.trainer import Trainer
from ns3_env.config.command_line import typed
from ns3_env.config.imports import made_by
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import episode_seed
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ConfigError
from ns3_env.policies.file import policy_bytes, write_policy
from ns3_env.policies.released import named_controller
from ns3_env.scenario import Scenario
from ns3_env.simulator.pool import LocalPool, Play
from ns3_env.simulator.results import Results, charged_slowdowns

#: Number of a validation's first episode: no episode that is learned from has it, or one after it.
HELD_BACK = 2**32
#: Metrics by name of an episode's results.
Measure = Callable[[Mapping[str, Any]], dict[str, float]]


class EpisodeMeter:
    """Adds up the rewards of an episode's flows, until the simulator reports the episode's end."""

    def __init__(self, env: FlowVecEnv | RolloutEnv, measure: Measure | None) -> None:
        self.env = env
        self.measure = measure
        self.forget()

    def forget(self) -> None:
        """Discards the episodes under way."""
        self.ended: list[list[tuple[float, int]]] = [[] for _ in range(self.env.num_simulators)]

    def update(self, step: Mapping[str, Any]) -> list[dict[str, float]]:
        """Episodes that ended in this step: "return" (mean over flows), "reward" (mean over decisions),
        metrics.

        Args:
            step: a callback's locals: of FDCC, or of any Stable-Baselines3 algorithm.
        """
        if "finished" in step:
            flows, results = step["finished"], step["results"]
        else:
            infos = step["infos"]
            flows = [
                (i, info["episode"]["r"], info["episode"]["l"])
                for i, info in enumerate(infos)
                if "episode" in info
            ]
            results = self.env.results
        for slot, total, length in flows:
            self.ended[slot // self.env.slots].append((total, length))
        episodes = []
        for simulator, result in results:
            ended, self.ended[simulator] = self.ended[simulator], []
            if ended:
                total, decisions = sum(r for r, _ in ended), sum(n for _, n in ended)
                measured = {} if self.measure is None else self.measure(result)
                episodes.append(
                    {"return": total / len(ended), "reward": total / max(decisions, 1), **measured}
                )
        return episodes


class Validations:
    """Separate episodes, from which nothing is learned."""

    def __init__(
        self,
        task: Task,
        seed: int,
        simulators: int,
        make_rollouts: MakeRollouts = local_rollouts,
        score: Score = "reward",
    ) -> None:
        """
        Args:
            task: task with the observed fields and the reward.
            seed: base seed of the episodes.
            simulators: processes.
            make_rollouts: function that makes the rollouts, local or on a cluster.
            score: kind of score that ``validate`` returns for each episode.
        """
        self._score = score
        self._seed = seed
        self._baseline: dict[int, float] = {}  # score of a controller, by the scenario's number
        self._held_back: list[Scenario] = []
        self.results: list[dict[str, Any]] = []  # of the last validation's episodes
        self._rollouts = make_rollouts(
            task, lambda episode: self._held_back[episode - HELD_BACK], seed, simulators, 1
        )

    def validate(self, policy: bytes, scenarios: Sequence[Scenario]) -> list[float]:
        """The score of each scenario, run without exploration on their own seeds.

        Args:
            policy: content of its file.
            scenarios: the scenarios; scenario i has the same seed at every call.

        Raises:
            SimulatorError, ScenarioError: see ``Rollouts.next``.
        """
        self._held_back = list(scenarios)
        self._rollouts.go_on_with(HELD_BACK)
        for _ in scenarios:
            self._rollouts.begin(policy)
        rollouts = [self._rollouts.next() for _ in scenarios]
        self.results = [rollout.results for rollout in rollouts]
        if self._score == "slowdown":
            return [_slowdown_score(results) for results in self.results]
        return [float(rollout.rewards.sum()) / max(rollout.decisions, 1) for rollout in rollouts]

    def baseline(self, name: str, scenarios: Sequence[Scenario]) -> list[float]:
        """The score "slowdown" of each of ``validate``'s scenarios under a controller; measured once.

        Raises SimulatorError, ScenarioError: there is no such controller, or the simulator refuses it.
        """
        who = named_controller(name)
        numbers = [number for number in range(len(scenarios)) if number not in self._baseline]
        with LocalPool() as pool:
            plays = []
            for number in numbers:
                scenario = scenarios[number].under(who.name, who.attributes)
                seed = episode_seed(self._seed, HELD_BACK + number)
                plays.append(Play(scenario.with_seed(seed), _slowdown_score))
            futures = [pool.submit(play) for play in plays]
            self._baseline.update(zip(numbers, (future.result() for future in futures), strict=True))
        return [self._baseline[number] for number in range(len(scenarios))]

    def close(self) -> None:
        """Ends the simulators; may be called again."""
        self._rollouts.close()


def _slowdown_score(results: Results) -> float:
    """Minus the logarithm of the mean slowdown of an episode's flows, unfinished ones charged."""
    return -float(np.log(np.nanmean(charged_slowdowns(results))))


class RunCallback(BaseCallback):
    """Follows a run: feeds the curriculum and the log, saves checkpoints, shows the live line, stops."""

    def __init__(
        self,
        config: TrainConfig,
        curriculum: Curriculum,
        folder: RunFolder,
        trainer: Trainer,
        meter: EpisodeMeter,
        stop: StopRequest,
        console: Console,
        validations: Validations | None = None,
    ) -> None:
        super().__init__()
        self.validations = validations
        self.meter = meter
        self.config = config
        self.curriculum = curriculum
        self.folder = folder
        self.trainer = trainer
        self.stop = stop
        self.live = LiveLine(console, "decisions", config.decisions)
        self.saved_at = trainer.decisions
        self.episodes = 0
        self.recent: deque[dict[str, float]] = deque(maxlen=20)
        self.score: float | None = None  # of the last validation
        self.rate_from = (time.monotonic(), trainer.decisions)
        #: The latest stage, and the decisions and episodes when it was entered, or when this process began.
        self.stage_from = (curriculum.stage, trainer.decisions, curriculum.next_index)

    def _on_training_start(self) -> None:
        self.live.start()

    def _on_rollout_start(self) -> None:
        """A checkpoint is due only here: every decision is learned from, and new episodes can start."""
        if self.trainer.decisions - self.saved_at >= self.config.checkpoint_every:
            self.checkpoint()
            self.trainer.begin_episodes()
            self.meter.forget()

    def _on_step(self) -> bool:
        for episode in self.meter.update(self.locals):
            self.episodes += 1
            self.recent.append(episode)
            self.curriculum.record(episode["return"])
            for key, value in episode.items():
                self.logger.record_mean(f"episode/{key}", value)
            self.logger.record("curriculum/stage", self.curriculum.stage)
            if self.curriculum.stage != self.stage_from[0]:
                self.stage_from = (self.curriculum.stage, self.trainer.decisions, self.curriculum.next_index)
            self.logger.record("curriculum/episodes", self.curriculum.next_index)
            plateau = self.curriculum.plateau
            if self.validations is not None and plateau is not None and plateau.due:
                self.validate(self.validations)
        self.live.show(self.trainer.decisions, self.line)
        return not self.stop.asked

    def _on_training_end(self) -> None:
        self.close()

    def close(self) -> None:
        """Removes the bar from the terminal; may be called again."""
        self.live.close()

    def checkpoint(self) -> Path:
        """Saves the trainer, its replay buffer and the curriculum's state."""
        self.saved_at = self.trainer.decisions
        state = {
            "decisions": self.trainer.decisions,
            "curriculum": self.curriculum.state(),
            "next_episodes": self.meter.env.next_episodes,
        }
        keep = self.config.keep_checkpoints
        return self.folder.save_checkpoint(self.trainer.decisions, self.trainer.save, state, keep)

    def validate(self, validations: Validations) -> None:
        """Evaluates the current policy on held-back episodes; keeps the best one next to the checkpoints."""
        held_back = self.curriculum.held_back()
        file = self.trainer.file()
        if file is None:  # no file that the simulators could evaluate
            self.validations = None
            return
        with self.trainer.stopwatch.measuring(VALIDATING):
            scenarios = [scenario for _, scenario in held_back]
            scores = validations.validate(policy_bytes(file), scenarios)
        stages = sorted({stage for stage, _ in held_back})

        def means(values: Sequence[float]) -> list[float]:
            """The mean of each stage."""
            rows = list(zip(values, held_back, strict=True))
            return [float(np.mean([value for value, (of, _) in rows if of == stage])) for stage in stages]

        by_stage = means(scores)
        if self.curriculum.judge(by_stage):
            write_policy(self.folder.best_policy, file)
        if (name := self.curriculum.gap_to) is not None:
            gaps = np.subtract(validations.baseline(name, scenarios), scores)
            self.curriculum.weigh(means(gaps.tolist()))
            for stage, share in zip(stages, self.curriculum.shares or (), strict=True):
                self.logger.record(f"curriculum/share_{self.curriculum.config.stages[stage].name}", share)
        self.record_measured(validations)
        self.score = float(np.mean(by_stage))
        self.logger.record("validation/score", self.score)
        for stage, score in zip(stages, by_stage, strict=True):
            self.logger.record(f"validation/{self.curriculum.config.stages[stage].name}", score)

    def record_measured(self, validations: Validations) -> None:
        """Means of the measurements of the held-back episodes; NaN if no episode defines one."""
        if (measure := self.meter.measure) is None:
            return
        measured = [measure(results) for results in validations.results]
        for key in measured[0]:
            values = [one[key] for one in measured if not np.isnan(one[key])]
            self.logger.record(f"validation_episode/{key}", float(np.mean(values)) if values else np.nan)

    def stages(self) -> str | None:
        """A line on the stages reached, and the condition for the rest; None for a single stage."""
        names = [stage.name for stage in self.curriculum.config.stages]
        if len(names) == 1:
            return None
        reached, others = names[: self.curriculum.stage + 1], names[self.curriculum.stage + 1 :]
        text = f"stages reached: {', '.join(reached)} ({len(reached)} of {len(names)})"
        if not others:
            return text
        again = f"{typed('train')} --resume {self.folder.path} train.decisions="
        episodes = self.curriculum.episodes_to_last()
        _, decisions, first = self.stage_from
        count = self.curriculum.next_index - first
        if episodes is None or count < 1:
            return f"{text}; {again}MORE goes on to {', '.join(others)}"
        more = episodes * (self.trainer.decisions - decisions) / count
        enough = float(f"{self.trainer.decisions + more:.1e}")
        return f"{text}; {again}{enough:.0f} should reach {', '.join(others)}, at the pace of {reached[-1]}"

    def line(self) -> list[str]:
        """Stage, decisions per second, means over the last 20 episodes, and how many there were."""
        seconds = time.monotonic() - self.rate_from[0]
        rate = (self.trainer.decisions - self.rate_from[1]) / max(seconds, 1e-9)
        parts = [self.curriculum.stage_name, f"{rate:,.0f}/s"]
        if self.score is not None:
            parts.append(f"validated {self.score:.3f}")
        for key, label, form in (
            ("reward", "reward", ".3f"),
            ("fct_slowdown", "slowdown", ".2f"),
            ("queue_bytes", "queue kB", ".1f"),
            ("return", "return", ".1f"),
        ):
            values = [episode[key] for episode in self.recent if not np.isnan(episode.get(key, np.nan))]
            if values:
                scale = 1e-3 if key == "queue_bytes" else 1.0
                parts.append(f"{label} {scale * float(np.mean(values)):{form}}")
        return [*parts, f"{self.episodes} episodes"]


def named_callbacks(entries: Sequence[Named]) -> list[BaseCallback]:
    """The callbacks, each made with its settings. Raises ConfigError, naming the key."""
    callbacks: list[BaseCallback] = []
    for i, one in enumerate(entries):
        try:
            callbacks.append(
                made_by(one.name, one.settings, BaseCallback, "Stable-Baselines3's BaseCallback")
            )
        except ConfigError as error:  # noqa: PERF203 (a run has a few)
            raise ConfigError(f"train.callbacks.{i}: {error}") from error
    return callbacks
