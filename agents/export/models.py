# SPDX-License-Identifier: GPL-2.0-or-later
"""Export of a model that another library trained: Stable-Baselines3's, or layers of PyTorch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from ns3_env.agents.configuration.config import EnvConfig, Named
from ns3_env.agents.export.export import LIMIT, check_out
from ns3_env.agents.export.export import export as export_policy
from ns3_env.config.model import shown
from ns3_env.decision.observations import SPARED, converted, observation_space
from ns3_env.decision.task import Task, WithTask
from ns3_env.errors import ConfigError
from ns3_env.policies.file import write_policy
from ns3_env.policies.header import Training
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import AGENT, PerFlowRtt, Scenario

#: Formats by the end of a file's name; C99 is "c".
FORMATS = {".safetensors": "native", ".onnx": "onnx", ".pt2": "pt2", ".c": "c"}
#: Observations on which the file is compared with the model.
_COUNT = 1000
#: Attributes of an agent's module with the layers of its mean action: CleanRL's, skrl's, SB3's.
_LAYERS = ("actor_mean", "net", "net_container", "mu")


def export(model: Any, env: Any, path: str | os.PathLike[str]) -> Path:
    """Writes a trained model as a policy that the simulator, the commands and ``ns3_env.evaluate`` run.

    Args:
        model: an algorithm of Stable-Baselines3 (PPO, SAC, TD3, DDPG; RecurrentPPO and TQC of sb3-contrib) or
            its policy; or a ``torch.nn.Module`` that maps observations (n, D) to the mean of actions (n, 1):
            an ``nn.Sequential`` of linear layers with ReLU or tanh between them, or an agent that has one as
            ``actor_mean`` (CleanRL) or ``net``.
        env: the environment that it was trained in, any front end, wrapped or vectorised; or its id
            ("ns3_env/Bursts-v4"). It defines the observation, the action map and the clock of decisions.
        path: the file: .safetensors, .onnx, .pt2 (torch.export) or .c (C99); replaced if an earlier export
            wrote it.

    Returns:
        The file's path.

    Raises:
        ConfigError: the model has a layer that a policy's file does not know, the environment changes
            observations or actions, the file answers otherwise than the model, or its name is unsuitable.
    """
    from ns3_env.agents.training.trainer import policy_file

    out = Path(path)
    if out.suffix not in FORMATS:
        raise ConfigError(f"export: {out}: expected a name that ends with {', '.join(FORMATS)}")
    check_out(out)
    task, settings = _problem(env)
    network, answers, training = _network(model)
    try:
        file = policy_file(network, settings, training)
    except ValueError as error:  # layers of another size than the observation
        raise ConfigError(f"export: the model does not fit the environment: {error}") from None
    with tempfile.TemporaryDirectory() as folder:
        native = Path(folder) / "policy.safetensors"
        write_policy(native, file)
        _compare(native, task, answers)
        if out.suffix == ".safetensors":
            write_policy(out, file)
        elif out.suffix == ".c":
            from ns3_env.agents.export.c99 import export as c99

            _, match = c99.export_c(native, out)
            if match.difference > c99.LIMIT:
                raise ConfigError(f"export: {out} differs from the model by {match.difference:.2%}")
        else:
            comparison = export_policy(native, FORMATS[out.suffix], out)
            if not comparison.passed:
                raise ConfigError(f"export: {out} differs from the model by {comparison.difference:.1e}")
    return out


def load_zip(path: Path) -> Any:
    """Loads a model saved by an algorithm of Stable-Baselines3. It executes code in the file.

    Raises ConfigError if the file is not from PPO, SAC, TD3, DDPG or RecurrentPPO.
    """
    from stable_baselines3 import PPO, SAC, TD3
    from stable_baselines3.common.save_util import load_from_zip_file

    try:
        data, _, _ = load_from_zip_file(str(path), device="cpu", load_data=True)
        name = (data or {})["policy_class"].__name__
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise ConfigError(f"{path}: no model of Stable-Baselines3: {error}") from None
    classes: dict[str, Any] = {"ActorCriticPolicy": PPO, "SACPolicy": SAC, "TD3Policy": TD3}
    if name == "RecurrentActorCriticPolicy":
        from sb3_contrib import RecurrentPPO

        classes[name] = RecurrentPPO
    if name not in classes:
        raise ConfigError(
            f"{path}: {name} has no place in a policy's file; MlpPolicy of {', '.join(classes)} has"
        )
    return classes[name].load(path, device="cpu")


def _problem(env: Any) -> tuple[Task, EnvConfig]:
    """The task of an environment, and the configuration of a policy for it. Raises ConfigError."""
    if isinstance(env, str):
        with gym.make(env) as environment:
            return _problem(environment)
    front_end = _front_end(env)
    task = front_end.task
    if isinstance(task.action, type) or not is_dataclass(task.action) or not hasattr(task.action, "name"):
        raise ConfigError(
            f"export: the action map {type(task.action).__name__} is none of the simulator's: a policy's "
            "file has no place for it"
        )
    scenario = front_end.sampler(0) if hasattr(front_end, "sampler") else getattr(front_end, "scenario", None)
    return task, EnvConfig(
        **_spared(scenario),
        fields=list(task.fields),
        action=Named(name=task.action.name, **asdict(task.action)),
        clock=getattr(scenario, "clock", None) or PerFlowRtt(),
        decision_quantum_ns=getattr(scenario, "decision_quantum_ns", 0),
        telemetry_bytes=task.telemetry_bytes,
    )


def _spared(scenario: Any) -> dict[str, Any]:
    """Settings of a policy that spares the telemetry that the scenario's agent spares."""
    if not isinstance(scenario, Scenario):
        return {}
    agent = next((one.attributes for one in scenario.controllers if one.name == AGENT), {})
    return {key: agent[name] for key, name in SPARED.items() if float(agent.get(name, 0)) > 0}


def _front_end(env: Any) -> WithTask:
    """The front end below an environment's wrappers. Raises ConfigError."""
    for layer in _layers(env):
        if isinstance(layer, WithTask):
            return layer
        name = type(layer).__name__
        changes = isinstance(layer, gym.ObservationWrapper | gym.ActionWrapper) or name == "VecNormalize"
        if changes and name not in ("ClipAction", "FlattenObservation"):
            raise ConfigError(
                f"export: the environment is wrapped by {name}, which changes what the model sees or does: "
                "no step of a policy's file; train without it (fields are in units of one already)"
            )
    raise ConfigError(
        f"export: {shown(env)} is no environment of ns3_env: pass the one that the model was trained in, or "
        "its id, e.g. 'ns3_env/Bursts-v4'"
    )


def _layers(env: Any) -> Iterator[Any]:
    """An environment and those that it wraps, the outermost first."""
    while env is not None:
        yield env
        envs = getattr(env, "envs", None)
        inner = (getattr(env, name, None) for name in ("venv", "env", "par_env", "aec_env"))
        env = envs[0] if envs else next((layer for layer in inner if layer is not None), None)


def _network(model: Any) -> tuple[Any, Any, Training]:
    """A model's network, a function of observations (n, D) to its answers (n, 1), and its origin.

    Raises ConfigError, naming the part that a policy's file does not support.
    """
    from torch import nn

    from ns3_env.agents.training.policy_tensors import mlp

    policy = getattr(model, "policy", model)
    if type(policy).__module__.startswith(("stable_baselines3.", "sb3_contrib.", "ns3_env.agents.sb3")):
        from ns3_env.agents.sb3.export import of_sb3

        training = Training(
            agent=type(model).__name__,
            decisions=getattr(model, "num_timesteps", None),
            seed=getattr(model, "seed", None),
        )
        network = of_sb3(policy)
        lstm = network.network.kind == "lstm"
        return network, None if lstm else (lambda x: policy.predict(x, deterministic=True)[0]), training
    if not isinstance(model, nn.Module):
        raise ConfigError(
            f"export: {shown(model)} is neither an algorithm of Stable-Baselines3 nor a torch.nn.Module"
        )
    layers = _sequence(model)
    training = Training(agent=type(model).__name__)
    return mlp(layers, type(model).__name__), _answers(nn.Sequential(*layers)), training


def _sequence(module: Any) -> list[Any]:
    """The layers of a module, those of sequences within sequences too. Raises ConfigError."""
    from torch import nn

    if isinstance(module, nn.Sequential):
        return [
            layer for part in module for layer in (_sequence(part) if len([*part.children()]) else [part])
        ]
    for name in _LAYERS:
        if isinstance(getattr(module, name, None), nn.Sequential | nn.Linear):
            inner = getattr(module, name)
            return [inner] if isinstance(inner, nn.Linear) else _sequence(inner)
    raise ConfigError(
        f"export: {type(module).__name__} has no nn.Sequential as {', '.join(_LAYERS)}: pass the one that "
        "makes the mean action"
    )


def _answers(layers: Any) -> Any:
    """A function from observations (n, D) to the layers' outputs, clipped to [-1, 1]."""
    import torch

    def answers(observations: Any) -> Any:
        with torch.no_grad():
            parameter = next(layers.parameters())
            inputs = torch.as_tensor(observations).to(parameter.device, parameter.dtype)
            return layers(inputs).clamp(-1, 1).cpu().numpy()

    return answers


def _compare(file: Path, task: Task, answers: Any) -> None:
    """Compares a policy's file with the model on observations drawn from the space. Raises ConfigError."""
    if answers is None:  # a memory is compared by its layers' own tests
        return
    policy = NetworkPolicy.load(file)
    space = observation_space(policy.fields)
    low, high = space.low, np.minimum(space.high, 10.0)
    values = np.random.default_rng(1).uniform(low, high, (_COUNT, len(policy.fields))).astype(np.float32)
    exported = np.clip(policy.predict(values, deterministic=True)[0], -1, 1)
    answer = np.asarray(answers(converted(values, task.fields)), np.float64)
    original = np.clip(answer.reshape(exported.shape), -1, 1)
    if not (difference := float(np.abs(exported - original).max())) <= LIMIT:
        raise ConfigError(
            f"export: the file would differ from the model by {difference:.1e}: the model does more than its "
            "layers say"
        )
