# SPDX-License-Identifier: GPL-2.0-or-later
"""A policy's network in C: its tables, its state, and the calls that evaluate it."""

from __future__ import annotations

from dataclasses import dataclass

from ns3_env.agents.export.c99.quantise import Tables, rewritten
from ns3_env.policies.file import PolicyFile
from ns3_env.policies.tensors import layers_of

_ROW = """\
    for (k = 0; k < {history}; ++k) /* oldest first; before a flow's first decision there are zeros */
    {{
        for (i = 0; i < {width}; ++i)
        {{
            row[k * {width} + i] = k + s->filled >= {history} ? s->seen[(s->next + k) % {history}][i] : 0;
        }}
    }}"""
_STEPS = """\
    for (k = 0; k < {hidden}; ++k)
    {{
        features[k] = cell[k] = 0;
    }}
    for (k = {history} - s->filled; k < {history}; ++k) /* oldest first */
    {{
        x = s->seen[(s->next + k) % {history}];
        {input}
        {recurrent}
        {cells}
    }}"""
_STEP = """\
    {input}
    {recurrent}
    {cells}"""
_FORGET = """\
    for (unsigned k = 0; k < {hidden}; ++k)
    {{
        s->features[k] = s->cell[k] = 0;
    }}
"""


@dataclass(frozen=True)
class Code:
    """The network in C.

    Attributes:
        state: members of the flow's state.
        begin: lines that empty them when a flow starts.
        body: body of the function that evaluates it; ``x`` is the current input.
        pieces: functions of pieces.c that it needs.
        products: multiplications of a weight by an input, per decision at most.
        ring: true if the state has a ring buffer of the last inputs.
    """

    state: tuple[str, ...]
    begin: str
    body: str
    pieces: frozenset[str]
    products: int
    ring: bool


def network_of(policy: PolicyFile, tables: Tables) -> Code:
    """The network of a policy, with its weights in ``tables``. Raises ConfigError for one too large."""
    spec, tensors = policy.spec, rewritten(policy)
    width, history = len(spec.observation), spec.history
    ring = (spec.network.kind == "mlp" and history > 1) or spec.remembers
    state = [f"int32_t seen[{history}][{width}]; /* inputs, Q16 */", "uint32_t next, filled; /* of them */"]
    state = state if ring else []
    begin = "    s->next = s->filled = 0;\n" if ring else ""
    declared: list[str] = []
    lines: list[str] = []
    pieces: set[str] = set()

    def dense(weight: str, added: str, read: str, to: str) -> str:
        """The call for ``to`` = W ``read`` + ``added``."""
        rows, columns = tensors[weight].shape
        name, shift, wide = tables.matrix(weight, tensors[weight])
        function = "dense_wide" if wide else "dense"
        pieces.add(function)
        return f"{function}({name}, {shift}, {added}, {read}, {columns}, {to}, {rows});"

    def bias(name: str) -> str:
        return tables.bias(name, tensors.get(name))

    products = sum(value.size for name, value in tensors.items() if "weight" in name)
    if spec.network.kind == "mlp":
        read = "x"
        if ring:
            read = "row"
            declared = [f"int32_t row[{history * width}];", "unsigned i, k;"]
            lines.append(_ROW.format(history=history, width=width))
    else:
        hidden = tensors["lstm.weight_hh"].shape[1]
        beside = tensors["shortcut.weight"].shape[0] if "shortcut.weight" in tensors else 0
        settings = {
            "hidden": hidden,
            "history": history,
            "input": dense("lstm.weight_ih", bias("lstm.bias"), "x", "sums"),
            "recurrent": dense("lstm.weight_hh", "sums", "features", "sums"),
            "cells": f"lstm(sums, features, cell, {hidden});",
        }
        pieces.add("lstm")
        memory = [f"int32_t features[{hidden + beside}]", f"int32_t cell[{hidden}]"]
        declared = [f"int32_t sums[{4 * hidden}];"]
        if ring:
            declared += ["unsigned k;", *(f"{text};" for text in memory)]
            products += (history - 1) * sum(tensors[f"lstm.weight_{x}"].size for x in ("ih", "hh"))
            lines.append(_STEPS.format(**settings))
        else:
            state += [f"{text}; /* of the LSTM, Q16 */" for text in memory]
            declared += ["int32_t *features = s->features, *cell = s->cell;"]
            lines.append(_STEP.format(**settings))
            begin = _FORGET.format(hidden=hidden)
        if beside:
            to = f"features + {hidden}"
            lines.append("    " + dense("shortcut.weight", bias("shortcut.bias"), "x", to))
            lines.append(f"    relu_all({to}, {beside});")
            pieces.add("relu_all")
        read = "features"
    layers = layers_of(tensors)
    for n, (weight, _) in enumerate(layers):
        last = n + 1 == len(layers)
        activation = spec.network.output_activation if last else spec.network.hidden_activation
        declared.append(f"int32_t y{n}[{weight.shape[0]}];")
        lines.append("    " + dense(f"layers.{n}.weight", bias(f"layers.{n}.bias"), read, f"y{n}"))
        if activation != "none":
            lines.append(f"    {activation}_all(y{n}, {weight.shape[0]});")
            pieces.add(f"{activation}_all")
        read = f"y{n}"
    body = "\n".join([*(f"    {text}" for text in declared), *lines, f"    return {read}[0];"])
    return Code(tuple(state), begin, body, frozenset(pieces), products, ring)
