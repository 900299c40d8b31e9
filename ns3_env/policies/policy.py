# SPDX-License-Identifier: GPL-2.0-or-later
"""Policy protocol, and the policy states of flows that decide at different times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ns3_env.decision.actions import ActionMap, make_action_map

FloatArray = npt.NDArray[Any]
State = tuple[npt.NDArray[Any], ...]
#: Place of a policy's decisions: inside the simulator, or in Python, which the simulator queries.
Placement = Literal["simulator", "python"]


@runtime_checkable
class Policy(Protocol):
    """Stable-Baselines3's ``predict`` over a batch of flows, plus the fields that the policy reads and the
    meaning of its action.

    Attributes:
        fields: names of the telemetry fields it reads, in the order of its observation's columns.
        action_map: name of the action map (``ns3_env.decision.actions``) that turns its action into a window
            and a rate.
    """

    @property
    def fields(self) -> tuple[str, ...]: ...

    @property
    def action_map(self) -> str: ...

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        """Decides for a batch of flows.

        Args:
            observation: (n, D), the declared fields of n flows that are due.
            state: state returned by the last call for the same n flows; None if all of them start. Every
                array in it has n rows, so rows may be removed and put back flow by flow.
            episode_start: (n,) true for flows whose state must be reset.
            deterministic: true to disable exploration.

        Returns:
            Actions (n, A) and the next state.
        """
        ...


def action_map_for(policy: Policy) -> ActionMap:
    """The map of a policy's actions, with the settings in its ``action_settings`` if it has any.

    Raises KeyError if there is no map of that name.
    """
    settings: Mapping[str, Any] = getattr(policy, "action_settings", {})
    return make_action_map(policy.action_map, **settings)


class SlotStates:
    """Keeps the policy states of flows that do not decide at the same instants.

    ``Policy.predict`` returns a state whose rows belong to the rows of its batch. Under an asynchronous
    clock a batch contains only the due flows, so the rows are put away by slot and gathered again when the
    slot is due. Slots are numbers from 0 on; storage grows with the slots requested.
    """

    def __init__(self, policy: Policy) -> None:
        """
        Args:
            policy: the policy to evaluate.
        """
        self.policy = policy
        self._state: State | None = None
        self._fresh = np.ones(0, dtype=bool)

    def forget(self, slots: npt.NDArray[np.intp] | None = None) -> None:
        """A new episode starts in each of ``slots`` (m,); None: in all."""
        if slots is None:
            self._fresh[:] = True
        elif len(slots) > 0:
            self._make_room(int(slots.max()) + 1)
            self._fresh[slots] = True

    def state_of(self, slots: npt.NDArray[np.intp]) -> State | None:
        """The policy's state of ``slots`` (m,); None if it keeps none, or nothing was decided yet."""
        return None if self._state is None else tuple(part[slots] for part in self._state)

    def predict(
        self, observations: FloatArray, slots: npt.NDArray[np.intp], deterministic: bool = True
    ) -> FloatArray:
        """Actions (m, A) for the due ``slots`` (m,), all different, whose ``observations`` are (m, D)."""
        self._make_room(int(slots.max()) + 1)
        actions, state = self.policy.predict(
            observations, self.state_of(slots), self._fresh[slots], deterministic
        )
        if state is not None:
            if self._state is None:
                self._state = tuple(_empty(part, len(self._fresh)) for part in state)
            for memory, part in zip(self._state, state, strict=True):
                memory[slots] = part
        self._fresh[slots] = False
        return actions

    def _make_room(self, slots: int) -> None:
        missing = slots - len(self._fresh)
        if missing <= 0:
            return
        self._fresh = np.concatenate([self._fresh, np.ones(missing, dtype=bool)])
        if self._state is not None:
            self._state = tuple(np.concatenate([part, _empty(part, missing)]) for part in self._state)


def _empty(like: npt.NDArray[Any], rows: int) -> npt.NDArray[Any]:
    return np.zeros((rows, *like.shape[1:]), like.dtype)
