# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium environment over an ns-3 script: one of its flows under the agent."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ns3_env.envs.gym_env import FlowEnv
from ns3_env.scenario import Scenario, ScenarioLike
from ns3_env.simulator import DecisionBatch
from ns3_env.simulator.script import Script


class ScriptEnv(FlowEnv):
    """One flow of an ns-3 script under the agent, as :class:`ns3_env.envs.gym_env.FlowEnv` has one.

    Each episode is a run of the program, and ends with the script's last flow or at its end.

    Args:
        program: the script, built (docs/ns3.md).
        args: arguments of the script.
        flow: index, from 0, of the flow among its flows under the controller "agent".
        others: controller of all other flows.
        settings: see :class:`ns3_env.simulator.script.Script`.
        arguments: ``fields``, ``reward``, ``action``, ``task``, ``render_mode``, see ``FlowEnv``.

    Raises ScenarioError if the program does not exist; from reset, if the script has no such flow or refuses
    its settings; SimulatorError if it ends before its time, crashes or hangs.
    """

    def __init__(
        self,
        program: str | os.PathLike[str],
        args: Sequence[str] = (),
        *,
        flow: int = 0,
        others: str = "hpcc",
        settings: Mapping[str, Any] | None = None,
        **arguments: Any,
    ) -> None:
        script = Script(program, tuple(args), settings or {}, flow=flow, others=others)
        super().__init__(script, flow=flow, others=others, **arguments)  # type: ignore[arg-type]
        self._ezpickle_args = ()
        self._ezpickle_kwargs = {
            "program": program,
            "args": args,
            "flow": flow,
            "others": others,
            "settings": settings,
            **arguments,
        }

    def _controlled(self, definition: ScenarioLike) -> Scenario:
        return definition  # type: ignore[return-value]  # a Script names the flow itself

    def _until_own_turn(self) -> tuple[DecisionBatch | None, int]:
        """The next message of the controlled flow, whatever its number in the script."""
        rows = self._simulator.receive()
        while isinstance(rows, DecisionBatch) and not len(rows.flows):
            self._simulator.send_actions(())
            rows = self._simulator.receive()
        if not isinstance(rows, DecisionBatch):
            return None, 0
        self._flow = int(rows.flows[0])
        return rows, 0
