# SPDX-License-Identifier: GPL-2.0-or-later
"""Search subject: a network's weights in one row, played from a policy's file."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ns3_env.agents.configuration.run_folder import versions
from ns3_env.agents.search.distil import distil
from ns3_env.agents.search.network_config import NetworkConfig
from ns3_env.agents.search.network_files import NetworkFiles
from ns3_env.agents.search.subject import Point, Space, Values
from ns3_env.policies.file import PolicyFile
from ns3_env.policies.header import PolicySpec, Training
from ns3_env.policies.tensors import Shape
from ns3_env.scenario import Controller
from ns3_env.simulator.results import Floats

Tensors = dict[str, Floats]
#: What a flow sees that is alone on its path; 0 in every field that is not here.
_ALONE = {
    "rtt": 1.0,
    "switch_rate": 1.0,
    "goodput": 1.0,
    "pacing_rate": 1.0,
    "throughput": 1.0,
    "flow_count": 1.0,
}
#: What the first network answers there: the window of a flow that nothing disturbs grows.
_GROWTH = 0.3


class NetworkSubject(NetworkFiles):
    """A ``Subject``: the weights and biases of a network, tensor after tensor."""

    columns = ("weights_sha256",)
    before = None

    def __init__(self, config: NetworkConfig, name: str, seed: int, source: str) -> None:
        """
        Args:
            config: the network.
            name: of the run.
            seed: of the weights that the search begins with.
            source: what errors begin with.

        Raises:
            ConfigError: the simulator cannot play such a network.
        """
        spec = config.spec(source)
        training = Training(run=name, agent="search", seed=seed, versions=versions())
        self.spec: PolicySpec = spec.model_copy(update={"training": training})
        self._shapes = config.shapes(spec, source)
        self.space = _space(self._start(config, seed), self._shapes)
        self.label = f"{name}-found"

    def describe(self, point: Point) -> Values:
        """What tells the weights from others."""
        return {"weights_sha256": self.policy(point).sha256}

    def remarks(self, found: Controller) -> list[str]:
        """Where the file is."""
        weights = len(self.space.start)
        return [f"{weights} weights, {self.spec.telemetry_bytes} B of telemetry: {found.attributes['File']}"]

    def policy(self, point: Point) -> PolicyFile:
        """The policy that a point stands for."""
        tensors, at = {}, 0
        for name, shape in self._shapes.items():
            size = math.prod(shape)
            tensors[name] = point[at : at + size].astype(np.float32).reshape(shape)
            at += size
        return PolicyFile(self.spec, tensors)

    def _start(self, config: NetworkConfig, seed: int) -> Tensors:
        """The network that the search begins with: one fitted to a law, or one that always answers a little
        growth.

        Weights are of the usual first size, N(0, 1/inputs), in the last layer 0. The first layer's units are
        0 for a flow alone on its path, so that a last layer's small weights make an answer that hangs on
        what is different from that. Without it nearly all of them answer everything alike; then windows are
        always the largest or the smallest, and the search ends on the plateau of the largest.
        """
        if config.start is not None:
            return distil(config.start.law, config.fields, config.hidden, config.start.fit_steps, seed)
        generator = np.random.default_rng([seed, 1])
        tensors = {
            name: generator.normal(scale=_scale(name, self._shapes), size=shape)
            if len(shape) > 1
            else np.zeros(shape)
            for name, shape in self._shapes.items()
        }
        alone = np.array([_ALONE.get(name, 0.0) for name in config.fields])
        seen = np.log1p(alone) if config.transform == "symlog" else alone
        first = "shortcut" if config.kind == "lstm" else "layers.0"
        seen = seen if config.kind == "lstm" else np.tile(seen, config.history)
        last = f"layers.{len(config.hidden)}"
        tensors[f"{first}.bias"] = -tensors[f"{first}.weight"] @ seen
        tensors[f"{last}.weight"][:] = 0.0
        tensors[f"{last}.bias"][:] = math.atanh(_GROWTH)
        return tensors


def _scale(name: str, shapes: Mapping[str, Shape]) -> float:
    """1 / √inputs of the layer that a tensor belongs to."""
    matrix = shapes.get(name.replace("bias", "weight"), shapes.get("lstm.weight_ih"))
    assert matrix is not None
    return 1 / math.sqrt(matrix[-1])


def _space(start: Tensors, shapes: Mapping[str, Shape]) -> Space:
    """A coordinate for each weight, without ends."""
    row = np.concatenate([start[name].ravel() for name in shapes])
    scale = np.concatenate([np.full(start[name].size, _scale(name, shapes)) for name in shapes])
    endless = np.full(len(row), np.inf)
    return Space(row, scale, -endless, endless)
