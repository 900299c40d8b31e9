# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what makes the tasks hard to learn, and draws it.

Usage: python docs/make/learning_diagnosis.py [NAME=POLICY ...]; POLICY: a file whose actions are looked at.
Writes docs/images/learning-diagnosis.png and prints Markdown. Needs the extra train.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import save

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.training.policy_tensors import Exported
from ns3_env.agents.training.trainer import policy_file
from ns3_env.decision.actions import FairShareWindow, LogarithmicWindow, Map
from ns3_env.decision.observations import column
from ns3_env.decision.rewards import make_reward
from ns3_env.envs.rollouts import Exploration, Rollout, Rollouts
from ns3_env.policies.file import PolicyFile, policy_bytes
from ns3_env.policies.header import Network, Training
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic import Flow, FlowList
from ns3_env.tasks import TaskSpec, task

#: All on one link, so that a scenario is the same whatever its seed.
SHOWN = ("Incast", "LongShort", "Shallow")
REWARDS = {"slowdown": "#D55E00", "sharing_gain": "#0072B2"}
GAMMAS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999)
#: Standard deviation of exploration, that of an untrained PPO.
NOISE = math.exp(-1.0)
#: Repetitions of a scenario, each with another exploration.
REPEATS, SCENARIOS = 8, 40


def answering(answer: float, action: Map, spec: TaskSpec) -> PolicyFile:
    """A policy that gives the same answer to everything it observes."""
    width = len(spec.fields)
    tensors = {
        "layers.0.weight": np.zeros((1, width), np.float32),
        "layers.0.bias": np.array([math.atanh(answer)], np.float32),
    }
    settings = EnvConfig.model_validate(
        {
            "fields": list(spec.fields),
            "action": {"name": action.name, **vars(action)},
            "clock": spec.clock.model_dump(),
        }
    )
    network = Network(kind="mlp", hidden_activation="relu", output_activation="tanh")
    return policy_file(Exported(network, tensors), settings, Training(agent="a constant answer"))


def listed(scenario: Scenario) -> Scenario:
    """The scenario with its flows as they were drawn, for an episode's seed would draw different ones."""
    drawn = scenario.to_simulator_json()["flows"]
    columns = [drawn[name] for name in ("src", "dst", "size_bytes", "start_ns")]
    flows = [
        Flow(src=src, dst=dst, size_bytes=size, start_ns=start)
        for src, dst, size, start in zip(*columns, strict=True)
    ]
    return scenario.model_copy(update={"traffic": FlowList(flows=flows)})


def episodes(spec: TaskSpec, content: bytes, noise: float, count: int, repeats: int = 1) -> Iterator[Rollout]:
    """Simulates ``count`` training scenarios ``repeats`` times each under a policy's file."""
    with Rollouts(lambda number: listed(spec.training(number // repeats)), task=spec.problem()) as rollouts:
        for _ in range(count * repeats):
            rollouts.begin(content, Exploration(noise=noise))
            yield rollouts.next()


def returns(rollout: Rollout, reward: str, gamma: float) -> np.ndarray:
    """Discounted return that follows each row, to the end of its flow."""
    paid = make_reward(reward)(rollout.records)
    discounts = gamma**rollout.elapsed
    ahead = np.zeros(len(paid))
    for row in range(len(paid) - 2, -1, -1):
        if rollout.decided[row]:
            ahead[row] = paid[row + 1] + discounts[row + 1] * ahead[row + 1]
    return ahead


def windows_over_shares(action: Map) -> np.ndarray:
    """Windows of an untrained policy's decisions on Incast, over the flows' fair shares of a BDP."""
    spec = task("Incast")
    content = policy_bytes(answering(0.0, action, spec))
    found = []
    for played in episodes(spec, content, NOISE, SCENARIOS):
        records = played.records[played.decided]
        share = np.maximum(column(records, "fair_share"), 1e-3) * column(records, "bdp_bytes")
        found.append(played.windows[played.decided, 0] / share)
    return np.concatenate(found)


def explored(name: str) -> list[Rollout]:
    """Episodes of a task under an untrained policy, each scenario several times."""
    spec = task(name)
    content = policy_bytes(answering(0.0, spec.action, spec))
    return list(episodes(spec, content, NOISE, SCENARIOS, REPEATS))


def explained(played: list[Rollout], reward: str, gamma: float) -> float:
    """Share of the variance of returns that a decision's own action accounts for, by a straight line."""
    acted = np.concatenate([one.actions[one.decided] for one in played])
    gained = np.concatenate([returns(one, reward, gamma)[one.decided] for one in played])
    return float(np.corrcoef(acted, gained)[0, 1] ** 2)


def not_the_agents(played: list[Rollout], reward: str) -> float:
    """Share of the variance of flows' whole returns that is there before anybody acts."""
    rows = []
    for number, one in enumerate(played):
        begins = np.flatnonzero(one.first)
        whole = np.add.reduceat(make_reward(reward)(one.records), begins)
        rows += [
            (number // REPEATS, flow, value)
            for flow, value in zip(one.flows[begins].tolist(), whole.tolist(), strict=True)
        ]
    table = pd.DataFrame(rows, columns=["scenario", "flow", "value"])
    within = table.groupby(["scenario", "flow"])["value"].var(ddof=1).mean()
    return float(1 - within / table["value"].var(ddof=1))


def spread_by_flows(played: list[Rollout], reward: str, gamma: float) -> pd.Series:
    """Standard deviation of returns, by the number of flows of the scenario: up to 2, 4, 8, ... 64."""
    rows = []
    for one in played:
        flows = 2 ** math.ceil(math.log2(len(np.unique(one.flows))))
        rows += [(flows, value) for value in returns(one, reward, gamma)[one.decided].tolist()]
    table = pd.DataFrame(rows, columns=["flows", "value"])
    return table.groupby("flows")["value"].std()


def draw_windows(axes: Axes) -> None:
    """Draws the content of a replay, under the tasks' first action map and under today's."""
    for action, colour in ((LogarithmicWindow(), "#D55E00"), (FairShareWindow(), "#0072B2")):
        ratios = np.sort(windows_over_shares(action))
        axes.plot(ratios, np.linspace(0, 1, len(ratios)), color=colour, label=action.name)
        print(f"{action.name}: {100 * np.mean(ratios < 0.1):.0f} % of windows below a tenth of the share")
    axes.set(xscale="log", xlabel="window / fair share of a BDP", ylabel="share of decisions")
    axes.set_title("What a replay holds (Incast)")


def draw_credit(axes: Axes, played: list[Rollout]) -> None:
    """Draws how much of a return is its first action's, over the horizon."""
    for reward, colour in REWARDS.items():
        shares = [explained(played, reward, gamma) for gamma in GAMMAS]
        axes.plot([1 / (1 - gamma) for gamma in GAMMAS], shares, "o-", color=colour, label=reward)
    axes.set(xscale="log", yscale="log", xlabel="horizon, 1 / (1 - γ) (base RTTs)")
    axes.set_ylabel("share of the variance of returns")
    axes.set_title("What is the action's own (Incast)")


def draw_difficulty(axes: Axes, played: dict[str, list[Rollout]]) -> None:
    """Draws how much of flows' returns is there before anybody acts."""
    places = np.arange(len(played))
    for offset, (reward, colour) in zip((-0.2, 0.2), REWARDS.items(), strict=True):
        shares = [not_the_agents(rollouts, reward) for rollouts in played.values()]
        axes.bar(places + offset, shares, 0.4, color=colour, label=reward)
        for name, share in zip(played, shares, strict=True):
            print(
                f"{name}, {reward}: {100 * share:.0f} % of the variance of whole returns is not the agent's"
            )
    axes.set_xticks(places, list(played))
    axes.set(ylim=(0, 1.25), ylabel="share of the variance of whole returns")
    axes.set_title("What is not the agent's")


def draw_spread(axes: Axes, played: list[Rollout]) -> None:
    """Draws how returns spread, over the number of flows."""
    for reward, colour in REWARDS.items():
        for gamma, style in ((0.95, "-"), (0.99, ":")):
            spread = spread_by_flows(played, reward, gamma)
            axes.plot(spread.index, spread, style, color=colour, label=f"{reward}, γ {gamma}")
    axes.set(xscale="log", yscale="log", xlabel="flows, at most", ylabel="standard deviation of returns")
    axes.set_xticks(list(spread.index), [str(flows) for flows in spread.index])
    axes.minorticks_off()
    axes.set_title("Returns spread (Incast)")


def print_saturation(name: str, policy: Path) -> None:
    """Prints how often a policy answers an end of its actions on Incast, and what it answers on average."""
    spec = task("Incast")
    actions = np.concatenate(
        [one.actions[one.decided] for one in episodes(spec, policy.read_bytes(), 0.0, SCENARIOS)]
    )
    print(f"| {name} | {actions.mean():.2f} | {100 * np.mean(actions < -0.98):.0f} % ", end="")
    print(f"| {100 * np.mean(actions > 0.98):.0f} % | {len(actions):,} |")


def main(policies: list[str]) -> None:
    """Draws the figure; prints its numbers and a table of the policies' actions."""
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    played = {name: explored(name) for name in SHOWN}
    draw_windows(axes[0])
    draw_credit(axes[1], played["Incast"])
    draw_difficulty(axes[2], played)
    draw_spread(axes[3], played["Incast"])
    for one in axes:
        one.legend(frameon=False, fontsize=8)
    save(figure, "learning-diagnosis", colors=64)
    if policies:
        print("\n| policy | mean action | at -1 | at 1 | decisions |\n|---|--:|--:|--:|--:|")
    for given in policies:
        name, _, path = given.partition("=")
        print_saturation(name, Path(path))


if __name__ == "__main__":
    main(sys.argv[1:])
