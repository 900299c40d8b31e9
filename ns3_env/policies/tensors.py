# SPDX-License-Identifier: GPL-2.0-or-later
"""Tensors of a policy's file and their shapes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ns3_env.config.model import nearest, shown
from ns3_env.policies.header import PolicySpec

Tensors = dict[str, NDArray[np.float32]]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Layer:
    """A layer after the encoder: its outputs, and whether it has a bias."""

    width: int
    bias: bool = True


@dataclass(frozen=True)
class Widths:
    """Widths that the header leaves open: the layers, and of ``lstm`` the widths of the LSTM and of its
    shortcut, 0 without one."""

    layers: tuple[Layer, ...]
    hidden: int = 0
    shortcut: int = 0


def tensor_shapes(spec: PolicySpec, widths: Widths) -> dict[str, Shape]:
    """Shape of each tensor of such a network, by name."""
    inputs = len(spec.observation)
    shapes: dict[str, Shape] = {}
    if spec.network.kind == "lstm":
        gates = 4 * widths.hidden  # i, f, g, o
        shapes["lstm.weight_ih"] = (gates, inputs)
        shapes["lstm.weight_hh"] = (gates, widths.hidden)
        shapes["lstm.bias"] = (gates,)
        if widths.shortcut:
            shapes["shortcut.weight"] = (widths.shortcut, inputs)
            shapes["shortcut.bias"] = (widths.shortcut,)
        inputs = widths.hidden + widths.shortcut
    else:
        inputs *= spec.history
    for number, layer in enumerate(widths.layers):
        shapes[f"layers.{number}.weight"] = (layer.width, inputs)
        if layer.bias:
            shapes[f"layers.{number}.bias"] = (layer.width,)
        inputs = layer.width
    return shapes


def find_widths(spec: PolicySpec, shapes: Mapping[str, Shape]) -> Widths:
    """The widths that tensors of these shapes have. Raises ValueError if one of them has none."""
    layers: list[Layer] = []
    while (name := f"layers.{len(layers)}.weight") in shapes:
        layers.append(Layer(_size(shapes, name, 0), f"layers.{len(layers)}.bias" in shapes))
    if not layers:
        raise ValueError("has no tensor 'layers.0.weight'")
    if spec.network.kind == "mlp":
        return Widths(tuple(layers))
    without = spec.network.carries and "shortcut.weight" not in shapes
    shortcut = 0 if without else _size(shapes, "shortcut.weight", 0)
    return Widths(tuple(layers), _size(shapes, "lstm.weight_hh", 1), shortcut)


def check_shapes(spec: PolicySpec, shapes: Mapping[str, Shape]) -> None:
    """Raises ValueError, naming a tensor, if tensors of these shapes are not such a policy's."""
    widths = find_widths(spec, shapes)
    expected = tensor_shapes(spec, widths)
    for name in shapes:
        if name not in expected:
            kind = spec.network.kind
            raise ValueError(f"tensor {shown(name)} has no place in an {kind}{nearest(name, list(expected))}")
    for name, shape in expected.items():
        if name not in shapes:
            raise ValueError(f"has no tensor {name!r}")
        if shapes[name] != shape:
            raise ValueError(f"tensor {name!r} is {list(shapes[name])}, not {list(shape)}")
    if widths.layers[-1].width != 1:
        last = f"layers.{len(widths.layers) - 1}.weight"
        raise ValueError(f"tensor {last!r} has {widths.layers[-1].width} outputs, not 1: an action is one")


def check_values(tensors: Mapping[str, NDArray[np.float32]]) -> None:
    """Raises ValueError, naming the tensor, if a weight is NaN or infinite."""
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            where = np.argwhere(~np.isfinite(tensor))[0].tolist()
            raise ValueError(f"tensor {name!r} has {tensor[tuple(where)]} at {where}: weights are finite")


def sha256(tensors: Mapping[str, NDArray[np.float32]]) -> str:
    """Returns the hash of names, shapes and data, as docs/policy-format.md lays them out."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(name.encode() + b"\0" + np.asarray(tensor.shape, "<i8").tobytes())
        digest.update(np.ascontiguousarray(tensor, "<f4").tobytes())
    return digest.hexdigest()


def layers_of(
    tensors: Mapping[str, NDArray[np.float32]],
) -> list[tuple[NDArray[np.float32], NDArray[np.float32] | None]]:
    """(weight, bias or None) of each layer after the encoder, in order."""
    count = sum(bool(re.fullmatch(r"layers\.\d+\.weight", name)) for name in tensors)
    return [(tensors[f"layers.{i}.weight"], tensors.get(f"layers.{i}.bias")) for i in range(count)]


def _size(shapes: Mapping[str, Shape], name: str, axis: int) -> int:
    if name not in shapes:
        raise ValueError(f"has no tensor {name!r}")
    if len(shapes[name]) != 2 or 0 in shapes[name]:
        raise ValueError(f"tensor {name!r} is {list(shapes[name])}, not a matrix")
    return shapes[name][axis]
