# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of a policy as tables of integers in C, and their size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ns3_env.errors import ConfigError
from ns3_env.policies.file import PolicyFile
from ns3_env.policies.tensors import Tensors, layers_of

#: log2, 2^x and tanh between the points of these tables are straight lines (pieces.c); Q16, so that a value
#: of 65536 at the end of an octave is stored as 0.
FUNCTIONS: dict[str, npt.NDArray[np.int64]] = {
    "log2": np.round(65536 * np.log2(1 + np.arange(129) / 128)).astype(np.int64) % 65536,
    "exp2": np.round(65536 * (np.exp2(np.arange(65) / 64) - 1)).astype(np.int64) % 65536,
    "tanh": np.minimum(np.round(65536 * np.tanh(np.arange(257) / 32)), 65535).astype(np.int64),
}
_MOST_SHIFT = 24
#: A matrix whose unit in 16 bits would be coarser than 2^-12 has 32 bits, of which it uses 22: the sum of
#: 2048 products with inputs of 32 bits fits 64, and no row of 8 kB has more.
_COARSEST_SHIFT = 12
_MOST_NARROW, _MOST_WIDE = 2**15 - 1, 2**21 - 1
#: Maximum BDPs or RTTs of a setting, so that no product of 64 bits overflows.
_MOST_OF_SETTINGS = 4096
_WIDTH = 108


def setting_q16(source: str, key: str, value: float) -> int:
    """A setting in BDPs or RTTs, in Q16. Raises ConfigError for one that integers cannot represent."""
    if value > _MOST_OF_SETTINGS:
        raise ConfigError(
            f"{source}: {key} is {value:g}: --format c has integers for at most {_MOST_OF_SETTINGS:,}"
        )
    return round(65536 * value)


class Matrix(NamedTuple):
    """A table of weights in units of 2^-shift, of 32 bits if it is wide, else of 16."""

    name: str
    shift: int
    wide: bool


@dataclass
class Tables:
    """Constant arrays of a file, by name.

    Attributes:
        source: name of the policy's file, for errors.
        text: C text of each array.
        size_bytes: total size of the arrays.
        weights: number of the policy's weights in them.
    """

    source: str
    text: dict[str, str] = field(default_factory=dict)
    size_bytes: int = 0
    weights: int = 0

    def function(self, name: str) -> None:
        """Adds the table of a function, once."""
        if name.upper() not in self.text:
            self._add(name.upper(), "uint16_t", 2, FUNCTIONS[name])

    def matrix(self, name: str, values: npt.NDArray[np.float32]) -> Matrix:
        """Adds weights (rows, columns). Raises ConfigError for one that integers cannot represent."""
        largest = max(float(np.abs(values).max()), 2.0**-_MOST_SHIFT)
        narrow, wide = (int(np.floor(np.log2(most / largest))) for most in (_MOST_NARROW, _MOST_WIDE))
        if wide < 1:
            raise ConfigError(
                f"{self.source}: tensor {name!r} is too large: integers hold weights of at most"
                f" {_MOST_WIDE // 2:,}"
            )
        if narrow < _COARSEST_SHIFT:
            return Matrix(self._weights(name, "int32_t", 4, np.round(values * 2.0**wide)), wide, wide=True)
        shift = min(narrow, _MOST_SHIFT)
        return Matrix(self._weights(name, "int16_t", 2, np.round(values * 2.0**shift)), shift, wide=False)

    def bias(self, name: str, values: npt.NDArray[np.float32] | None) -> str:
        """Adds a bias in Q16; its name, or "0" without one."""
        if values is None:
            return "0"
        if np.abs(values).max() > 32767:
            raise ConfigError(f"{self.source}: tensor {name!r} has a value above 32767")
        return self._weights(name, "int32_t", 4, np.round(values * 65536.0))

    def _weights(self, name: str, kind: str, size: int, values: npt.NDArray[np.floating]) -> str:
        array = name.upper().replace(".", "_")
        self._add(array, kind, size, values.astype(np.int64).ravel())
        self.weights += values.size
        return array

    def _add(self, name: str, kind: str, size: int, values: Iterable[np.int64]) -> None:
        numbers = [str(value) for value in values]
        self.text[name] = f"static const {kind} {name}[{len(numbers)}] = {{\n{_lines(numbers)}\n}};"
        self.size_bytes += size * len(numbers)


def _lines(numbers: list[str]) -> str:
    lines, line = [], "   "
    for number in numbers:
        if len(line) + len(number) + 2 > _WIDTH:
            lines.append(line)
            line = "   "
        line += f" {number},"
    return "\n".join([*lines, line.rstrip(",")])


_GATES = 4
#: Most doublings of a unit's values: those of networks are below 100, and 32 bits of Q16 end at 32767.
_MOST_DOUBLINGS = 6


def rewritten(policy: PolicyFile) -> Tensors:
    """Tensors that give the same answers as the policy's, without unused units, in even ranges."""
    tensors, depth = dict(policy.tensors), len(layers_of(policy.tensors))
    for n in range(depth - 1, 0, -1):
        _keep(tensors, f"layers.{n - 1}", f"layers.{n}.weight", _heard(tensors[f"layers.{n}.weight"]))
    if policy.spec.network.kind == "lstm":
        _keep_cells(tensors)
    if policy.spec.network.hidden_activation == "relu":
        for n in range(depth - 1):
            _even(tensors, f"layers.{n}", f"layers.{n + 1}.weight")
    if "shortcut.weight" in tensors:
        _even(tensors, "shortcut", "layers.0.weight", tensors["lstm.weight_hh"].shape[1])
    return tensors


def _heard(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Returns the units (columns of weights) that are not all multiplied by 0; at least one."""
    heard: npt.NDArray[np.bool_] = (weights != 0).any(axis=0)
    heard[0] |= not heard.any()
    return heard


def _keep(tensors: Tensors, of: str, reader: str, mask: npt.NDArray[np.bool_], at: int = 0) -> None:
    """Keeps such units of a layer, which are the reader's columns from ``at`` on."""
    for name in {f"{of}.weight", f"{of}.bias"} & tensors.keys():
        tensors[name] = tensors[name][mask]
    columns = np.ones(tensors[reader].shape[1], bool)
    columns[at : at + len(mask)] = mask
    tensors[reader] = tensors[reader][:, columns]


def _keep_cells(tensors: Tensors) -> None:
    """Keeps the LSTM's cells and the shortcut's units that the layers or a kept cell read."""
    cells = tensors["lstm.weight_hh"].shape[1]
    first = tensors["layers.0.weight"]
    if "shortcut.weight" in tensors:
        _keep(tensors, "shortcut", "layers.0.weight", _heard(first[:, cells:]), cells)
    mask, before = _heard(first[:, :cells]), 0
    by_gate = tensors["lstm.weight_hh"].reshape(_GATES, cells, cells)
    while mask.sum() > before:
        before = mask.sum()
        mask = mask | (by_gate[:, mask] != 0).any(axis=(0, 1))
    tensors["lstm.weight_hh"] = tensors["lstm.weight_hh"][:, mask]
    for name in ("lstm.weight_ih", "lstm.weight_hh", "lstm.bias"):
        tensors[name] = tensors[name][np.tile(mask, _GATES)]
    tensors["layers.0.weight"] = np.delete(tensors["layers.0.weight"], np.flatnonzero(~mask), axis=1)


def _even(tensors: Tensors, of: str, reader: str, at: int = 0) -> None:
    """Scales a layer's ReLU units up, and their weights in the reader down, if the reader's are larger.

    By powers of two, which float32 does without rounding: a unit's largest weights on both sides then are the
    same (Nagel 2019, eq. 11), to a factor of four.
    """
    into, out = (np.abs(tensors[name]) for name in (f"{of}.weight", reader))
    most_in, most_out = into.max(axis=1), out.max(axis=0)[at : at + len(into)]
    used = (most_in > 0) & (most_out > 0)
    ratio = np.divide(most_out, most_in, out=np.ones_like(most_in), where=used)
    doublings = np.clip(np.floor(np.log2(ratio) / 2), 0, _MOST_DOUBLINGS)
    scale = np.exp2(doublings).astype(np.float32)
    tensors[f"{of}.weight"] = tensors[f"{of}.weight"] * scale[:, None]
    if f"{of}.bias" in tensors:
        tensors[f"{of}.bias"] = tensors[f"{of}.bias"] * scale
    tensors[reader] = tensors[reader].copy()
    tensors[reader][:, at : at + len(scale)] /= scale
