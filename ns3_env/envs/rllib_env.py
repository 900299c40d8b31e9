# SPDX-License-Identifier: GPL-2.0-or-later
"""RLlib MultiAgentEnv with one agent per flow, which acts when it is due.

Importing this module registers ``NAME``: ``config.environment("ns3_env/RdmaMultiAgent-v0")``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.tune.registry import register_env

from ns3_env.decision import observations
from ns3_env.decision.rewards import DEFAULT_REWARD
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import SILENT_EPISODES, never_decides
from ns3_env.envs.gym_env import first_played
from ns3_env.envs.pettingzoo_env import FlowAgents
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario

#: Name in RLlib's configurations.
NAME = "ns3_env/RdmaMultiAgent-v0"

#: Keys of ``env_config``, with their defaults.
DEFAULTS: dict[str, Any] = {
    "scenario": None,
    "flows": None,
    "slots": None,
    "fields": observations.FDCC_FIELDS,
    "reward": DEFAULT_REWARD,
    "action": None,
    "task": None,
    "render_mode": None,
    "executable": None,
}

# By agent, "flow_N"; RLlib's agents may be anything that can be a key.
Observations = dict[Hashable, NDArray[np.float32]]
Numbers = dict[Hashable, float]
Ends = dict[Hashable, bool]
Infos = dict[Hashable, dict[str, Any]]


class FlowMultiAgentEnv(FlowAgents, MultiAgentEnv):  # type: ignore[misc]
    """Each flow under "agent" is an agent: "flow_0", "flow_1", ... by slot, as in :class:`FlowParallelEnv`.

    A step's observations are those of the flows that decide now, and of those that have just ended: there is
    no padding, and any clock will do. A flow that has not started is absent; one that is done is
    terminated, one that the time limit cuts truncated; ``agents`` has it until the next step, and is empty
    when the episode is over. The episode ends with its last flow, truncated if any was.

    ``infos[agent]["elapsed"]`` are the base RTTs since the flow's last decision, the last one's
    ``["slowdown"]`` is the flow's (0 before), ``infos[agent]["time_ns"]`` the simulated time,
    ``infos[agent]["telemetry"]`` every field by name.

    Args:
        config: ``env_config``: ``scenario`` (a Scenario, its keys, or a function that draws one from each
            episode's seed; None: an incast of ``flows``), ``slots`` (maximum number of agents), ``fields``,
            ``reward``, ``action``, ``task``, ``render_mode`` and ``executable``, see
            :class:`ns3_env.envs.pettingzoo_env.FlowParallelEnv`.

    Raises:
        ScenarioError: the scenario is invalid, or has no flow under "agent".
        ValueError: there is no such key.
        SimulatorError: from reset and step; the next reset works again.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        settings = dict(config or {})
        if unknown := sorted(set(settings) - set(DEFAULTS)):
            raise ValueError(f"env_config: there is no {unknown[0]!r}; known: {', '.join(DEFAULTS)}")
        settings = {**DEFAULTS, **settings}
        form, draw = first_played(settings["scenario"], settings["flows"])
        scenario = Scenario.of(form)
        if scenario.agent_count == 0:
            raise ScenarioError(f"{scenario.source or 'scenario'}: no flow is under 'agent'")
        task = Task.of(*(settings[key] for key in ("task", "fields", "reward", "action")))
        self.set_up(scenario, task, settings["render_mode"], settings["executable"], draw, settings["slots"])
        self._ended: list[Any] = []  # agents whose flow was over in the last step
        self._cut = False

    def reset(  # type: ignore[override]  # not a gymnasium.Env's, as MultiAgentEnv's is not
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Starts an episode: that of the seed, or the next of the environment's own generator.

        Raises ScenarioError if no flow decides in ``SILENT_EPISODES`` episodes in a row.
        """
        for number in range(SILENT_EPISODES):
            self.agents, self._ended, self._cut = [], [], False
            self._begin(None if number else seed)
            agent_observations, _, _, _, infos = self._advance()
            if self._due is not None:
                return agent_observations, infos
        raise ScenarioError(never_decides(SILENT_EPISODES))

    def step(  # type: ignore[override]
        self, action_dict: Mapping[Hashable, Any]
    ) -> tuple[Observations, Numbers, Ends, Ends, Infos]:
        """Applies the actions of the flows that are due; runs until a flow is due again, or none is left.

        Raises ValueError for actions that are missing, for no agent, or no numbers; they may be given again.
        """
        if self._due is None:
            raise RuntimeError("the episode is over: reset() begins the next")
        self._answer(self._due, action_dict, self.agents)
        self.agents = [agent for agent in self.agents if agent not in self._ended]
        self._ended = []
        return self._advance()

    def _advance(self) -> tuple[Observations, Numbers, Ends, Ends, Infos]:
        """Receives until a flow is due, or the episode is over."""
        agent_observations: Observations = {}
        rewards: Numbers = {}
        terminated: Ends = {"__all__": False}
        truncated: Ends = {"__all__": False}
        infos: Infos = {}
        self._due = None
        while (rows := self._received()) is not None:
            outcomes = self._outcomes(rows)
            observed, row_infos = self.task.observe(rows.records), outcomes.infos()
            telemetry = observations.named(rows.records)
            for row, slot in enumerate(rows.slots):
                agent = self.possible_agents[slot]
                if rows.first[row] and not rows.due[row]:
                    continue  # ended before its first decision: it was never an agent
                agent_observations[agent] = observed[row]
                infos[agent] = {"time_ns": rows.time_ns, "telemetry": telemetry[row], **row_infos[row]}
                if rows.first[row]:
                    self.agents.append(agent)
                else:
                    rewards[agent] = float(outcomes.rewards[row])
                if not rows.due[row]:
                    self._ended.append(agent)
                    terminated[agent] = bool(outcomes.final[row])
                    truncated[agent] = not terminated[agent]
                    self._cut |= truncated[agent]
            if rows.due.any():
                self._due = rows
                return agent_observations, rewards, terminated, truncated, infos
            self._simulator.send_actions(())
        self.agents = []
        terminated["__all__"], truncated["__all__"] = not self._cut, self._cut
        return agent_observations, rewards, terminated, truncated, infos


register_env(NAME, FlowMultiAgentEnv)
