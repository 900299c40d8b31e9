# SPDX-License-Identifier: GPL-2.0-or-later
"""PPO and TRPO in the simulators: likelihoods, advantages of episodes, runs, a policy as start."""

import csv
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th
import yaml
from gymnasium.spaces import Box
from numpy.typing import NDArray
from stable_baselines3.common.buffers import RolloutBuffer

import train
from ns3_env.agents.configuration.config import EnvConfig, RunConfig
from ns3_env.agents.sb3.censored import CensoredGaussian
from ns3_env.agents.sb3.episode_buffer import (
    equal_shares,
    generalised_advantages,
    of_other_plays,
    standardised,
)
from ns3_env.agents.sb3.ppo import PpoTrainer
from ns3_env.agents.training.layout import read_arrays
from ns3_env.agents.training.learned import POLICY
from ns3_env.agents.training.rollout_env import RolloutEnv, SpacesOnly
from ns3_env.config.model import validate
from ns3_env.config.yaml import put
from ns3_env.decision.observations import INDEX
from ns3_env.decision.task import Task
from ns3_env.envs.rollouts import Exploration, Rollout
from ns3_env.errors import ConfigError
from ns3_env.policies.file import POLICY_FILE, read_policy
from ns3_env.policies.released import released
from ns3_env.policies.tensors import Tensors
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.paths import ROOT
from tests.samples.agents import trainer
from tests.samples.episodes import ENDS, played, same
from tests.samples.policy_files import mlp_file
from tests.samples.runs import checkpoints, the_run, written

CONFIG: dict[str, Any] = {
    "agent": {"name": "ppo", "options": {"n_steps": 200, "batch_size": 64, "n_epochs": 2}},
    "env": {"placement": "simulator", "fields": ["rtt", "last_action"], "simulators": 1},
    "train": {"decisions": 800},
}
INCAST: dict[str, Any] = {
    "time_limit_ns": "1ms",
    "topology": {"kind": "dumbbell", "senders": 3},
    "traffic": {"kind": "incast", "size_bytes": 100_000, "spread_ns": 20_000},
}


def trained(folder: Path, **changes: Any) -> Path:
    """The run's folder."""
    folder.mkdir()
    config = {**CONFIG, **{key: {**CONFIG[key], **value} for key, value in changes.items()}}
    arguments = written(folder, config, {"stages": [{"name": "incast", "scenario": INCAST}]})
    assert train.main([*arguments, "--no-evaluation"]) == 0
    return the_run(folder)


@pytest.mark.parametrize("mean", [-1.4, 0.2, 0.97])
def test_what_a_cut_gaussian_says_of_all_actions_adds_up_to_one(mean: float) -> None:
    cut = CensoredGaussian(1).proba_distribution(th.tensor([[mean]]), th.tensor([-1.0]))
    inside = th.linspace(-1, 1, 20_001)[1:-1, None]
    likelihoods = cut.log_prob(inside).exp().double()
    bounds = cut.log_prob(th.tensor([[-1.0], [1.0]])).exp().double()
    assert float(likelihoods.sum() * 1e-4 + bounds.sum()) == pytest.approx(1.0, abs=1e-3)


def test_advantages_are_stable_baselines3s_where_all_decisions_take_one_base_rtt() -> None:
    random, gamma, gae_lambda = np.random.default_rng(2), 0.9, 0.8
    rewards, values = random.normal(size=(2, 8))
    decided = np.array([True, True, True, False, True, True, True, False])  # two flows
    values[~decided] = 0.0
    advantages = generalised_advantages(rewards, np.full(8, gamma), values, decided, gae_lambda)[decided]
    spaces = Box(-1, 1, (1,)), Box(-1, 1, (1,))
    buffer = RolloutBuffer(6, *spaces, gamma=gamma, gae_lambda=gae_lambda)
    for row in np.flatnonzero(decided):
        value = th.tensor([values[row]])
        buffer.add(
            np.zeros(1), np.zeros(1), rewards[row + 1 : row + 2], np.array([row in (0, 4)]), value, value
        )
    buffer.compute_returns_and_advantage(th.zeros(1), np.array([True]))
    assert advantages == pytest.approx(buffer.advantages.ravel(), rel=1e-6)


def test_a_run_depends_on_its_seed_and_not_on_the_number_of_simulators(tmp_path: Path) -> None:
    runs = [trained(tmp_path / str(count), env={"simulators": count}) for count in (1, 3)]
    one, three = ((checkpoints(run)[-1] / POLICY_FILE).read_bytes() for run in runs)
    assert one[one.index(b"sha256") :][:80] == three[three.index(b"sha256") :][:80]


def test_trpo_learns_from_plays_of_the_same_flows(tmp_path: Path) -> None:
    agent = {"name": "trpo", "options": {"n_steps": 100, "n_critic_updates": 1}, "advantages": "episode"}
    config = {"agent": agent, "env": {"plays": 3, "prefetch": 2}, "train": {"decisions": 300}}
    run = trained(tmp_path / "run", **config)
    states = [json.loads((folder / "learner.json").read_text()) for folder in checkpoints(run)]
    assert states[-1]["counts"]["updates"] >= 2
    first, last = (read_policy(checkpoints(run)[i] / POLICY_FILE).tensors for i in (0, -1))
    assert not np.array_equal(first["layers.0.weight"], last["layers.0.weight"])


def test_what_it_learned_decides_inside_the_simulator_under_the_clock_of_its_choice(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", env={"clock": {"name": "per_flow_rtt", "rtt_fraction": 1.0}})
    scenario = Scenario.from_mapping({**INCAST, "controllers": ["agent"]}, "incast")
    with Simulator() as simulator:
        results = simulator.play(scenario.playing(checkpoints(run)[-1] / POLICY_FILE))
    assert min(results["flows"]["fct_ns"]) > 0


def test_ratios_of_likelihoods_stay_finite_where_a_narrow_policy_moves() -> None:
    narrow = CensoredGaussian(1).proba_distribution(th.tensor([[5.0]], requires_grad=True), th.tensor([-6.0]))
    likely = narrow.log_prob(th.tensor([[-1.0], [0.3], [1.0]]))
    assert bool(th.isfinite((0.0 - likely).exp()).all())


def test_an_algorithm_without_noise_refuses_it() -> None:
    with pytest.raises(ConfigError, match=r"ppo does not accept its options: .*action_noise"):
        trainer({"name": "ppo", "action_noise": 0.1, "options": {"n_steps": 16, "batch_size": 16}})


START = read_policy(released("dispatcher"))


def configured(**overrides: Any) -> dict[str, Any]:
    """The content of configs/ppo-drawn.yaml, with dotted keys (``__`` for a dot) changed."""
    config: dict[str, Any] = yaml.safe_load((ROOT / "configs/ppo-drawn.yaml").read_text())
    for key, value in overrides.items():
        config = put(config, key.replace("__", "."), value)
    return config


def started(**overrides: Any) -> PpoTrainer:
    """A trainer that has not learned."""
    config = validate(configured(**overrides), RunConfig, "ppo-drawn.yaml")
    env = config.env
    return PpoTrainer(config, SpacesOnly(env.fields, env.action.name, 1, env.action.settings))


def equal(some: Tensors, others: Tensors) -> bool:
    return all(np.array_equal(some[name], others[name]) for name in others)


def run(folder: Path, **overrides: Any) -> Path:
    """The folder of a short run on incasts, a checkpoint after each update."""
    config = configured(
        agent__options__n_steps=100,
        agent__options__batch_size=64,
        agent__options__n_epochs=2,
        train={"decisions": 1000, "checkpoint_every": 1, "keep_checkpoints": 100},
        **overrides,
    )
    validation = {"every_episodes": 3, "episodes": 1, "score": "slowdown"}
    curriculum = {"validation": validation, "stages": [{"name": "incast", "scenario": INCAST}]}
    assert train.main([*written(folder, config, curriculum), "--no-evaluation"]) == 0
    return the_run(folder)


def critics(folders: Sequence[Path]) -> list[Any]:
    return [read_arrays(folder / POLICY)["value_net.weight"] for folder in folders]


def test_it_begins_as_the_file_to_the_bit_with_what_that_spares() -> None:
    policy = started().export()
    assert equal(policy.tensors, START.tensors)
    unlike = {"training": True, "action": {"least_packets"}}
    assert policy.spec.model_dump(exclude=unlike) == START.spec.model_dump(exclude=unlike)


def test_the_actor_stays_until_its_critic_has_learned(tmp_path: Path) -> None:
    folders = checkpoints(run(tmp_path, agent__actor_starts=4))
    actors = [equal(read_policy(folder / POLICY_FILE).tensors, START.tensors) for folder in folders]
    assert actors[:4] == [True, True, True, False]  # the start, two updates of two passes, the next
    first, second = critics(folders[:2])
    assert not np.array_equal(first, second)


def test_validations_may_be_scored_by_slowdown(tmp_path: Path) -> None:
    with (run(tmp_path) / "progress.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["validation/score"]]
    for row in rows:
        slowdown = float(row["validation_episode/fct_slowdown"])
        assert float(row["validation/score"]) == pytest.approx(-np.log(slowdown), rel=1e-5)
    assert rows


def test_a_field_that_the_start_does_not_read_changes_nothing_at_first() -> None:
    more = started(env__fields=[*START.spec.fields, "rtt"]).network().tensors
    first = "layers.0.weight"
    assert np.array_equal(more[first][:, :-1], START.tensors[first])
    assert not more[first][:, -1].any()
    assert equal({**more, first: START.tensors[first]}, START.tensors)


def test_another_network_or_observation_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"agent\.start: dispatcher has other layers"):
        started(agent__options__policy_kwargs__net_arch=[18, 16])
    with pytest.raises(ConfigError, match=r"agent\.start: dispatcher reads 1 observations of qlen"):
        started(env__fields=["qlen", "rtt"])
    with pytest.raises(ConfigError, match=r"agent\.start: dispatcher is .*output_activation='tanh'"):
        started(agent__options__policy_kwargs__bounded=False)


def test_what_only_simulators_do_is_refused_across_the_channel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    across: dict[str, Any] = {"env__placement": "python", "env__clock": {"name": "synchronous"}}
    config = configured(**across, agent__options={"n_steps": 8, "batch_size": 8})
    arguments = written(tmp_path, config, {"stages": [{"name": "incast", "scenario": INCAST}]})
    assert train.main([*arguments, "--no-evaluation"]) != 0
    assert "agent.start: needs env.placement=simulator" in capsys.readouterr().err


@pytest.fixture(scope="module")
def rollout(tmp_path_factory: pytest.TempPathFactory) -> Rollout:
    """An episode, of which tests replace what they look at."""
    return played(mlp_file(tmp_path_factory.mktemp("policy") / "policy.safetensors"), ENDS, 1)[0]


def of_flows(rollout: Rollout, seed: int, flows: dict[int, list[float]]) -> Rollout:
    """A rollout with rows at these times since each flow's start."""
    lengths = [len(times) for times in flows.values()]
    records = np.zeros((sum(lengths), rollout.records.shape[1]))
    starts = np.repeat([1000.0 * flow for flow in flows], lengths)
    records[:, INDEX["time_ns"]] = starts + np.concatenate(list(flows.values()))
    first = np.zeros(len(records), dtype=np.bool_)
    first[np.cumsum([0, *lengths[:-1]])] = True
    ended = np.roll(first, -1)
    numbers = np.repeat(list(flows), lengths)
    rows = {"flows": numbers, "first": first, "terminated": ended, "truncated": np.zeros_like(ended)}
    return replace(rollout, seed=seed, records=records, **rows)


def test_a_baseline_is_what_other_plays_of_the_flow_had_at_the_same_time(rollout: Rollout) -> None:
    plays = [
        of_flows(rollout, 1, {0: [0.0, 10.0, 20.0], 4: [0.0, 5.0]}),
        of_flows(rollout, 1, {0: [0.0, 20.0, 30.0], 4: [0.0, 2.0]}),
        of_flows(rollout, 2, {0: [0.0, 10.0]}),  # other flows: nothing to compare with
    ]
    advantages = np.array([8.0, 4.0, 0.0, 1.0, 0.0, 6.0, 2.0, 0.0, 3.0, 0.0, 9.0, 0.0])
    baselines = of_other_plays(plays, advantages)
    assert baselines[:3].tolist() == [6.0, 4.0, 2.0]  # halfway from 6 to 2 is 4
    assert baselines[3:5].tolist() == [3.0, 0.0]  # that play's flow was over at 2
    assert baselines[5:8].tolist() == [8.0, 0.0, 0.0]
    assert not baselines[10:].any()


def test_advantages_of_each_episode_weigh_the_same(rollout: Rollout) -> None:
    random = np.random.default_rng(3)
    parts: list[NDArray[np.float64]] = [random.normal(5.0, 0.1, 40), random.normal(-300.0, 80.0, 900)]
    episodes = [of_flows(rollout, seed, {0: [*map(float, range(n + 1))]}) for seed, n in ((1, 40), (2, 900))]
    both = standardised(np.concatenate(parts), episodes)
    for part in (both[:40], both[40:]):
        assert (part.mean(), part.std()) == pytest.approx((0.0, 1.0), abs=1e-6)
    together = standardised(np.concatenate(parts), [replace(episode, seed=1) for episode in episodes])
    assert together[:40].mean() > together[40:].mean() + 1  # the better of two plays stays the better one


def test_an_update_has_as_many_rows_of_a_short_episode_as_of_a_long_one() -> None:
    rows = equal_shares([100, 0, 9000], seed=1)
    assert np.count_nonzero(rows < 100) == np.count_nonzero(rows >= 100)
    assert set(rows[rows < 100]) == set(range(100))
    assert len(set(rows[rows >= 100])) == np.count_nonzero(rows >= 100)
    assert rows.max() < 9100


def test_an_update_has_all_plays_of_its_flows(tmp_path: Path) -> None:
    policy = mlp_file(tmp_path / "policy.safetensors").read_bytes()
    config = EnvConfig(fields=["rtt"], placement="simulator", plays=3, prefetch=2)
    env = RolloutEnv(config, lambda _: ENDS, Task(["rtt"]), seed=1, simulators=2)
    with closing(env):
        for expected in (range(3), range(3, 6)):
            plays = list(env.batch(lambda: policy, Exploration(), decisions=1))
            assert [play.episode for play in plays] == list(expected)
            assert len({play.seed for play in plays}) == 1
        env.go_on_with([7])  # a run that was stopped amid plays begins with others
        assert [play.episode for play in env.batch(lambda: policy, Exploration(), 1)] == [9, 10, 11]


def test_plays_have_the_same_flows_and_explore_differently(tmp_path: Path) -> None:
    policy, noise = mlp_file(tmp_path / "policy.safetensors"), Exploration(noise=0.3)
    alone = played(policy, ENDS, 2, exploration=noise)
    plays = played(policy, ENDS, 4, exploration=noise, plays=2)
    assert [play.seed for play in plays] == [alone[0].seed] * 2 + [alone[1].seed] * 2
    assert np.array_equal(plays[0].actions, alone[0].actions)
    assert np.array_equal(plays[2].actions, alone[1].actions)
    assert not same(*plays[:2])
    quiet = played(policy, ENDS, 2, plays=2)
    assert same(*quiet)
