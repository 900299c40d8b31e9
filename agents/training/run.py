# SPDX-License-Identifier: GPL-2.0-or-later
"""How does a training run go? Planned, run with checkpoints and a live line, stopped cleanly when asked."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from stable_baselines3.common.callbacks import BaseCallback

from agents.training.config import RunConfig, apply_overrides
from agents.training.curriculum import Curriculum, CurriculumConfig
from agents.training.environment import check_env, make_env
from agents.training.progress import LiveLine, StopRequest
from agents.training.run_folder import Outcome, RunFolder
from agents.training.trainer import Trainer, make_trainer
from ns3_env.errors import ConfigError
from ns3_env.strict import validate
from ns3_env.vec_env import RdmaVecEnv
from ns3_env.yaml_files import read_mapping

#: Metrics by name of an episode's results.
Measure = Callable[[Mapping[str, Any]], dict[str, float]]


@dataclass(frozen=True)
class Plan:
    """A run that has been checked: nothing of it has begun."""

    config: RunConfig
    curriculum: Curriculum
    resume: RunFolder | None


def with_algorithm(data: dict[str, Any], algorithm: str) -> dict[str, Any]:
    """A configuration's data with another agent: its settings go, and the clock becomes one that suits it."""
    if data.get("agent", {}).get("name") == algorithm:
        return data
    clock = {"name": "per_flow_rtt" if algorithm == "fdcc" else "synchronous"}
    env = {**data.get("env", {})}
    if env.get("clock", {}).get("name") != clock["name"]:
        env["clock"] = clock
    return {**data, "agent": {"name": algorithm}, "env": env, "name": algorithm}


def plan(
    config: Path | None,
    curriculum: Path | None,
    overrides: Sequence[str] = (),
    algorithm: str | None = None,
    resume: Path | None = None,
) -> Plan:
    """Reads and checks everything a run needs.

    Args:
        config: configuration's file; not with ``resume``.
        curriculum: curriculum's file; not with ``resume``.
        overrides: ``key=value`` for the configuration.
        algorithm: agent instead of the configured one.
        resume: folder of a run to go on with.

    Raises:
        ConfigError: naming file and key.
    """
    if resume is not None:
        if config is not None or curriculum is not None or algorithm is not None:
            raise ConfigError(
                "command line: --resume brings its own configuration: no --config, --curriculum or --algo"
            )
        folder = RunFolder(resume)
        data, stages = folder.read()
        checked = validate(apply_overrides(data, overrides), RunConfig, str(resume / "config.yaml"))
        source = str(resume / "curriculum.yaml")
        ready = Curriculum(validate(stages, CurriculumConfig, source), checked.env, checked.seed, source)
        folder.latest_checkpoint()
        check_env(checked.env, str(resume / "config.yaml"))
        return Plan(checked, ready, folder)
    if config is None or curriculum is None:
        raise ConfigError("command line: --config and --curriculum are needed (or --resume)")
    data = read_mapping(config)
    if algorithm is not None:
        data = with_algorithm(data, algorithm)
    checked = validate(apply_overrides(data, overrides), RunConfig, str(config))
    check_env(checked.env, str(config))
    return Plan(checked, Curriculum.load(curriculum, checked.env, checked.seed), None)


class EpisodeMeter:
    """Adds up what the flows of an episode got, until the simulator reports the episode's end."""

    def __init__(self, env: RdmaVecEnv, measure: Measure | None) -> None:
        """
        Args:
            env: the environment.
            measure: metrics of an episode's results.
        """
        self.env = env
        self.measure = measure
        self.ended: list[list[tuple[float, int]]] = [[] for _ in range(env.num_simulators)]

    def update(self, step: Mapping[str, Any]) -> list[dict[str, float]]:
        """Episodes that ended in this step: "return" (mean over flows), "reward" (mean over decisions),
        metrics.

        Args:
            step: a callback's locals: of FDCC, or of any Stable-Baselines3 algorithm.
        """
        if "finished" in step:
            flows, results = step["finished"], step["batch"].results
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


class RunCallback(BaseCallback):
    """Follows a run: feeds the curriculum and the log, saves checkpoints, shows the live line, stops."""

    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        trainer: Trainer,
        meter: EpisodeMeter,
        stop: StopRequest,
        console: Console,
    ) -> None:
        super().__init__()
        self.meter = meter
        self.plan = plan
        self.folder = folder
        self.trainer = trainer
        self.stop = stop
        self.live = LiveLine(console, "decisions", plan.config.train.decisions)
        self.saved_at = trainer.decisions
        self.episodes = 0
        self.recent: deque[dict[str, float]] = deque(maxlen=20)
        self.rate_from = (time.monotonic(), trainer.decisions)

    def _on_training_start(self) -> None:
        self.live.start()

    def _on_step(self) -> bool:
        for episode in self.meter.update(self.locals):
            self.episodes += 1
            self.recent.append(episode)
            self.plan.curriculum.record(episode["return"])
            for key, value in episode.items():
                self.logger.record_mean(f"episode/{key}", value)
            self.logger.record("curriculum/stage", self.plan.curriculum.stage)
            self.logger.record("curriculum/episodes", self.plan.curriculum.next_index)
        if self.trainer.decisions - self.saved_at >= self.plan.config.train.checkpoint_every:
            self.checkpoint()
        self.live.show(self.trainer.decisions, self.line)
        return not self.stop.asked

    def _on_training_end(self) -> None:
        self.close()

    def close(self) -> None:
        """Takes the bar off the terminal; may be called again."""
        self.live.close()

    def checkpoint(self) -> Path:
        """Saves the trainer, its replay buffer and the curriculum's state."""
        self.saved_at = self.trainer.decisions
        state = {"decisions": self.trainer.decisions, "curriculum": self.plan.curriculum.state()}
        keep = self.plan.config.train.keep_checkpoints
        return self.folder.save_checkpoint(self.trainer.decisions, self.trainer.save, state, keep)

    def line(self) -> str:
        """Stage, episodes, means over the last 20 episodes, decisions per second."""
        parts = [self.plan.curriculum.stage_name, f"{self.episodes} episodes"]
        for key, label, form in (
            ("return", "return", ".1f"),
            ("reward", "reward", ".3f"),
            ("fct_slowdown", "slowdown", ".2f"),
            ("queue_bytes", "queue kB", ".1f"),
        ):
            values = [episode[key] for episode in self.recent if not np.isnan(episode.get(key, np.nan))]
            if values:
                scale = 1e-3 if key == "queue_bytes" else 1.0
                parts.append(f"{label} {scale * float(np.mean(values)):{form}}")
        seconds = time.monotonic() - self.rate_from[0]
        parts.append(f"{(self.trainer.decisions - self.rate_from[1]) / max(seconds, 1e-9):,.0f}/s")
        return " · ".join(parts)


def run(plan: Plan, parent: Path, measure: Measure | None = None, console: Console | None = None) -> Outcome:
    """Trains as planned.

    Args:
        plan: what ``plan()`` returned.
        parent: folder in which a new run's folder is made.
        measure: metrics of an episode's results, for the log; "fct_slowdown" and "queue_bytes" go to the
            live line.
        console: where the progress is shown.

    Raises:
        ConfigError: the checkpoint does not fit the configuration.
        SimulatorError: a simulator failed; a checkpoint was saved.
    """
    console = console or Console()
    config, curriculum = plan.config, plan.curriculum
    checkpoint = None
    if plan.resume is not None:
        checkpoint, state = plan.resume.latest_checkpoint()
        curriculum.restore(state["curriculum"])
        folder, suffix = plan.resume, f"-{state['decisions']}"
    else:
        folder = RunFolder.create(
            parent,
            config.name,
            config.model_dump(mode="json", exclude={"versions"}),
            curriculum.config.model_dump(mode="json"),
        )
        suffix = ""
    stop = StopRequest()
    env = make_env(config.env, curriculum, curriculum.most_flows, config.seed)
    try:
        trainer = make_trainer(config, env, folder.path, suffix)
        if checkpoint is not None:
            trainer.restore(checkpoint)
        callback = RunCallback(plan, folder, trainer, EpisodeMeter(env, measure), stop, console)
        print(f"run folder: {folder.path}", flush=True)
        if trainer.decisions == 0:
            callback.checkpoint()  # the untrained network, and proof that checkpoints can be written
        try:
            remaining = config.train.decisions - trainer.decisions
            with stop.listening():
                if remaining > 0:
                    trainer.learn(remaining, callback)
        finally:
            # Whatever ended the training: what was learned is kept.
            callback.close()
            if trainer.decisions > callback.saved_at:
                callback.checkpoint()
    finally:
        env.close()
    if stop.asked:
        print(f"interrupted; go on with: python train.py --resume {folder.path}", file=sys.stderr, flush=True)
    return Outcome(folder, stop.asked)
