# SPDX-License-Identifier: GPL-2.0-or-later
"""Padding rows of slots without a flow, which no learner stores or learns from."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch as th
from numpy.typing import ArrayLike
from sb3_contrib import TQC, RecurrentPPO
from sb3_contrib.common.recurrent.type_aliases import RNNStates
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy

from ns3_env.envs.sb3_buffers import masked, none_alone
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.envs.slots import SlotAllocator
from ns3_env.errors import PaddingError, ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator import DecisionBatch

#: Flows of all lengths, in sequence: four in parallel need four slots, some of which nearly always wait.
SIZES = [120_000, 400_000, 80_000, 150_000, 70_000, 90_000, 250_000, 100_000]


def scenario(clock: str = "synchronous") -> Scenario:
    flows = [
        {"src": 1 + i % 4, "dst": 0, "size_bytes": size, "start_ns": 9_000 * i}
        for i, size in enumerate(SIZES)
    ]
    content = {
        "topology": {"kind": "dumbbell", "senders": 4},
        "traffic": {"kind": "list", "flows": flows},
        "clock": {"name": clock},
        "time_limit_ns": 10_000_000,
    }
    return Scenario.from_mapping(content, "test.yaml")


class Counting(FlowVecEnv):
    """Records the input of each decision."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(scenario(), slots=8, num_simulators=2, **settings)
        self.decided: list[bytes] = []
        self.steps = 0

    def send(self, actions: ArrayLike, slots: ArrayLike) -> None:
        self.decided += [row.tobytes() for row in self._observations[np.asarray(slots, dtype=int)]]
        self.steps += 1
        super().send(actions, slots)


class OfRollouts(BaseCallback):
    """Compares each rollout's minibatches with the decisions made during it."""

    def __init__(self, env: Counting) -> None:
        super().__init__()
        self.env = env
        self.rollouts = 0

    def _on_rollout_start(self) -> None:
        self.before = len(self.env.decided)

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        decisions = Counter(self.env.decided[self.before :])
        learned: Counter[bytes] = Counter()
        for batch in self.model.rollout_buffer.get(8):  # type: ignore[attr-defined]
            real = batch.mask.numpy() > 0 if hasattr(batch, "mask") else slice(None)
            learned.update(row.tobytes() for row in batch.observations.numpy()[real])
        assert learned == decisions
        self.rollouts += 1


def small() -> dict[str, Any]:
    return {"net_arch": [8]}  # of each algorithm its own: they write into it


@pytest.mark.parametrize("algorithm", [TD3, SAC, TQC])
def test_what_is_replayed_are_decisions(algorithm: Callable[..., Any]) -> None:
    with Counting() as env:
        model = masked(
            algorithm("MlpPolicy", env, buffer_size=5_000, learning_starts=200, seed=1, policy_kwargs=small())
        )
        model.learn(600)
        stored = model.replay_buffer.observations[: model.replay_buffer.pos, 0]
        assert Counter(row.tobytes() for row in stored) == Counter(env.decided)
        assert 0 < len(env.decided) < 0.6 * env.steps * env.num_envs  # the test would notice padding


@pytest.mark.parametrize(
    ("algorithm", "policy", "more"),
    [(PPO, "MlpPolicy", {}), (RecurrentPPO, "MlpLstmPolicy", {"lstm_hidden_size": 4})],
)
def test_what_rollouts_teach_are_decisions(
    algorithm: Callable[..., BaseAlgorithm], policy: str, more: dict[str, int]
) -> None:
    with Counting() as env:
        callback, networks = OfRollouts(env), {**small(), **more}
        model = algorithm(policy, env, n_steps=16, batch_size=16, n_epochs=1, policy_kwargs=networks)
        masked(model).learn(16 * 16 * 3 + 1, callback=callback)
        assert callback.rollouts > 2


@pytest.mark.parametrize("algorithm", [TD3, PPO])
def test_to_learn_from_padding_is_an_error_that_says_what_to_do(algorithm: Callable[..., Any]) -> None:
    with Counting() as env, pytest.raises(PaddingError, match=r"\d+ of 16 rows .*masked\(algorithm\)"):
        algorithm("MlpPolicy", env).learn(500)


def test_no_mask_is_needed_where_each_row_is_a_decision() -> None:
    one = {"kind": "incast", "size_bytes": 100_000, "flows": 1}
    content = scenario().model_dump() | {"traffic": one}
    with FlowVecEnv(Scenario.from_mapping(content, "test.yaml"), slots=1, num_simulators=3) as env:
        model = TD3("MlpPolicy", env, learning_starts=50, buffer_size=1_000, policy_kwargs=small()).learn(150)
        assert model.num_timesteps >= 150


def test_masked_buffers_refuse_a_clock_that_tells_of_outcomes_later() -> None:
    with FlowVecEnv(scenario("per_flow_rtt"), slots=8) as env:
        model = masked(SAC("MlpPolicy", env, buffer_size=1_000, policy_kwargs=small()))
        with pytest.raises(PaddingError, match="needs the clock 'synchronous'"):
            model.learn(500)


def test_a_slot_is_a_flow_that_lives_and_then_the_next_one() -> None:
    """Eight flows, of which few are active at a time: fewer slots suffice, with the same observations."""
    records_by_slots = {}
    for slots in (8, 6):
        records: dict[int, list[bytes]] = {}
        with FlowVecEnv(scenario(), slots=slots, seed=3) as env:
            env.start()
            results: list[Any] = []
            at_once = 0
            while not results:
                batch = env.recv()
                results = batch.results
                if results:
                    break
                for row, flow in enumerate(batch.flows):
                    records.setdefault(int(flow), []).append(batch.records[row].tobytes())
                due = batch.due
                assert len(set(batch.slots[due])) == int(due.sum())
                at_once = max(at_once, int(due.sum()))
                env.send(np.zeros((int(due.sum()), 1)), batch.slots[due])
        assert at_once <= 6
        records_by_slots[slots] = records
    assert len(records_by_slots[6]) == len(SIZES)
    assert records_by_slots[6] == records_by_slots[8]


def test_too_few_slots_are_an_error_that_says_so() -> None:
    with FlowVecEnv(scenario(), slots=1) as env, pytest.raises(ScenarioError, match="has 1 slots per simul"):
        masked(TD3("MlpPolicy", env, policy_kwargs=small())).learn(500)


def test_too_few_slots_are_said_before_padding_is() -> None:
    message = "^slots is 2, and the scenario has 8 flows under the agent: .* Then: 1 of 2 rows have no flow"
    with FlowVecEnv(scenario("per_flow_rtt"), slots=2) as env:
        env.reset()
        with pytest.raises(PaddingError, match=message):
            env.step(np.zeros((2, 1)))


@pytest.mark.parametrize("number", [-1, 2**31 - 1])
def test_a_number_that_no_flow_has_is_refused_before_memory_is_taken(number: int) -> None:
    none = np.zeros(1, dtype=np.bool_)
    row = DecisionBatch(0.0, np.zeros(1, dtype=int), np.array([number]), ~none, none, none, np.zeros((1, 1)))
    with pytest.raises(ScenarioError, match=f"the number {number}, which none can have"):
        SlotAllocator(2).place(row)


class AsIfAlone(BaseCallback):
    """Compares a rollout with a separate pass over each flow's observations from a state of zeros."""

    flows = goes_on = 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        model: Any = self.model
        buffer, policy = model.rollout_buffer, model.policy
        for slot in range(buffer.n_envs):
            rows = np.flatnonzero(buffer.decided[:, slot])
            begins = np.flatnonzero(buffer.episode_starts[rows, slot])
            ends = [*begins[1:], len(rows)]
            self.goes_on += len(rows) > 0 and (len(begins) == 0 or begins[0] > 0)
            for first, last in zip(begins, ends, strict=True):
                span = rows[first:last]
                observations, did = (
                    th.as_tensor(x[span, slot]) for x in (buffer.observations, buffer.actions)
                )
                zeros = tuple(th.zeros(1, 1, policy.lstm_output_dim) for _ in range(2))
                with th.no_grad():
                    values, logs, _ = policy.evaluate_actions(
                        observations, did, RNNStates(zeros, zeros), th.zeros(len(span))
                    )
                np.testing.assert_allclose(values[:, 0], buffer.values[span, slot], rtol=1e-4, atol=1e-5)
                np.testing.assert_allclose(logs, buffer.log_probs[span, slot], rtol=1e-4, atol=1e-5)
                self.flows += 1
        for batch in buffer.get(24):
            real = batch.mask > 0
            assert real.sum() > 1
            with th.no_grad():
                _, logs, _ = policy.evaluate_actions(
                    batch.observations, batch.actions, batch.lstm_states, batch.episode_starts
                )
            np.testing.assert_allclose(logs[real], batch.old_log_prob[real], rtol=1e-4, atol=1e-5)


def test_a_flows_memory_begins_with_it_and_its_sequences_are_its_own() -> None:
    with Counting() as env:
        networks = {**small(), "lstm_hidden_size": 4, "log_std_init": -1.0}
        model = RecurrentPPO(
            "MlpLstmPolicy",
            env,
            n_steps=16,
            batch_size=24,
            n_epochs=2,
            learning_rate=0.02,
            policy_kwargs=networks,
        )
        compared = AsIfAlone()
        masked(model).learn(16 * 16 * 6, callback=compared)
        assert compared.flows > 8
        assert compared.goes_on > 4  # the test covers flows that continue from one rollout to the next


@pytest.mark.parametrize(
    ("sizes", "lengths"),
    [([3, 1, 2], [3, 3]), ([1, 1, 1, 1], [2, 2]), ([2, 2, 1], [2, 3]), ([1, 4, 1], [6]), ([1, 1, 1], [3])],
)
def test_no_decision_is_alone_in_a_minibatch_of_a_recurrent_policy(
    sizes: list[int], lengths: list[int]
) -> None:
    """RecurrentPPO divides by the spread of advantages: one advantage has none, and weights became NaN."""
    rows = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    merged = none_alone(rows)
    assert [len(part) for part in merged] == lengths
    assert np.concatenate(merged).tolist() == list(range(sum(sizes)))


def test_evaluation_counts_each_flow_once() -> None:
    with Counting() as env:
        model = masked(PPO("MlpPolicy", env, n_steps=16, batch_size=16, policy_kwargs=small()))
        rewards, lengths = evaluate_policy(model, env, n_eval_episodes=16, return_episode_rewards=True)
        assert len(rewards) >= 16
        assert min(lengths) >= 1
