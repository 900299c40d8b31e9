# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns PyTorch layers into a policy's tensors; refuses by name any that the format does not know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch import nn

from ns3_env.errors import ConfigError
from ns3_env.policies.header import Activation, AnyInput, Network, Transform
from ns3_env.policies.tensors import Tensors

_ACTIVATIONS: dict[type[nn.Module], Activation] = {nn.ReLU: "relu", nn.Tanh: "tanh"}


@dataclass(frozen=True)
class Exported:
    """An agent's network in the form of the file.

    Attributes:
        network: kind and activations of the network.
        tensors: tensors by the format's names.
        history: K.
        transform: transform of each input.
        appended: inputs after the fields of the observation.
        observation: the inputs, if they are not simply the fields.
    """

    network: Network
    tensors: Tensors
    history: int = 1
    transform: Transform = "none"
    appended: tuple[str, ...] = ()
    observation: tuple[AnyInput, ...] | None = None


def mlp(modules: Iterable[nn.Module], place: str) -> Exported:
    """A network without memory: linear layers with ReLU or tanh between them, perhaps tanh after the last.

    Args:
        modules: layers of the network, in order.
        place: start of the errors' text.

    Raises:
        ConfigError: a layer is something else, or activations differ.
    """
    tensors, hidden, output = head(modules, place)
    network = Network(kind="mlp", hidden_activation=hidden, output_activation=output)
    return Exported(network, tensors)


def head(modules: Iterable[nn.Module], place: str) -> tuple[Tensors, Activation, Literal["tanh", "none"]]:
    """Tensors "layers.N....", the hidden activation and the output's. Arguments and errors as ``mlp``."""
    rest = list(modules)
    output: Literal["tanh", "none"] = "none"
    if rest and type(rest[-1]) is nn.Tanh:
        output = "tanh"
        rest.pop()
    if not rest or type(rest[-1]) is not nn.Linear:
        last = type(rest[-1]).__name__ if rest else "nothing"
        raise ConfigError(f"{place}: ends with {last}: a policy's file ends with a linear layer, and tanh")
    tensors: Tensors = {}
    activations: set[Activation] = set()
    for number, module in enumerate(rest):
        if number % 2 == 0 and type(module) is nn.Linear:
            tensors |= linear(f"layers.{number // 2}", module)
        elif number % 2 == 1 and type(module) in _ACTIVATIONS:
            activations.add(_ACTIVATIONS[type(module)])
        else:
            expected = "ReLU or Tanh" if number % 2 else "Linear"
            raise ConfigError(
                f"{place}: layer {number} is {type(module).__name__}: a policy's file holds {expected} there"
            )
    if len(activations) > 1:
        raise ConfigError(f"{place}: has ReLU and Tanh: a policy's file holds one activation")
    return tensors, activations.pop() if activations else "relu", output


def linear(name: str, layer: nn.Module) -> Tensors:
    """Weight and, if it has one, bias of a linear layer under the format's names."""
    parameters = dict(layer.named_parameters(recurse=False))
    return {
        f"{name}.{part}": tensor.detach().cpu().float().numpy().copy() for part, tensor in parameters.items()
    }


def lstm(layer: nn.LSTM, place: str) -> Tensors:
    """Tensors "lstm....". PyTorch has two biases, of which only the sum acts. Raises ConfigError, naming
    ``place``, if it has more than one layer or direction."""
    if layer.num_layers != 1:
        raise ConfigError(f"{place}: has {layer.num_layers} layers: a policy's file holds an LSTM of one")
    if layer.bidirectional or layer.proj_size:
        what = "is bidirectional" if layer.bidirectional else "projects its output"
        raise ConfigError(f"{place}: {what}: a policy's file holds a plain LSTM")
    parameters = {
        name.removesuffix("_l0"): part.detach().cpu().float().numpy()
        for name, part in layer.named_parameters()
    }
    nothing = np.zeros(4 * layer.hidden_size, np.float32)
    return {
        "lstm.weight_ih": parameters["weight_ih"].copy(),
        "lstm.weight_hh": parameters["weight_hh"].copy(),
        "lstm.bias": parameters.get("bias_ih", nothing) + parameters.get("bias_hh", nothing),
    }
