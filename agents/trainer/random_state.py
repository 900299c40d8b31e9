# SPDX-License-Identifier: GPL-2.0-or-later
"""State of every random generator that learning draws from, as JSON."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces

from ns3_env.config.model import Strict
from ns3_env.errors import ConfigError


class RandomState(Strict):
    """Python's, NumPy's and PyTorch's global generators, and the action space's own.

    Attributes:
        python: ``random.getstate()``.
        numpy: ``numpy.random.get_state()``, a MT19937.
        torch: ``torch.get_rng_state()``, hexadecimal.
        actions: state of the action space's bit generator.
    """

    python: tuple[int, list[int], float | None]
    numpy: tuple[str, list[int], int, int, float]
    torch: str
    actions: dict[str, Any]

    @classmethod
    def now(cls, actions: spaces.Space[Any]) -> RandomState:
        """The generators as they are; ``actions`` is the space that actions are drawn from."""
        version, words, gauss = random.getstate()
        state: Any = np.random.get_state()  # noqa: NPY002
        name, key, place, has_gauss, cached = state
        return cls(
            python=(version, list(words), gauss),
            numpy=(name, [int(word) for word in key], place, has_gauss, cached),
            torch=th.get_rng_state().numpy().tobytes().hex(),
            actions=dict(actions.np_random.bit_generator.state),
        )

    def put_back(self, actions: spaces.Space[Any], path: Path) -> None:
        """Sets the generators, and that of the space ``actions``.

        Raises:
            ConfigError: naming ``path``, where they are no states of such generators.
        """
        version, numbers, gauss = self.python
        name, key, place, has_gauss, cached = self.numpy
        try:
            random.setstate((version, tuple(numbers), gauss))
            words = np.array(key, dtype=np.uint32)
            np.random.set_state((name, words, place, has_gauss, cached))  # noqa: NPY002
            th.set_rng_state(th.frombuffer(bytearray.fromhex(self.torch), dtype=th.uint8))
            actions.np_random.bit_generator.state = self.actions
        except (ValueError, TypeError, KeyError, OverflowError, RuntimeError) as error:
            raise ConfigError(f"{path}: random: no state of a generator: {error}") from error
