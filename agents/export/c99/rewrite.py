# SPDX-License-Identifier: GPL-2.0-or-later
"""Rewrites a network, without changing an answer, as 16 bits hold it best: no idle units, even ranges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ns3_env.policies.file import PolicyFile
from ns3_env.policies.tensors import Tensors, layers_of

_GATES = 4
#: Most doublings of a unit's values: those of networks are below 100, and 32 bits of Q16 end at 32767.
_MOST_DOUBLINGS = 6


def rewritten(policy: PolicyFile) -> Tensors:
    """Tensors that give the same answers as the policy's, of units that are heard, in even ranges."""
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
    """Of the units that are the columns of weights, those that are not all multiplied by 0; at least one."""
    heard: npt.NDArray[np.bool_] = (weights != 0).any(axis=0)
    heard[0] |= not heard.any()
    return heard


def _keep(tensors: Tensors, of: str, reader: str, kept: npt.NDArray[np.bool_], at: int = 0) -> None:
    """Leaves such units of a layer, which are the reader's columns from ``at`` on."""
    for name in {f"{of}.weight", f"{of}.bias"} & tensors.keys():
        tensors[name] = tensors[name][kept]
    columns = np.ones(tensors[reader].shape[1], bool)
    columns[at : at + len(kept)] = kept
    tensors[reader] = tensors[reader][:, columns]


def _keep_cells(tensors: Tensors) -> None:
    """Leaves the LSTM's cells and the shortcut's units that the layers hear, or another cell that is left."""
    cells = tensors["lstm.weight_hh"].shape[1]
    first = tensors["layers.0.weight"]
    if "shortcut.weight" in tensors:
        _keep(tensors, "shortcut", "layers.0.weight", _heard(first[:, cells:]), cells)
    kept, before = _heard(first[:, :cells]), 0
    by_gate = tensors["lstm.weight_hh"].reshape(_GATES, cells, cells)
    while kept.sum() > before:
        before = kept.sum()
        kept = kept | (by_gate[:, kept] != 0).any(axis=(0, 1))
    tensors["lstm.weight_hh"] = tensors["lstm.weight_hh"][:, kept]
    for name in ("lstm.weight_ih", "lstm.weight_hh", "lstm.bias"):
        tensors[name] = tensors[name][np.tile(kept, _GATES)]
    tensors["layers.0.weight"] = np.delete(tensors["layers.0.weight"], np.flatnonzero(~kept), axis=1)


def _even(tensors: Tensors, of: str, reader: str, at: int = 0) -> None:
    """Scales a layer's ReLU units up, and their weights in the reader down, where that one's are larger.

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
