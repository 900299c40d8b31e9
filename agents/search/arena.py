# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges several points of a search at once, on the simulators of this machine or a Ray cluster's."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ns3_env.agents.search.config import JudgeConfig
from ns3_env.agents.search.objectives import Episode, Judgement, Objective, Pending
from ns3_env.agents.search.subject import Point, Subject
from ns3_env.errors import ScenarioError, SimulatorError
from ns3_env.simulator.pool import LocalPool, Pool

#: Folder for files that live for a generation: in memory, if there is such a folder.
_MEMORY = Path("/dev/shm")


@contextmanager
def pool_of(env: JudgeConfig) -> Iterator[Pool]:
    """The pool on the machines of ``env.ray`` for as long as the block lasts.

    Raises:
        ConfigError: no Ray cluster answers there, or it does not let us in.
    """
    if env.ray is None:
        with LocalPool(env.simulators) as here:
            yield here
        return
    from ns3_env.cluster.pool import RayPool
    from ns3_env.cluster.session import find, joined

    with joined(find(env.ray, "env.ray"), env.simulators) as cluster:
        print(cluster, flush=True)
        with RayPool(env.simulators or max(cluster.cores, 1)) as there:
            yield there


class Arena:
    """Runs points of a subject, and judges them."""

    def __init__(self, subject: Subject, objective: Objective, pool: Pool) -> None:
        """
        Args:
            subject: subject of the search.
            objective: objective that scores an episode.
            pool: pool of simulators that run the episodes.
        """
        self._subject, self._objective, self._pool = subject, objective, pool

    def play(
        self,
        points: Mapping[int, Point],
        episodes: Sequence[Episode],
        done: Callable[[int, list[Judgement]], None],
        stopped: Callable[[], bool],
    ) -> None:
        """Judges points on episodes.

        Args:
            points: points by number.
            episodes: episodes that each point is judged on.
            done: called with each judged point's number and its judgements, one for each episode.
            stopped: polled regularly; true if no further episode may start.

        Raises:
            ScenarioError: an episode cannot be judged.
            SimulatorError: naming the point.
        """
        with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
            self._play(points, episodes, done, stopped, Path(folder))

    def _play(
        self,
        points: Mapping[int, Point],
        episodes: Sequence[Episode],
        done: Callable[[int, list[Judgement]], None],
        stopped: Callable[[], bool],
        folder: Path,
    ) -> None:
        judgements: dict[int, dict[int, Judgement]] = {number: {} for number in points}
        playing: dict[Future[Any], tuple[int, int, Pending]] = {}
        for number, point in points.items():
            controller = self._subject.controller(point, folder)
            for i, episode in enumerate(episodes):
                pending = self._objective.begin(self._pool, episode, controller)
                playing[pending.future] = number, i, pending
        while playing:
            for future in wait(playing, timeout=0.2, return_when=FIRST_COMPLETED).done:
                number, i, pending = playing.pop(future)
                judgements[number][i] = self._judged(pending, points[number], episodes[i])
                if len(judgements[number]) == len(episodes):
                    done(number, [judgements[number][i] for i in range(len(episodes))])
            if stopped():
                playing = {future: at for future, at in playing.items() if not future.cancel()}

    def _judged(self, pending: Pending, point: Point, episode: Episode) -> Judgement:
        try:
            judged = pending.result()
        except SimulatorError as error:
            raise type(error)(f"with {self._subject.describe(point)}: {error}") from error
        if math.isnan(judged.score):
            raise ScenarioError(
                f"curriculum: stage {episode.stage!r}: no flow gets an answer within its "
                "time_limit_ns, so there is nothing to judge: make it longer"
            )
        return judged


def score_of(judgements: Sequence[Judgement]) -> float:
    """The mean over episodes."""
    return float(np.mean([judged.score for judged in judgements]))


def decisions_of(judgements: Sequence[Judgement]) -> int:
    """Returns the decisions that a policy took in the episodes, if they are counted."""
    return sum(judged.decisions for judged in judgements)
