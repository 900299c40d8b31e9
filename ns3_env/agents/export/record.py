# SPDX-License-Identifier: GPL-2.0-or-later
"""Records the histories that a policy observes while it plays a scenario across the channel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.trainer.environment import make_env
from ns3_env.errors import ConfigError
from ns3_env.policies.history import Floats, Ints
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import FloatArray, SlotStates, State
from ns3_env.scenario import Scenario

#: Episodes that may go by for the observations asked for: a scenario with fewer is hardly one.
_EPISODES = 1000


class _Recorder:
    """The policy, which keeps what it is asked."""

    def __init__(self, policy: NetworkPolicy) -> None:
        self.policy = policy
        self.fields, self.action_map = policy.fields, policy.action_map
        self.windows: list[Floats] = []
        self.lengths: list[Ints] = []
        self.count = 0

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        """See ``Policy``."""
        actions, after = self.policy.predict(observation, state, episode_start, deterministic)
        assert after is not None
        self.windows.append(after[0])
        self.lengths.append(after[1])
        self.count += len(actions)
        return actions, after


def record(
    policy: NetworkPolicy, env: EnvConfig, scenario: Scenario, seed: int, count: int
) -> tuple[Floats, Ints]:
    """So many histories (count, K, D), and their lengths (count,).

    Args:
        policy: decides.
        env: gives the action map's settings.
        scenario: is played, with other flows each time, until there are enough.
        seed: of the episodes.
        count: how many.

    Raises:
        ConfigError: the scenario hardly asks the policy.
        SimulatorError: the simulator failed.
    """
    if scenario.agent_flow_count == 0:
        raise ConfigError("the scenario has no flow under the agent: nothing to compare on")
    recorder = _Recorder(policy)
    states = SlotStates(recorder)
    own = env.model_copy(update={"fields": list(policy.fields)})
    stream = make_env(own, lambda episode: scenario, scenario.agent_flow_count, seed, simulators=1)
    episodes = 0
    try:
        stream.start()
        while recorder.count < count:
            batch = stream.recv()
            episodes += len(batch.results)
            if episodes >= _EPISODES:
                raise ConfigError(f"{recorder.count} decisions in {episodes} episodes: too few to compare on")
            states.forget(batch.slots[batch.first])
            if batch.due.any():
                slots = batch.slots[batch.due]
                stream.send(states.predict(batch.observations[batch.due], slots), slots)
    finally:
        stream.close()
    return np.concatenate(recorder.windows)[:count], np.concatenate(recorder.lengths)[:count]
