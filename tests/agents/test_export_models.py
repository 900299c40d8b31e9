# SPDX-License-Identifier: GPL-2.0-or-later
"""``ns3_env.export``: models of other libraries as policies' files that answer as the models do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO, SAC, TD3
from torch import nn

import ns3_env
from ns3_env.eval.commands.export import main
from ns3_env.tasks import TASKS
from tests.samples.files import Refused

ID = "ns3_env/Bursts-v4"


class CleanRlAgent(nn.Module):
    """An agent in the form of CleanRL's PPO."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.critic = nn.Linear(inputs, 1)
        hidden = nn.Sequential(nn.Linear(inputs, 16), nn.Tanh())
        self.actor_mean = nn.Sequential(hidden, nn.Linear(16, 1))


def actions(file: Path, observations: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    chosen: np.ndarray[Any, Any] = ns3_env.load_policy(file).predict(observations, deterministic=True)[0]
    return chosen


@pytest.mark.parametrize("algorithm", [PPO, SAC, TD3])
def test_a_model_of_stable_baselines_trained_on_an_id(algorithm: Any, tmp_path: Path) -> None:
    model = algorithm("MlpPolicy", ID, seed=1)
    file = ns3_env.export(model, model.get_env(), tmp_path / "mine.safetensors")
    task = gym.make(ID).unwrapped.task  # type: ignore[attr-defined]
    spec = ns3_env.load_policy(file).spec
    assert list(spec.fields) == list(task.fields)
    assert spec.action == {"name": task.action.name, **vars(task.action)}
    of_task = TASKS["Bursts"]
    assert (spec.clock, spec.telemetry_bytes) == (of_task.clock, of_task.problem().telemetry_bytes)
    assert {key: getattr(spec, key) for key in of_task.spared} == of_task.spared
    observations = np.random.default_rng(0).uniform(0, 1, (50, len(task.fields))).astype(np.float32)
    answers, _ = model.predict(observations, deterministic=True)
    np.testing.assert_allclose(np.clip(actions(file, observations), -1, 1), answers, atol=1e-5)


@pytest.mark.parametrize("fields", [["rtt", "qlen"], ["queueing = log(rtt) - qlen / 2", "qlen"]])
def test_an_agent_of_ones_loop_in_a_vector_environment_then_plays(tmp_path: Path, fields: list[str]) -> None:
    envs = gym.make_vec(
        "ns3_env/RdmaIncast-v1",
        num_envs=2,
        vectorization_mode="vector_entry_point",
        fields=fields,
        action={"name": "multiplicative_window", "rounding": "none"},
    )
    torch.manual_seed(0)
    agent = CleanRlAgent(2)
    for name in ("mine.safetensors", "mine.onnx", "mine.c"):
        assert ns3_env.export(agent, envs, tmp_path / name).stat().st_size > 0
    envs.close()
    scenario = {
        "topology": {"kind": "dumbbell", "senders": 2},
        "traffic": {"kind": "incast", "size_bytes": 20_000},
    }
    results = ns3_env.evaluate(tmp_path / "mine.safetensors", scenario, seeds=[1])
    assert results.select(metric="goodput").table["value"][0] > 0


_REFUSED: list[tuple[Callable[[], Any], Any, str, str]] = [
    (lambda: 3, ID, "x.onnx", "3 is neither an algorithm of Stable-Baselines3 nor a torch.nn.Module"),
    (lambda: nn.Linear(2, 1), ID, "x.onnx", "Linear has no nn.Sequential as actor_mean, net"),
    (
        lambda: nn.Sequential(nn.Linear(2, 1), nn.GELU(), nn.Linear(1, 1)),
        ID,
        "x.onnx",
        "layer 1 is GELU: a policy's file holds ReLU or Tanh there",
    ),
    (
        lambda: CleanRlAgent(3),
        ID,
        "x.onnx",
        "does not fit the environment: tensor 'layers.0.weight'",
    ),
    (lambda: CleanRlAgent(3), ID, "x.pt", "expected a name that ends with .safetensors, .onnx, .pt2, .c"),
    (lambda: CleanRlAgent(3), "CartPole-v1", "x.onnx", "is no environment of ns3_env"),
]


@pytest.mark.parametrize(("model", "env", "name", "sentence"), _REFUSED)
def test_what_cannot_be_exported_is_a_sentence(
    model: Callable[[], Any], env: Any, name: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(ns3_env.ConfigError) as error:
        ns3_env.export(model(), env, tmp_path / name)
    assert sentence in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_wrapper_that_changes_observations_is_refused_by_name(tmp_path: Path) -> None:
    env = gym.wrappers.NormalizeObservation(gym.make(ID))
    with pytest.raises(ns3_env.ConfigError, match="is wrapped by NormalizeObservation"):
        ns3_env.export(CleanRlAgent(9), env, tmp_path / "x.onnx")


def test_a_zip_of_stable_baselines_needs_its_id_and_leave_to_run_code(
    tmp_path: Path, refused: Refused
) -> None:
    model = PPO("MlpPolicy", ID, seed=1)
    model.save(tmp_path / "bursts.zip")
    assert "add --env ns3_env/Bursts-v4" in refused(main, tmp_path / "bursts.zip")
    assert "--allow-imports" in refused(main, tmp_path / "bursts.zip", "--env", ID)
    allowed = (tmp_path / "bursts.zip", "--env", ID, "--allow-imports", "--out", tmp_path / "x.onnx")
    assert "the name of --out says the format" in refused(main, *allowed, "--format", "native")
    out = tmp_path / "zip.safetensors"
    assert main([str(tmp_path / "bursts.zip"), "--env", ID, "--allow-imports", "--out", str(out)]) == 0
    assert out.read_bytes() == ns3_env.export(model, ID, tmp_path / "model.safetensors").read_bytes()
