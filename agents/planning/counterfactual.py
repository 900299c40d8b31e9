# SPDX-License-Identifier: GPL-2.0-or-later
"""Difference rewards by branching: what a flow's action brought all flows, against keeping its window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ns3_env.agents.planning.branched_play import BranchedPlay
from ns3_env.policies.policy import Policy
from ns3_env.scenario import Scenario


@dataclass(frozen=True)
class Difference:
    """Credit of one decision.

    Attributes:
        time_ns: when it was taken.
        flow: of the decision.
        own: change of the flow's own slowdown that its action made; below 0 it gained.
        others: change of the sum of the other flows' slowdowns.
    """

    time_ns: float
    flow: int
    own: float
    others: float

    @property
    def reward(self) -> float:
        """Difference reward (Wolpert and Tumer 2002): slowdown that all flows together were spared."""
        return -(self.own + self.others)


def differences(
    scenario: Scenario,
    policy: Policy,
    share: float = 1.0,
    seed: int = 1,
    horizon_rtts: float | None = None,
) -> Iterator[Difference]:
    """Credits of the decisions of an episode, in their order.

    The default action (as COMA's counterfactual baseline, Foerster 2018, one action in the place of the
    policy's mean) is to keep window and rate. After it the flow is under the policy again, as all others are.
    The reward "difference" (:mod:`ns3_env.decision.rewards`) is for who learns: there is no policy yet, so
    that all flows keep their windows after the action.

    Args:
        scenario: with its seed.
        policy: of all flows.
        share: of the decisions, drawn, that are branched.
        seed: of that.
        horizon_rtts: after which the futures are compared, in base RTTs; None: at the episode's end.

    Raises:
        ScenarioError, SimulatorError: as :class:`BranchedPlay`.
    """
    draw = np.random.default_rng(seed)
    with BranchedPlay(scenario, policy) as play:
        to_the_end = play.future()
        while play.waiting is not None:
            sample = [flow for flow in play.due if draw.random() < share]
            until = play.ahead(horizon_rtts)
            actual_slowdowns = to_the_end if until is None or not sample else play.future(until_ns=until)
            for flow in sample:
                change = actual_slowdowns - play.future(keep=frozenset({flow}), until_ns=until)
                rest = np.delete(change, flow)
                yield Difference(play.waiting.time_ns, flow, float(change[flow]), float(np.nansum(rest)))
            play.step()
