# SPDX-License-Identifier: GPL-2.0-or-later
"""Which settings are tried next? CMA-ES over the parameters' ranges, repeatable."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from agents.search.config import Parameter

#: A number for each parameter.
Values = dict[str, int | float]

#: How far whole numbers reach beyond their range's ends before they are rounded.
_ROUNDING = 0.49


def coordinate(parameter: Parameter, value: float) -> float:
    """Where the search sees a value: in [0, 1], or the value itself of whole numbers."""
    if parameter.integer:
        return value
    low, high = parameter.low, parameter.high
    if parameter.log:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


class Optimiser:
    """CMA-ES (Hansen's ``cma``), a generation at a time.

    Each parameter is a coordinate in [0, 1], of its logarithm where ``log``; whole numbers are coordinates
    of their own unit. All that is random comes from the seed: a search that is told the same scores asks the
    same settings, so that a run goes on by being told again.
    """

    def __init__(self, parameters: Mapping[str, Parameter], seed: int, population: int, step: float) -> None:
        """
        Args:
            parameters: each with a start.
            seed: of the draws.
            population: settings in a generation.
            step: first standard deviation, in ranges.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about plotting, at import
            import cma

        self._parameters = dict(parameters)
        ranges = [self._range(p) for p in parameters.values()]
        words = np.random.SeedSequence(seed).generate_state(8)
        self._state = np.random.RandomState(words).get_state()
        start = [coordinate(p, float(p.start or 0.0)) for p in parameters.values()]
        # One parameter is too few for CMA-ES: a second coordinate then means nothing.
        self._idle = 2 - len(ranges) if len(ranges) < 2 else 0
        ranges += [(0.0, 1.0)] * self._idle
        options = {
            "bounds": [[low for low, _ in ranges], [high for _, high in ranges]],
            "CMA_stds": [high - low for low, high in ranges],
            "integer_variables": [i for i, p in enumerate(parameters.values()) if p.integer],
            "popsize": population,
            "seed": math.nan,  # not to be set: see _drawing
            "verbose": -9,
        }
        with self._drawing():
            self._search: Any = cma.CMAEvolutionStrategy(start + [0.5] * self._idle, step, options)
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

    @staticmethod
    def _range(parameter: Parameter) -> tuple[float, float]:
        if parameter.integer:
            return parameter.low - _ROUNDING, parameter.high + _ROUNDING
        return 0.0, 1.0

    @staticmethod
    def _value(parameter: Parameter, at: float) -> int | float:
        low, high = parameter.low, parameter.high
        if parameter.integer:
            return round(min(max(at, low), high))
        share = min(max(at, 0.0), 1.0)
        value = low * (high / low) ** share if parameter.log else low + share * (high - low)
        return min(max(value, low), high)

    def start(self) -> Values:
        """The settings in the middle of the first generation, which are tried before it."""
        return {
            name: round(p.start or 0.0) if p.integer else float(p.start or 0.0)
            for name, p in self._parameters.items()
        }

    def ask(self) -> list[Values]:
        """The next generation's settings."""
        with self._drawing():
            self._asked = self._search.ask()
        return [
            {
                name: self._value(parameter, float(x))
                for (name, parameter), x in zip(self._parameters.items(), point, strict=False)
            }
            for point in self._asked
        ]

    def tell(self, scores: Sequence[float]) -> None:
        """How good the settings asked last are: the more the better."""
        with self._drawing():
            self._search.tell(self._asked, [-score for score in scores])

    @property
    def spread(self) -> float:
        """The search's standard deviation, in ranges: how far it still looks around."""
        return float(self._search.sigma)

    @property
    def ended(self) -> str:
        """Why nothing better is to be expected, by CMA-ES's own rules; "" while it is."""
        return ", ".join(self._search.stop())
