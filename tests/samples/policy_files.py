# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies of random weights, as files that the simulator runs."""

from pathlib import Path
from typing import Any

import numpy as np

from ns3_env.policies.file import PolicyFile, read_policy, write_policy
from ns3_env.policies.header import PolicySpec
from ns3_env.policies.tensors import Layer, Widths, tensor_shapes
from tests.paths import DATA

#: The header's network for each kind of sample.
_KINDS = {"mlp": {"kind": "mlp"}, "lstm": {"kind": "lstm"}, "carried": {"kind": "lstm", "memory": "carried"}}
FIELDS = ("rtt", "qlen", "goodput", "pacing_rate", "last_action")


def policy_file(path: Path, kind: str, hidden: int, zero: bool = False, **changes: Any) -> Path:
    """A network over FIELDS; ``zero``: one that always answers 0."""
    clock = changes.pop("clock", None)
    spec = PolicySpec.model_validate(
        {
            "observation": [{"field": name, "transform": "symlog"} for name in FIELDS],
            "history": 6 if kind == "lstm" else 1,
            "network": {**_KINDS[kind], "hidden_activation": "tanh", "output_activation": "tanh"},
            "action": {"name": "multiplicative_window", "alpha": 0.5, "rounding": "none"},
            "clock": {"name": "per_flow_rtt"} if clock is None else clock.model_dump(),
            "telemetry_bytes": 16,
            **changes,
        }
    )
    random = np.random.default_rng(3)
    beside = 0 if kind == "carried" else hidden
    shapes = tensor_shapes(spec, Widths((Layer(hidden), Layer(1)), hidden=hidden, shortcut=beside))
    scale = 0.0 if zero else 0.5
    tensors = {name: random.normal(0, scale, shape).astype(np.float32) for name, shape in shapes.items()}
    write_policy(path, PolicyFile(spec, tensors))
    return path


def constant_file(path: Path, answer: float, **changes: Any) -> Path:
    """A network that answers the same, whatever it observes."""
    policy = read_policy(policy_file(path, "mlp", 4, zero=True, **changes))
    tensors = dict(policy.tensors)
    tensors["layers.1.bias"] = np.full_like(tensors["layers.1.bias"], np.arctanh(answer))
    write_policy(path, PolicyFile(policy.spec, tensors))
    return path


def mlp_file(path: Path, **changes: Any) -> Path:
    """An MLP of two layers."""
    return policy_file(path, "mlp", 12, **changes)


def lstm_file(path: Path, **changes: Any) -> Path:
    """An LSTM with a shortcut, of widths that fill no vector register."""
    return policy_file(path, "lstm", 21, **changes)


def carried_file(path: Path, **changes: Any) -> Path:
    """An LSTM without a shortcut, which carries its state from decision to decision."""
    return policy_file(path, "carried", 21, **changes)


def rlcc_file(path: Path, **changes: Any) -> Path:
    """An MLP as RL-CC's: it reads two steps, and a value derived from two fields."""
    derived = {"derived": "rtt_target", "margin": 1.2, "target": 0.1, "gain": 0.5}
    fields = [{"field": name} for name in FIELDS if name not in ("rtt", "pacing_rate")]
    action = {"name": "multiplicative_rate", "alpha": 0.2, "least_packets": 0.1}
    settings = {"observation": [*fields, derived], "history": 2, "action": action}
    return policy_file(path, "mlp", 12, **{**settings, **changes})


def tiny(kind: str = "mlp", shortcut: int | None = None, **changes: Any) -> PolicyFile:
    """A policy of a few random weights; ``shortcut``: its width, if it is not the kind's own."""
    spec = PolicySpec.model_validate(
        {
            "observation": [{"field": "rtt", "transform": "symlog"}, {"field": "qlen"}, {"field": "goodput"}],
            "history": 3 if kind == "lstm" else 1,
            "network": {**_KINDS[kind], "hidden_activation": "relu", "output_activation": "tanh"},
            "action": {"name": "multiplicative_window", "alpha": 0.5},
            "clock": {"name": "per_flow_rtt"},
            "telemetry_bytes": 42,
            **changes,
        }
    )
    generator = np.random.default_rng(1)
    beside = shortcut if shortcut is not None else 0 if kind == "carried" else 5
    shapes = tensor_shapes(spec, Widths((Layer(4), Layer(1, bias=False)), hidden=2, shortcut=beside))
    return PolicyFile(
        spec, {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    )


def needed_attributes(controller: str) -> dict[str, str]:
    """Attributes without which a controller does not run: "policy" needs a policy's file."""
    policy = DATA / "policy.safetensors"
    return {"File": str(policy)} if controller == "policy" else {}
