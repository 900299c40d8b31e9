# SPDX-License-Identifier: GPL-2.0-or-later
"""CMA-ES, repeatable, with a diagonal covariance if there are many coordinates."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ns3_env.agents.search.subject import Point, Space

#: More coordinates than these have a diagonal covariance: a full one needs n² trials.
_FULL_COVARIANCE = 100


class Optimiser:
    """CMA-ES (Hansen's ``cma``), a generation at a time.

    All that is random comes from the seed: a search with the same scores asks for the same points, so
    that a run continues by replaying them.
    """

    def __init__(self, space: Space, seed: int, population: int, step: float) -> None:
        """
        Args:
            space: space to search.
            seed: seed of the draws.
            population: points in a generation.
            step: first standard deviation, in the space's scale.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about plotting, at import
            import cma

        self._count = len(space.start)
        words = np.random.SeedSequence(seed).generate_state(8)
        self._state = np.random.RandomState(words).get_state()
        # One number is too few for CMA-ES: a second coordinate then means nothing.
        idle = 2 - self._count if self._count < 2 else 0
        ends = [[*space.low, *[0.0] * idle], [*space.high, *[1.0] * idle]]
        options = {
            "bounds": ends if np.isfinite(ends).any() else [None, None],
            "CMA_stds": [*space.scale, *[1.0] * idle],
            "CMA_diagonal": self._count > _FULL_COVARIANCE,
            "integer_variables": list(space.integer),
            "popsize": population,
            "seed": math.nan,  # not to be set: see _drawing
            "verbose": -9,
        }
        with self._drawing():
            self._search: Any = cma.CMAEvolutionStrategy([*space.start, *[0.5] * idle], step, options)
        self._asked: list[Any] = []

    @contextmanager
    def _drawing(self) -> Iterator[None]:
        """Within, NumPy's global generator is the search's own: ``cma`` draws from it in several places."""
        others = np.random.get_state()  # noqa: NPY002
        np.random.set_state(self._state)  # noqa: NPY002
        try:
            yield
        finally:
            self._state = np.random.get_state()  # noqa: NPY002
            np.random.set_state(others)  # noqa: NPY002

    def ask(self) -> list[Point]:
        """The next generation's points."""
        with self._drawing():
            self._asked = self._search.ask()
        return [np.array(point[: self._count], dtype=np.float64) for point in self._asked]

    def tell(self, scores: Sequence[float]) -> None:
        """Receives the scores of the last points; higher is better."""
        with self._drawing():
            self._search.tell(self._asked, [-score for score in scores])

    @property
    def mean(self) -> Point:
        """The mean of the next points' distribution."""
        return np.array(self._search.result.xfavorite[: self._count], dtype=np.float64)

    @property
    def spread(self) -> float:
        """The search's standard deviation, in the space's scale: the extent of its exploration."""
        return float(self._search.sigma)

    @property
    def ended(self) -> str:
        """Reason why no better point is expected, by CMA-ES's own rules; "" while one is."""
        return ", ".join(self._search.stop())
