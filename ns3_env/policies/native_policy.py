# SPDX-License-Identifier: GPL-2.0-or-later
"""Policy from a file, evaluated by the simulator's own code: no PyTorch, no agent's code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from typing_extensions import Self

from ns3_env import _native
from ns3_env.errors import ConfigError
from ns3_env.policies.file import read_policy
from ns3_env.policies.header import PolicySpec
from ns3_env.policies.history import Floats, Ints, after_steps, remembered
from ns3_env.policies.policy import FloatArray, State


class NetworkPolicy:
    """A ``Policy`` from a file; its state is each flow's history, if it reads one, or its hidden state."""

    def __init__(self, spec: PolicySpec, network: _native.Policy, path: Path) -> None:
        """
        Args:
            spec: the network's inputs and the meaning of its action.
            network: the network, which maps histories to actions.
            path: its file, from which a simulator can run it.
        """
        self.path = path
        self.spec = spec
        self.fields = spec.fields
        self.action_map: str = spec.action["name"]
        self.action_settings = {key: value for key, value in spec.action.items() if key != "name"}
        self._network = network

    @classmethod
    def load(cls, path: Path) -> Self:
        """The policy in a file. Raises ConfigError, in one line, if it is invalid (``policy_file``)."""
        spec = read_policy(path).spec
        try:
            return cls(spec, _native.Policy(str(path)), path.absolute())
        except _native.PolicyError as error:
            raise ConfigError(str(error)) from None

    def act(self, histories: Floats, lengths: Ints) -> Floats:
        """Actions (n, 1) in [-1, 1] for histories (n, K, D), zero-padded at the end, of lengths (n,).

        K is the policy's; a network that carries a state reads any number, from the flows' first decisions
        on. Raises ConfigError if weights are so large that an action is no number.
        """
        if self.spec.network.carries:
            return after_steps(self._step, histories, lengths)
        try:
            return self._network.evaluate(histories, lengths)
        except _native.PolicyError as error:
            raise ConfigError(str(error)) from None

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        """See ``Policy``; it is deterministic either way. The state is (windows (n, K, D), lengths (n,)), or
        if the network carries one (hidden and cell (n, 2H),).

        Raises ConfigError for a file with a safety.
        """
        if self.spec.safety is not None:
            raise ConfigError(
                f"{self.path}: has a safety, whose bounds and whose Swift are inside the simulator: it does "
                "not decide in Python (placement: simulator)"
            )
        rows = np.asarray(observation, dtype=np.float32)
        if self.spec.network.carries:
            if state is not None and episode_start is not None:
                state = (np.where(np.asarray(episode_start, bool)[:, None], np.float32(0), state[0]),)
            return self._step(rows, state)
        windows, lengths = remembered(rows, self.spec.history, state, episode_start)
        return self.act(windows, lengths), (windows, lengths)

    def _step(self, rows: Floats, state: State | None) -> tuple[Floats, State]:
        """Actions (n, 1) and the state after them, of observations (n, D). Raises ConfigError, as ``act``."""
        carried = np.zeros((len(rows), self._network.state_width), np.float32) if state is None else state[0]
        try:
            actions, after = self._network.step(rows, carried)
        except _native.PolicyError as error:
            raise ConfigError(str(error)) from None
        return actions, (after,)
