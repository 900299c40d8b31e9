# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what FDCC's critic predicts of decisions with what comes of them in branches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch as th
from matplotlib.figure import Figure
from numpy.typing import NDArray
from typing_extensions import Self

from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.configuration.inputs import make_task, read_inputs
from ns3_env.agents.fdcc.algorithm import FDCC
from ns3_env.agents.fdcc.config import FdccConfig
from ns3_env.agents.fdcc.replay import History
from ns3_env.agents.fdcc.td3 import compress
from ns3_env.agents.fdcc.trainer import FdccTrainer
from ns3_env.agents.training.checkpoint import resolve
from ns3_env.agents.training.layout import read_layout
from ns3_env.agents.training.run import plan
from ns3_env.config.files import write_file
from ns3_env.config.imports import is_code
from ns3_env.decision.outcomes import Batch
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.errors import ConfigError
from ns3_env.eval.output.plots import Floats, picture
from ns3_env.policies.file import POLICY_FILE
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import SlotStates
from ns3_env.scenario import Scenario
from ns3_env.simulator.simulator import around

#: A return ends where a reward counts less than this.
_LEAST_DISCOUNT = 0.02
#: Of decisions, that is judged.
_SHARE = 0.1
#: Seeds of episodes that no training draws.
_SEED = 2**40 + 7


@dataclass(frozen=True)
class Judged:
    """Decisions of a policy.

    Attributes:
        predicted: (n,) the smaller value of the two critics, as TD3 learns from it.
        returns: (n, k) discounted sums of rewards in k branches, compressed where the run compresses them.
    """

    predicted: Floats
    returns: Floats

    @property
    def bias(self) -> float:
        """Mean of what is predicted, less the mean return."""
        return float(np.mean(self.predicted - self.returns.mean(axis=1)))

    @property
    def correlation(self) -> float:
        """Correlation of predictions with the branches' mean returns."""
        return float(np.corrcoef(self.predicted, self.returns.mean(axis=1))[0, 1])


class _Play:
    """Episodes under the run's actor; branches explore as the run did."""

    def __init__(self, stream: FlowStream, policy: NetworkPolicy, gamma: float, compressed: bool) -> None:
        self.stream = stream
        self.states = SlotStates(policy)
        self.gamma = gamma
        self.compressed = compressed
        self.batch: Batch | None = None

    def receive(self) -> Batch:
        """The next rows; all simulators wait then."""
        self.batch = self.stream.recv(wait_all=True)
        self.states.forget(self.batch.slots[self.batch.first])
        return self.batch

    def act(self, noise: Callable[[int], Floats] | None = None) -> None:
        """The actor's actions of what was received, and noise on top."""
        assert self.batch is not None
        due = self.batch.due
        slots = self.batch.slots[due]
        actions = self.states.predict(self.batch.observations[due], slots)
        if noise is not None:
            actions = np.clip(actions + noise(len(slots))[:, None], -1.0, 1.0)
        self.stream.send(actions, slots)

    def branch(self) -> Self:
        """A copy of simulations and memories."""
        stream = self.stream.branch()
        return around(self, (self.states.policy, self.batch), stream=stream)

    def return_of(self, slot: int, noise: Callable[[int], Floats]) -> float | None:
        """The discounted return of the slot's decision that is due; None where an end cut it short."""
        future = self.branch()
        with future.stream:
            future.act()
            total, discount = 0.0, 1.0
            while discount >= _LEAST_DISCOUNT:
                batch = future.receive()
                for row in np.flatnonzero((batch.slots == slot) & ~batch.first):
                    reward = np.float32(batch.rewards[row])
                    total += discount * float(compress(np.array(reward)) if self.compressed else reward)
                    discount *= self.gamma ** float(batch.elapsed[row])
                    if not batch.due[row]:
                        return total if batch.final[row] else None
                future.act(noise)
            return total


def judge(
    run: Path,
    decisions: int = 150,
    futures: int = 8,
    progress: Callable[[int], object] = lambda done: None,
) -> Judged:
    """Judges decisions of a run's newest policy, on scenarios of its curriculum with seeds of their own.

    Args:
        run: folder of a run of agent fdcc.
        decisions: that are judged.
        futures: branches of each; the first has no exploration, the others explore as the run did.
        progress: hears how many are done.

    Raises:
        ConfigError: there is no critic, or too few decisions are asked for.
        ScenarioError, SimulatorError: as :class:`FlowStream`.
    """
    if decisions < 2 or futures < 1:
        raise ConfigError(
            f"decisions: at least 2, and a future of each, please; they are {decisions}, {futures}"
        )
    config, scenarios, model, policy = _read(run)
    agent = config.agent
    assert isinstance(agent, FdccConfig)
    random = np.random.default_rng(1)
    histories = SlotStates(model)
    predicted, returns = list[float](), list[list[float]]()
    task = make_task(config.env, str(run))
    slots = max(scenario.agent_flow_count for scenario in scenarios)
    with FlowStream(
        lambda episode: scenarios[episode % len(scenarios)], slots=slots, task=task, seed=_SEED
    ) as stream:
        play = _Play(stream, policy, agent.gamma_per_rtt, agent.compress_rewards)
        stream.start()
        while len(predicted) < decisions:
            batch = play.receive()
            due = batch.due
            due_slots = batch.slots[due]
            histories.forget(batch.slots[batch.first])
            if len(due_slots):
                histories.predict(batch.observations[due], due_slots)
            for slot in due_slots[random.random(len(due_slots)) < _SHARE].tolist():
                branches = [
                    play.return_of(slot, _noise(random, agent.action_noise if number else 0.0))
                    for number in range(futures)
                ]
                whole = [value for value in branches if value is not None]
                if len(whole) == futures and len(predicted) < decisions:
                    predicted.append(_value(model, histories, slot))
                    returns.append(whole)
                    progress(len(predicted))
            play.act()
    return Judged(np.array(predicted), np.array(returns))


def _noise(random: np.random.Generator, deviation: float) -> Callable[[int], Floats]:
    return lambda count: random.normal(0.0, deviation, count)


def _value(model: FDCC, histories: SlotStates, slot: int) -> float:
    """The smaller value of what the actor does in the slot."""
    state = histories.state_of(np.array([slot]))
    assert state is not None
    windows, lengths, action = (th.as_tensor(part) for part in state)
    with th.no_grad():
        values: NDArray[np.float32] = th.stack(
            [x.reshape(-1) for x in model.critic(History(windows, lengths), action)]
        ).numpy()
    return float(values.min())


def _read(run: Path) -> tuple[RunConfig, list[Scenario], FDCC, NetworkPolicy]:
    """A run's configuration, scenarios, learner and policy. Raises ConfigError."""
    inputs = None if not (run / "config.yaml").exists() else read_inputs(None, None, run)
    agent = None if inputs is None else inputs.config.get("agent")
    if inputs is None or not isinstance(agent, dict) or agent.get("name") != "fdcc":
        raise ConfigError(
            f"{run}: holds no critic of FDCC: name the folder of a run of agent fdcc (runs/NAME); a "
            "released policy's file has the actor alone"
        )
    planned = plan(inputs, ())
    if is_code(planned.config.env.action.name):
        raise ConfigError(f"{run}: its action map is code of one's own, which no policy's file holds")
    folder = resolve(run).folder
    assert folder is not None
    trainer = FdccTrainer.load(folder, read_layout(folder))
    assert isinstance(trainer.model, FDCC)
    scenarios = list(planned.curriculum.examples().values())
    return planned.config, scenarios, trainer.model, NetworkPolicy.load(folder / POLICY_FILE)


def draw_values(run: Path, out: Path, judged: Judged) -> Path:
    """Draws what was predicted against the returns, with their spread over branches; returns ``out``."""
    means, spreads = judged.returns.mean(axis=1), judged.returns.std(axis=1)
    figure = Figure(figsize=(4.6, 4.4), layout="constrained", facecolor="white")
    axes = figure.subplots()
    ends = np.array([min(means.min(), judged.predicted.min()), max(means.max(), judged.predicted.max())])
    ends += np.array([-0.05, 0.05]) * (ends[1] - ends[0])
    axes.plot(ends, ends, color="#999999", lw=1, zorder=1)
    axes.errorbar(
        judged.predicted, means, yerr=spreads, fmt="o", ms=3, lw=0.7, color="#0072B2", alpha=0.6, zorder=2
    )
    order = np.array_split(np.argsort(judged.predicted), min(6, len(means)))
    axes.plot(
        [judged.predicted[part].mean() for part in order],
        [means[part].mean() for part in order],
        "o-",
        color="#D55E00",
        ms=5,
        lw=1.4,
        zorder=3,
        label="means of equal groups",
    )
    axes.set(xlim=ends, ylim=ends, aspect="equal")
    axes.set_xlabel("the critics' value")
    axes.set_ylabel(f"return, mean and deviation of {judged.returns.shape[1]} branches")
    axes.set_title(f"{run.name}\nbias {judged.bias:+.3g}, correlation {judged.correlation:.2f}", fontsize=10)
    axes.legend(frameon=False, fontsize=9)
    write_file(out, picture(figure, "svg" if out.suffix == ".svg" else "png"))
    return out
