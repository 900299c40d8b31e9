# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws a policy's action over two fields of a steady flow, a panel of colours by values of a third."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ns3_env.decision.observations import field_indices
from ns3_env.errors import ConfigError
from ns3_env.eval.episodes.entry import policy_of
from ns3_env.eval.output.plots import Floats, write_picture
from ns3_env.policies.header import MAX_HISTORY
from ns3_env.policies.native_policy import NetworkPolicy

_CELLS = 121
#: Defaults: one of four flows on a busy 100 Gb/s link with an empty queue, half done.
GIVEN: dict[str, float] = {
    "qlen": 0.0,
    "switch_rate": 1.0,
    "pacing_rate": 0.25,
    "flow_count": 4.0,
    "attained": 10.0,
    "remaining": 10.0,
    "ecn_fraction": 0.0,
    "repeated_fraction": 0.0,
    "notified_offset": 0.0,
    "notified_delta": 0.0,
    "notified_feedback": 0.0,
    "notification_recency": 0.0,
    "notifications": 0.0,
    "base_rtt_ns": 8_300.0,
    "host_rate_bps": 100e9,
    "packet_bytes": 1048.0,
    "payload_bytes": 1000.0,
}


@dataclass(frozen=True)
class Axis:
    """A field and its values: ``name=low..high``, on a logarithmic scale if low is above 0 and high 20 times
    that."""

    field: str
    low: float
    high: float

    @classmethod
    def parse(cls, text: str) -> Axis:
        """Raises ConfigError for text of another form."""
        field, _, ends = text.partition("=")
        low, _, high = ends.partition("..")
        try:
            axis = cls(field, float(low), float(high))
        except ValueError:
            axis = None
        if axis is None or not axis.low < axis.high:
            raise ConfigError(f"{text!r}: expected FIELD=LOW..HIGH, e.g. qlen=0..2")
        return axis

    @property
    def log(self) -> bool:
        """Returns whether the axis is logarithmic."""
        return self.low > 0 and self.high > 20 * self.low

    def values(self) -> Floats:
        """(_CELLS,)."""
        places: Floats = (np.geomspace if self.log else np.linspace)(self.low, self.high, _CELLS)
        return places


def policy_map(
    path: Path, out: Path, x: str, y: str, panel: str | None = None, fixed_fields: Sequence[str] = ()
) -> Path:
    """Draws the action over two fields.

    Args:
        path: the policy, see ``ns3_env.policies.released.policy_path``.
        out: the picture's file, .png or .svg.
        x, y: "FIELD=LOW..HIGH".
        panel: "FIELD=A,B,...": a panel for each; None: one panel.
        fixed_fields: "FIELD=VALUE" of other fields, instead of ``GIVEN``'s.

    Returns:
        ``out``.

    Raises:
        ConfigError, ScenarioError: the policy or the request is wrong.
    """
    policy = NetworkPolicy.load(policy_of(path))
    across, up = Axis.parse(x), Axis.parse(y)
    fixed = dict(_number(text) for text in fixed_fields)
    third, values = _panels(panel)
    titles = [f"{third} = {value:g}" if third else path.name for value in values]
    figure = Figure(figsize=(1.2 + 3.2 * len(titles), 3.3), layout="constrained", facecolor="white")
    several = figure.subplots(1, len(titles), squeeze=False, sharey=True)[0]
    columns, rows = np.meshgrid(across.values(), up.values())
    for axes, title, value in zip(several, titles, values, strict=True):
        observations = {name: np.array([number]) for name, number in fixed.items()}
        observations |= {across.field: columns.ravel(), up.field: rows.ravel()}
        if third:
            observations[third] = np.array([value])
        action = act_steadily(policy, observations).reshape(columns.shape)
        mesh = axes.pcolormesh(columns, rows, action, cmap="RdBu", vmin=-1, vmax=1, rasterized=True)
        axes.contour(columns, rows, action, levels=[0.0], colors="black", linewidths=1.2)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(across.field)
        axes.set_xscale("log" if across.log else "linear")
        axes.set_yscale("log" if up.log else "linear")
    several[0].set_ylabel(up.field)
    bar = figure.colorbar(mesh, ax=list(several), shrink=0.9)
    bar.set_label("action; black: 0, the window stays")
    return write_picture(figure, out)


def act_steadily(policy: NetworkPolicy, fields: Mapping[str, Floats]) -> Floats:
    """The policy's actions (n,) after long constant observations. Raises ConfigError, as ``steady``."""
    observations = steady(policy.fields, fields).astype(np.float32)
    state = None
    for _ in range(MAX_HISTORY if policy.spec.network.carries else policy.spec.history):
        actions, state = policy.predict(observations, state)
    settled: Floats = np.asarray(actions, dtype=np.float64)[:, 0]
    return settled


def _number(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise ConfigError(f"{text!r}: expected FIELD=VALUE, e.g. flow_count=16") from None


def _panels(text: str | None) -> tuple[str, list[float]]:
    """The third field and its values; one panel without it."""
    if text is None:
        return "", [0.0]
    name, _, listed = text.partition("=")
    try:
        return name, [float(value) for value in listed.split(",")]
    except ValueError:
        raise ConfigError(f"{text!r}: expected FIELD=A,B,..., e.g. remaining=0.3,3,30") from None


def steady(fields: Sequence[str], values_of: Mapping[str, Floats]) -> Floats:
    """Observations (n, len(fields)) of a flow under constant conditions.

    Its queueing delay is the bottleneck's queue (RTT = 1 + QLEN), its goodput is its rate, and nothing rises
    or falls: slopes and the last action are 0.

    Args:
        fields: fields of the observation.
        values_of: values (n,) of fields, instead of ``GIVEN``'s.

    Raises:
        ConfigError: there is no such field, or its observation does not follow from these.
    """
    try:
        field_indices(list(values_of))
    except KeyError as error:
        raise ConfigError(error.args[0]) from None
    count = max((len(values) for values in values_of.values()), default=1)
    inputs: dict[str, Floats] = {name: np.full(count, value) for name, value in GIVEN.items()}
    inputs |= {name: np.broadcast_to(values, count) for name, values in values_of.items()}
    zero = np.zeros(count)
    bdp = inputs["base_rtt_ns"] * inputs["host_rate_bps"] / 8e9
    follows = {
        "rtt": 1 + inputs["qlen"],
        "rtt_slope": zero,
        "qlen_slope": zero,
        "last_action": zero,
        "goodput": inputs["pacing_rate"],
        "throughput": inputs["pacing_rate"],
        "bdp_bytes": bdp,
        "window_bytes": inputs["pacing_rate"] * bdp,
        "rate_bps": inputs["pacing_rate"] * inputs["host_rate_bps"],
        "rtt_ns": (1 + inputs["qlen"]) * inputs["base_rtt_ns"],
    }
    whole = {**follows, **inputs}
    if unknown := [name for name in fields if name not in whole]:
        raise ConfigError(
            f"the policy reads {', '.join(unknown)}, of which nothing follows from a steady state: "
            f"give a value, e.g. {unknown[0]}=0"
        )
    return np.stack([whole[name] for name in fields], axis=1)
