# SPDX-License-Identifier: GPL-2.0-or-later
"""Returns of the rewards that pay for completion, against the simulator's own completion times."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.decision.observations import column
from ns3_env.decision.rewards import make_reward
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.rollouts import Rollouts
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from tests.samples.policy_files import mlp_file
from tests.samples.scenarios import incast

CLOCKS = {
    "per_flow_rtt": {"name": "per_flow_rtt", "rtt_fraction": 0.5},
    "synchronous": {"name": "synchronous", "interval_ns": 7000},
    "per_ack": {"name": "per_ack"},
}
#: For each flow: its return, and its slowdown.
Paid = dict[int, tuple[float, float]]


def under(clock: str = "per_flow_rtt", **changes: Any) -> Scenario:
    return incast(4, 300_000, spread_ns=20_000, **{"clock": CLOCKS[clock], **changes})


def by_stream(scenario: Scenario, task: Task, policy: Path) -> tuple[Paid, dict[str, Any]]:
    """Runs random actions; returns also the episode's results."""
    random, paid, returns = np.random.default_rng(1), {}, np.zeros(16)
    with FlowStream(scenario, slots=16, task=task) as stream:
        stream.start()
        while not (batch := stream.recv()).results:
            for row, flow in enumerate(batch.flows.tolist()):
                returns[flow] += batch.rewards[row]
                if not batch.due[row]:
                    paid[flow] = returns[flow], float(batch.slowdowns[row])
            due = batch.slots[batch.due]
            stream.send(random.uniform(-1, 1, (len(due), 1)), due)
        return paid, batch.results[0][1]


def by_vec_env(scenario: Scenario, task: Task, policy: Path) -> tuple[Paid, dict[str, Any]]:
    paid, totals = {}, np.zeros(4)
    with FlowVecEnv(scenario, slots=4, task=task) as env:
        env.mask.acknowledge()
        env.reset()
        while not env.results:
            _, rewards, _, infos = env.step(np.zeros((4, 1)))
            totals += rewards
            for slot, info in enumerate(infos):
                if "slowdown" in info:
                    paid[slot] = info["episode"]["r"], info["slowdown"]
        assert all(totals[slot] == pytest.approx(-slowdown, 1e-6) for slot, (_, slowdown) in paid.items())
        return paid, env.results[0][1]


def by_flow_env(scenario: Scenario, task: Task, policy: Path) -> tuple[Paid, None]:
    env = FlowEnv(scenario, flow=2, others="hpcc" if scenario.transport == "rdma" else "cubic", task=task)
    env.reset(seed=1)
    total, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, info = env.step(np.zeros(1))
        total, over = total + reward, terminated or truncated
    env.close()
    return {2: (total, info["slowdown"])}, None


def by_agents(env: Any, infos: dict[Any, Any]) -> tuple[Paid, None]:
    paid: Paid = {}
    totals = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        actions = {agent: np.zeros(1) for agent in env.agents}
        _, rewards, _, _, infos = env.step(actions)
        for agent, info in infos.items():
            totals[agent] += rewards.get(agent, 0.0)
            if "slowdown" in info:
                paid[int(agent.removeprefix("flow_"))] = totals[agent], info["slowdown"]
    env.close()
    return paid, None


def by_parallel_env(scenario: Scenario, task: Task, policy: Path) -> tuple[Paid, None]:
    env = FlowParallelEnv(scenario, task=task)
    return by_agents(env, env.reset(seed=1)[1])


def by_multi_agent_env(scenario: Scenario, task: Task, policy: Path) -> tuple[Paid, None]:
    pytest.importorskip("ray")
    from ns3_env.envs.rllib_env import FlowMultiAgentEnv

    env = FlowMultiAgentEnv({"scenario": scenario, "task": task})
    return by_agents(env, env.reset(seed=1)[1])


def by_rollouts(scenario: Scenario, task: Task, policy: Path) -> tuple[Paid, dict[str, Any]]:
    fields = [{"field": name} for name in ("rtt", "goodput", "pacing_rate", "ecn_fraction", "last_action")]
    file = mlp_file(policy / f"{scenario.clock.name}.safetensors", clock=scenario.clock, observation=fields)
    with Rollouts(scenario, task=task) as rollouts:
        rollouts.begin(file)
        transitions = rollouts.next()
    ends = np.flatnonzero(~transitions.decided)
    returns = [total for _, total, _ in transitions.finished]
    outcomes = zip(transitions.flows[ends], returns, transitions.slowdowns[ends], strict=True)
    return {int(flow): (total, float(slowdown)) for flow, total, slowdown in outcomes}, transitions.results


FRONT_ENDS: dict[str, Callable[[Scenario, Task, Path], tuple[Paid, Any]]] = {
    "stream": by_stream,
    "vec_env": by_vec_env,
    "flow_env": by_flow_env,
    "parallel_env": by_parallel_env,
    "multi_agent_env": by_multi_agent_env,
    "rollouts": by_rollouts,
}
#: The simulator charges by clock and transport; every front end adds up in its own way.
CASES = [("stream", clock, transport) for clock in CLOCKS for transport in ("rdma", "tcp")]
CASES += [(front_end, "synchronous", "rdma") for front_end in FRONT_ENDS if front_end != "stream"]


@pytest.mark.parametrize("time_limit", ["20ms", "60us"])
@pytest.mark.parametrize(("front_end", "clock", "transport"), CASES)
def test_the_return_of_a_flow_is_minus_its_slowdown(
    front_end: str, clock: str, transport: str, time_limit: str, tmp_path: Path
) -> None:
    scenario = under(clock, transport=transport, time_limit_ns=time_limit)
    paid, results = FRONT_ENDS[front_end](scenario, Task(("rtt", "pacing_rate")), tmp_path)
    assert len(paid) == (1 if front_end == "flow_env" else 4)
    for flow, (total, slowdown) in paid.items():
        assert total == pytest.approx(-slowdown, rel=1e-9), flow
    if results is not None:
        of = {name: np.array(results["flows"][name]) for name in ("fct_ns", "standalone_ns")}
        for flow, (_, slowdown) in paid.items():
            if of["fct_ns"][flow] >= 0:
                assert slowdown == pytest.approx(of["fct_ns"][flow] / of["standalone_ns"][flow], rel=1e-12)


def test_a_flow_that_is_cut_pays_for_what_is_left_at_its_ideal_rate(tmp_path: Path) -> None:
    paid, results = by_stream(under(time_limit_ns="60us"), Task(("rtt",)), tmp_path)
    flows = {name: np.array(values) for name, values in results["flows"].items()}
    assert (flows["fct_ns"] < 0).all()
    lived = 60_000 - flows["start_ns"]
    remaining = 1 - flows["acked_bytes"] / flows["size_bytes"]
    expected = lived / flows["standalone_ns"] + remaining
    assert [paid[flow][1] for flow in range(4)] == pytest.approx(expected, rel=1e-12)


def test_a_decision_overtaken_by_its_flows_end_is_paid_with_it(tmp_path: Path) -> None:
    scenario = under("per_ack", decision_quantum_ns=3000)
    paid, _ = by_stream(scenario, Task(("rtt",)), tmp_path)
    assert all(total == pytest.approx(-slowdown, rel=1e-9) for total, slowdown in paid.values())


def test_shaping_changes_returns_by_its_end_points_alone(tmp_path: Path) -> None:
    plain, shaped = (
        by_rollouts(under(), Task(("rtt",), make_reward("slowdown", shaping=weight)), tmp_path)[0]
        for weight in (0.0, 3.0)
    )
    with Rollouts(under(), task=Task(("rtt", "remaining", "attained"))) as rollouts:
        rollouts.begin(tmp_path / "per_flow_rtt.safetensors")
        transitions = rollouts.next()
    remaining, attained = transitions.observations[transitions.first][:, 1:].T
    for flow, share in enumerate(remaining / (remaining + attained)):
        # Φ = -3 x share left: 0 at the end, at the first decision as much as was left then.
        assert shaped[flow][0] - plain[flow][0] == pytest.approx(3.0 * share, rel=1e-6)


def test_elapsed_is_the_time_between_decisions_in_base_rtts(tmp_path: Path) -> None:
    file = mlp_file(tmp_path / "policy.safetensors")
    with Rollouts(under(), fields=("time_ns", "base_rtt_ns")) as rollouts:
        rollouts.begin(file)
        transitions = rollouts.next()
    time, base = column(transitions.records, "time_ns"), transitions.observations[:, 1]
    assert (transitions.elapsed[transitions.first] == 0).all()
    later = np.flatnonzero(~transitions.first)
    assert transitions.elapsed[later] == pytest.approx(
        (time[later] - time[later - 1]) / base[later], rel=1e-6
    )


def test_flows_without_an_end_have_no_slowdown_and_are_refused() -> None:
    endless = under(traffic={"kind": "incast", "size_bytes": "endless"}, time_limit_ns="60us")
    with pytest.raises(ScenarioError, match=r"reward: Slowdown .*endless.*goodput_delay"):
        Task(("rtt",)).check(endless)
    Task(("rtt",), "proportional").check(endless)
