# SPDX-License-Identifier: GPL-2.0-or-later
"""PettingZoo ParallelEnv with one agent per flow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.utils import EzPickle
from numpy.typing import NDArray
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from ns3_env.decision import observations
from ns3_env.decision.action_faults import action_fault, action_rows, collect_actions
from ns3_env.decision.outcomes import Outcomes
from ns3_env.decision.rewards import DEFAULT_REWARD
from ns3_env.decision.task import ActionLike, RewardLike, Task, WithTask
from ns3_env.envs.flow_stream import episode_seed
from ns3_env.envs.gym_env import Draw, arguments, first_played
from ns3_env.envs.rendering import FPS, RENDER_MODES, Film
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario, ScenarioLike, Synchronous
from ns3_env.simulator import DecisionBatch, Simulator

Observations = dict[str, NDArray[np.float32]]


class FlowAgents(WithTask):
    """A network whose flows under "agent" are agents, "flow_0", "flow_1", ... by slot; a base class."""

    def set_up(
        self,
        scenario: Scenario,
        task: Task,
        render_mode: str | None,
        executable: str | PathLike[str] | None,
        draw: Draw | None = None,
        slots: int | None = None,
    ) -> None:
        """Raises ScenarioError if the scenario's transport lacks a field that the task needs.

        Args:
            scenario: the scenario of every episode, or the first one if ``draw`` is set.
            task: observation, action and reward of each flow.
            render_mode: None, or "rgb_array".
            executable: see :class:`ns3_env.simulator.Simulator`.
            draw: function that draws an episode's scenario from its seed; None: the same scenario in each
                episode.
            slots: maximum number of agents; None: that of the scenario.
        """
        task.check(scenario)
        self._draw = draw
        self.scenario, self.task, self.render_mode = scenario, task, render_mode
        self._film = Film(render_mode)
        self._count = scenario.agent_count  # agents of the episode
        count = self._count if slots is None else slots
        kind = "port" if scenario.decides_at_ports else "flow"
        self.possible_agents = [f"{kind}_{slot}" for slot in range(count)]
        self.agents: list[Any] = []
        self.observation_spaces = dict.fromkeys(self.possible_agents, task.observation_space)
        self._one_action = task.action_space
        self.action_spaces = dict.fromkeys(self.possible_agents, self._one_action)
        self._simulator = Simulator(max(64, 2 * count), executable=executable)
        self._random = np.random.default_rng()
        self._due: DecisionBatch | None = None

    def _begin(self, seed: int | None) -> None:
        """Asks for the episode of the seed, or the next of the environment's own generator."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        scenario_seed = int(self._random.integers(2**31)) if seed is None else seed
        self._film.begin()
        scenario_seed = episode_seed(scenario_seed, 0)
        if self._draw is not None:
            self.scenario = self._draw(scenario_seed)
        posed = self.task.posed_on(self.scenario).with_seed(scenario_seed)
        if self._draw is not None or posed.traffic.flow_count_is_drawn():
            self._count = self._fitting(posed)
        self._simulator.send_reset(posed)

    def _fitting(self, scenario: Scenario) -> int:
        """The number of agents. Raises ScenarioError if there are more than possible agents."""
        count = scenario.agent_count
        if count > len(self.possible_agents):
            raise ScenarioError(
                f"{scenario.source or 'scenario'}: {count} agents in the episode of seed {scenario.seed}, "
                f"{len(self.possible_agents)} possible agents: give slots={count} or more"
            )
        return count

    def _answer(self, rows: DecisionBatch, actions: Mapping[Any, Any], candidates: Collection[Any]) -> None:
        """Sends the actions of the rows that are due, those that agents in ``candidates`` may have.

        Raises ValueError (:mod:`ns3_env.decision.action_faults`); nothing is sent then.
        """
        slots, records = rows.slots, rows.records
        if not rows.goes_on:
            slots, records = slots[rows.due], records[rows.due]
        agents = [self.possible_agents[slot] for slot in slots.tolist()]
        values = collect_actions(agents, actions, candidates)
        chosen = action_rows(values, "agents", agents, self._one_action.shape or ())
        try:
            self._simulator.send_actions(self.task.action(chosen, records))
        except ValueError as error:
            raise action_fault(chosen, "agents", agents, self._one_action) or error from None

    def _received(self) -> DecisionBatch | None:
        """The next rows, of any flows; None at the episode's end."""
        rows = self._simulator.receive()
        if not isinstance(rows, DecisionBatch):
            return None
        self._film.see(rows.flows, rows.records)
        return rows

    def _outcomes(self, rows: DecisionBatch) -> Outcomes:
        return self.task.outcomes(rows.records, rows.first, rows.terminated, rows.truncated)

    def render(self) -> NDArray[np.uint8] | None:
        """A picture (480, 640, 3) of the flows; None if ``render_mode`` is."""
        return self._film.frame()

    def close(self) -> None:
        """Ends the simulator; may be called again."""
        self.agents, self._due = [], None
        self._simulator.close()


class FlowParallelEnv(FlowAgents, ParallelEnv, EzPickle):  # type: ignore[misc]
    """Each flow under "agent" is an agent: "flow_0", "flow_1", ... by slot. The clock is ``synchronous``.

    The agents of an episode are there from its beginning. A flow that has not started yet observes zeros, is
    rewarded 0 and its action is ignored; ``infos[agent]["due"]`` shows that, and the rest of its info is 0 or
    empty. An agent leaves when its flow is done (terminated) or the time limit is reached (truncated;
    terminated if the reward charges the remaining bytes, as in :class:`ns3_env.envs.gym_env.FlowEnv`).
    ``infos[agent]["elapsed"]`` are the base RTTs since the flow's last decision, the last one's
    ``["slowdown"]`` is the flow's (0 before).

    :meth:`state` is for a critic of all agents: the observations of ``possible_agents``, one after the other,
    zeros if an agent is not among ``agents`` or has not started. Its shape is always the same.

    Args:
        scenario: the scenario, its keys, or a function that draws one from each episode's seed; None:
            :func:`ns3_env.envs.gym_env.incast_scenario` of ``flows``.
        slots: maximum number of agents; None: that of the scenario.
        flows: senders of the default scenario; None: 4.
        fields, reward, action, task: see :class:`ns3_env.decision.task.Task`; ``task`` replaces the first
            three.
        render_mode: None, or "rgb_array": :meth:`render` draws queue, rates and windows.
        executable: see :class:`ns3_env.simulator.Simulator`.
        reset_tells_all: true if a reset returns an observation of every possible agent, as TorchRL's
            PettingZooWrapper requires; zeros for those without a flow in the episode, which are not in
            ``agents``. The telemetry in infos is then an array (fields,), NaN for unknown values, since that
            wrapper cannot read a dict.

    Raises ScenarioError if the scenario's clock is not synchronous (without a clock it becomes so).
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": RENDER_MODES,
        "render_fps": FPS,
        "name": "rdma_incast_v0",
        "is_parallelizable": True,
    }

    def __init__(
        self,
        scenario: ScenarioLike | Draw | None = None,
        *,
        flows: int | None = None,
        slots: int | None = None,
        fields: Sequence[str] = observations.FDCC_FIELDS,
        reward: RewardLike = DEFAULT_REWARD,
        action: ActionLike | None = None,
        task: Task | None = None,
        render_mode: str | None = None,
        executable: str | PathLike[str] | None = None,
        reset_tells_all: bool = False,
    ) -> None:
        EzPickle.__init__(self, **arguments(locals()))
        form, draw = first_played(scenario, flows)
        first = Scenario.of(form)
        scenario = first.model_copy(update={"clock": Synchronous()}) if scenario is None else first
        if scenario.clock.name != "synchronous":
            raise ScenarioError(
                f"{scenario.source or 'scenario'}: clock.name: a ParallelEnv needs 'synchronous'"
            )
        task = Task.of(task, fields, reward, action)
        self.set_up(scenario, task, render_mode, executable, draw, slots)
        one = task.observation_space
        count = len(self.possible_agents)
        self.state_space = gym.spaces.Box(np.tile(one.low, count), np.tile(one.high, count), dtype=np.float32)
        self._last: Observations = {}
        self._reset_tells_all = reset_tells_all
        self._told: list[Any] = []  # agents that were observed last

    def observation_space(self, agent: str) -> gym.spaces.Space[Any]:
        """Space of an agent's observation."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gym.spaces.Space[Any]:
        """Space of an agent's action."""
        return self.action_spaces[agent]

    def state(self) -> NDArray[np.float32]:
        """The last observations of all possible agents, (len(possible_agents) * len(fields),)."""
        state: NDArray[np.float32] = np.zeros((len(self.possible_agents), len(self.fields)), dtype=np.float32)
        slots = {agent: slot for slot, agent in enumerate(self.possible_agents)}
        for agent in self.agents:
            state[slots[agent]] = self._last[agent]
        return state.reshape(-1)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, dict[str, Any]]]:
        """Starts an episode: that of the seed, or the next of the environment's own generator."""
        self._begin(seed)
        self.agents = self.possible_agents[: self._count]
        zeros = np.zeros(self.task.observation_space.shape or (), dtype=np.float32)
        self._told = list(self.possible_agents if self._reset_tells_all else self.agents)
        self._last = {agent: zeros.copy() for agent in self._told}
        infos = {agent: self._silent() for agent in self._told} | self._advance({}, {}, {})
        return dict(self._last), infos

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Applies the actions of the agents that are due; runs until the next tick of the clock.

        Raises ValueError for actions that are missing, no numbers, or for agents that were not observed last;
        they may be given again then.
        """
        if not self.agents or self._due is None:
            return {}, {}, {}, {}, {}
        self._answer(self._due, actions, self._told)
        rewards = dict.fromkeys(self.agents, 0.0)
        terminated = dict.fromkeys(self.agents, False)
        truncated = dict.fromkeys(self.agents, False)
        infos = self._advance(rewards, terminated, truncated)
        observations, self._told = {agent: self._last[agent] for agent in self.agents}, self.agents
        self.agents = [agent for agent in self.agents if not (terminated[agent] or truncated[agent])]
        return observations, rewards, terminated, truncated, infos

    def _advance(
        self, rewards: dict[str, float], terminated: dict[str, bool], truncated: dict[str, bool]
    ) -> dict[str, dict[str, Any]]:
        """Receives until an agent is due, or none is left."""
        infos = {agent: self._silent() for agent in self.agents}
        living = set(self.agents)
        self._due = None
        while living:
            if (rows := self._received()) is None:
                # Flows that had not started when the episode was cut.
                truncated.update(dict.fromkeys(living, True))
                return infos
            outcomes = self._outcomes(rows)
            observation_rows = self.task.observe(rows.records)
            slots, due, first = rows.slots.tolist(), rows.due.tolist(), rows.first.tolist()
            paid, row_infos = outcomes.rewards.tolist(), outcomes.infos()
            telemetry = list(rows.records) if self._reset_tells_all else observations.named(rows.records)
            for row, slot in enumerate(slots):
                agent = self.possible_agents[slot]
                self._last[agent] = observation_rows[row]
                infos[agent] = _info(due[row], rows.time_ns, telemetry[row], row_infos[row])
                if not first[row]:
                    rewards[agent] = paid[row]
                if not due[row]:
                    living.discard(agent)
                    terminated[agent] = bool(outcomes.final[row])
                    truncated[agent] = not terminated[agent]
            if any(due):
                self._due = rows
                return infos
            if living:
                self._simulator.send_actions(())
        return infos

    def _silent(self) -> dict[str, Any]:
        """Returns the info of an agent that does not decide."""
        nothing: Any = np.full(len(observations.FIELDS), np.nan) if self._reset_tells_all else {}
        return _info(False, 0.0, nothing, {"elapsed": 0.0, "slowdown": 0.0, "cut": False})


def _info(due: bool, time_ns: float, telemetry: dict[str, float], outcome: dict[str, Any]) -> dict[str, Any]:
    """Returns an agent's info, always with the same keys."""
    return {"due": due, "time_ns": time_ns, "telemetry": telemetry, **outcome}
