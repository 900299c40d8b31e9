# SPDX-License-Identifier: GPL-2.0-or-later
"""Search subjects in policy files: a network's weights, or a law that a network is fitted to."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ns3_env.agents.configuration.run_folder import versions
from ns3_env.agents.search.config import LawConfig, NetworkConfig, Parameter
from ns3_env.agents.search.laws.distil import distil
from ns3_env.agents.search.laws.order import OrderLaw
from ns3_env.agents.search.subject import ParametersSubject, Point, Space, Subject, Values, values_at
from ns3_env.agents.training.layout import controller_layout, write_layout
from ns3_env.config.model import nearest, validate
from ns3_env.decision.actions import FairShareWindow, LogarithmicWindow, make_action_map
from ns3_env.errors import ConfigError
from ns3_env.policies.file import POLICY_FILE, PolicyFile, read_policy, write_policy
from ns3_env.policies.header import PolicySpec, Training
from ns3_env.policies.released import policy_path
from ns3_env.policies.tensors import Shape
from ns3_env.scenario import POLICY, Controller
from ns3_env.simulator.results import Floats

Tensors = dict[str, Floats]
#: Observation of a flow with no other flow on its path; 0 in every field that is not listed.
_ALONE = {
    "rtt": 1.0,
    "switch_rate": 1.0,
    "goodput": 1.0,
    "pacing_rate": 1.0,
    "throughput": 1.0,
    "flow_count": 1.0,
    "fair_share": 1.0,
}
#: Action of the first network there, by action map: most of a BDP if the action is the window itself,
#: the fair share if it scales that; otherwise the window of a flow that nothing disturbs grows.
_ANSWERS = {LogarithmicWindow.name: 0.9, FairShareWindow.name: 0.0}
_GROWTH = 0.3
#: Tensors that the inputs enter.
_OF_INPUTS = {"mlp": ("layers.0.weight",), "lstm": ("lstm.weight_ih", "shortcut.weight")}


class NetworkFiles(Subject):
    """Base of subjects whose points are networks."""

    @abstractmethod
    def policy(self, point: Point) -> PolicyFile:
        """The policy that a point represents."""

    def controller(self, point: Point, folder: Path) -> Controller:
        """See ``Subject``; the file's name identifies its weights, so that equal ones share a file."""
        policy = self.policy(point)
        path = folder / f"{policy.sha256}.safetensors"
        if not path.exists():
            write_policy(path, policy)
        return Controller(name=POLICY, attributes={"File": str(path)})

    def save(self, point: Point, folder: Path) -> None:
        write_policy(folder / POLICY_FILE, self.policy(point))
        write_layout(folder, controller_layout(Controller(name=POLICY)))


class NetworkSubject(NetworkFiles):
    """The weights and biases of a network, tensor after tensor."""

    columns = ("weights_sha256",)

    def __init__(self, config: NetworkConfig, name: str, seed: int, source: str) -> None:
        """
        Args:
            config: the network.
            name: name of the run.
            seed: seed of the initial weights.
            source: start of the errors' text.

        Raises:
            ConfigError: the simulator cannot run such a network.
        """
        spec = config.spec(source)
        training = Training(run=name, agent="search", seed=seed, versions=versions())
        self.spec: PolicySpec = spec.model_copy(update={"training": training})
        self._shapes = config.shapes(spec, source)
        self.space = _space(self._start(config, seed, source), self._shapes)
        self.label = f"{name}-found"

    def describe(self, point: Point) -> Values:
        """Describes the weights so that they are distinguished from other weights."""
        return {"weights_sha256": self.policy(point).sha256}

    def remarks(self, controller: Controller) -> list[str]:
        """Returns a sentence with the file's path."""
        weights = len(self.space.start)
        return [
            f"{weights} weights, {self.spec.telemetry_bytes} B of telemetry: {controller.attributes['File']}"
        ]

    def policy(self, point: Point) -> PolicyFile:
        """The policy that a point represents."""
        tensors, at = {}, 0
        for name, shape in self._shapes.items():
            size = math.prod(shape)
            tensors[name] = point[at : at + size].astype(np.float32).reshape(shape)
            at += size
        return PolicyFile(self.spec, tensors)

    def _start(self, config: NetworkConfig, seed: int, source: str) -> Tensors:
        """The network that the search starts with: one fitted to a law, or one that always answers a little
        growth, or a window of nearly one BDP.

        Weights are of the usual first size, N(0, 1/inputs), in the last layer 0. The first layer's units are
        0 for a flow without competitors, so that a last layer's small weights make an answer that depends on
        deviations from that. Without it nearly all of them answer everything alike; then windows are
        always the largest or the smallest, and the search ends on the plateau of the largest.
        """
        if config.start is not None and config.start.policy is not None:
            return _from_policy(config.start.policy, config.fields, self._shapes, source)
        if config.start is not None:
            return _from_law(config.start.law, config, seed)
        generator = np.random.default_rng([seed, 1])
        tensors = {
            name: generator.normal(scale=_scale(name, self._shapes), size=shape)
            if len(shape) > 1
            else np.zeros(shape)
            for name, shape in self._shapes.items()
        }
        alone = np.array([_ALONE.get(name, 0.0) for name in config.fields])
        features = np.log1p(alone) if config.transform == "symlog" else alone
        first = "shortcut" if config.kind == "lstm" else "layers.0"
        features = features if config.kind == "lstm" else np.tile(features, config.history_length)
        last = f"layers.{len(config.hidden)}"
        tensors[f"{first}.bias"] = -tensors[f"{first}.weight"] @ features
        tensors[f"{last}.weight"][:] = 0.0
        answer = _ANSWERS.get(config.action.name, _GROWTH)
        tensors[f"{last}.bias"][:] = math.atanh(answer)
        return tensors


def _from_law(law: OrderLaw, network: NetworkConfig, seed: int) -> Tensors:
    """A network that is fitted to the law."""
    assert network.start is not None
    return distil(law, network.fields, network.hidden, network.start.fit_steps, seed)


def _from_policy(start: str, fields: Sequence[str], shapes: Mapping[str, Shape], source: str) -> Tensors:
    """Its weights, 0 for inputs that it lacks. Raises ConfigError if its layers differ."""
    policy = read_policy(policy_path(Path(start)))
    key = f"{source}: network.start.policy"
    if missing := [name for name in policy.spec.observed if name not in fields]:
        raise ConfigError(f"{key}: {start} reads {', '.join(missing)}, too: put it into network.fields")
    tensors = {name: np.asarray(tensor, np.float64) for name, tensor in policy.tensors.items()}
    columns = [list(fields).index(name) for name in policy.spec.observed]
    for name in _OF_INPUTS[policy.spec.network.kind]:
        if tensors[name].shape[0] == shapes.get(name, (0,))[0]:
            weights, tensors[name] = tensors[name], np.zeros(shapes[name])
            tensors[name][:, columns] = weights
    if (have := {name: tensor.shape for name, tensor in tensors.items()}) != shapes:
        raise ConfigError(f"{key}: {start} has other layers ({have}) than this network ({dict(shapes)})")
    return tensors


def _scale(name: str, shapes: Mapping[str, Shape]) -> float:
    """1 / √inputs of the layer that a tensor belongs to."""
    matrix = shapes.get(name.replace("bias", "weight"), shapes.get("lstm.weight_ih"))
    assert matrix is not None
    return 1 / math.sqrt(matrix[-1])


def _space(start: Tensors, shapes: Mapping[str, Shape]) -> Space:
    """A coordinate for each weight, without bounds."""
    row = np.concatenate([start[name].ravel() for name in shapes])
    scale = np.concatenate([np.full(start[name].size, _scale(name, shapes)) for name in shapes])
    endless = np.full(len(row), np.inf)
    return Space(row, scale, -endless, endless)


class LawSubject(NetworkFiles, ParametersSubject):
    """Numbers of a law, and of the action map and the clock that it is run with."""

    def __init__(self, config: LawConfig, network: NetworkConfig, name: str, seed: int, source: str) -> None:
        """
        Args:
            config: numbers to search, with their ranges.
            network: network that is fitted to the law, with its action map and clock unless they are
                searched.
            name: name of the run.
            seed: seed of the fit.
            source: start of the errors' text.

        Raises:
            ConfigError: there is no such number, or it does not start within its range.
        """
        self.network, self.seed, self.source = network, seed, source
        self.training = Training(run=name, agent="search", seed=seed, versions=versions())
        super().__init__({key: self._with_start(key, entry) for key, entry in config.parameters.items()})
        self.label = f"{name}-found"

    def remarks(self, controller: Controller) -> list[str]:
        """Returns a sentence with the file's path."""
        return [f"the network fitted to the law: {controller.attributes['File']}"]

    def policy(self, point: Point) -> PolicyFile:
        """The policy that a point represents. Raises ConfigError if the simulator cannot run it."""
        law, network = self._decode(values_at(self.parameters, point))
        assert network.start is not None
        spec = network.spec(self.source).model_copy(update={"training": self.training})
        weights = _from_law(law, network, self.seed)
        return PolicyFile(spec, {name: tensor.astype("float32") for name, tensor in weights.items()})

    def _with_start(self, key: str, parameter: Parameter) -> Parameter:
        """The parameter, with its start from the network's section unless it has its own."""
        settings = _settings(self.network)
        if key not in settings:
            raise ConfigError(
                f"{self.source}: law.parameters: there is no number {key!r}{nearest(key, list(settings))} of "
                f"{', '.join(settings)}"
            )
        start = settings[key] if parameter.start is None else parameter.start
        if not parameter.low <= start <= parameter.high:
            raise ConfigError(
                f"{self.source}: law.parameters.{key}: the start, {start:g}, is not between low and high"
            )
        return parameter.model_copy(update={"start": start})

    def _decode(self, values: Mapping[str, float]) -> tuple[OrderLaw, NetworkConfig]:
        """The law, and the network's configuration, that the values represent. Raises ConfigError."""
        data = self.network.model_dump(mode="json")
        assert self.network.start is not None
        for key, value in values.items():
            if key in data["start"]["law"]:
                data["start"]["law"][key] = value
            elif key in dict(self.network.clock):
                data["clock"][key] = value
            else:
                data["action"][key] = value
        network = validate(data, NetworkConfig, f"{self.source}: law.parameters")
        assert network.start is not None
        return network.start.law, network


def _settings(network: NetworkConfig) -> dict[str, float]:
    """Every number that may be searched, as the network's section has it."""
    assert network.start is not None
    action = asdict(make_action_map(network.action.name, **network.action.settings))  # type: ignore[call-overload]
    whole = {**network.start.law.model_dump(), **action, **dict(network.clock)}
    return {key: value for key, value in whole.items() if isinstance(value, float)}
