# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs an exported policy with only NumPy and ONNX Runtime: telemetry in, window out.

    python export.py runs/NAME --format onnx --out policy.onnx
    python examples/deploy_onnx.py policy.onnx

Neither PyTorch nor ns-3 nor this package is needed to run it: the file specifies its telemetry, how
long it remembers, and what its action means.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

# An action map returns a window (B), a pacing rate (bit/s), and the echo: the next decision's "last_action".

#: Telemetry that an action map reads in addition to the action.
FLOW_FIELDS = (
    "window_bytes",
    "rate_bps",
    "bdp_bytes",
    "packet_bytes",
    "payload_bytes",
    "base_rtt_ns",
    "host_rate_bps",
)


def multiplicative_window(
    action: float, flow: Mapping[str, float], alpha: float, rounding: str
) -> tuple[float, float, float]:
    """Window (B), pacing rate (bit/s), echo: the window times 1 + alpha a, or / (1 - alpha a) below 0."""
    packet = flow["packet_bytes"] if rounding == "none" else flow["payload_bytes"]
    bdp = max(flow["bdp_bytes"], packet)
    old = min(flow["window_bytes"], bdp)
    grown = old * (1 + alpha * action) if action >= 0 else old / (1 - alpha * action)
    window = grown
    if rounding != "none":
        window = np.floor(grown / packet + 1e-9) * packet
    if rounding == "progress" and action > 0 and window <= old:
        window = grown
    window = min(max(window, packet), bdp)
    return window, min(window * 8e9 / flow["base_rtt_ns"], flow["host_rate_bps"]), action


def recursive_window(
    action: float, flow: Mapping[str, float], alpha: float, most_factor: float
) -> tuple[float, float, float]:
    """Window (B), pacing rate (bit/s) and echo: the last factor times 1 + alpha a, or / (1 - alpha a).

    The echo is the logarithm of the factor, to the base ``most_factor``; it is the next ``last_action``.
    """
    packet = flow["payload_bytes"]
    bdp = max(flow["bdp_bytes"], packet)
    scale = 1 + alpha * action if action >= 0 else 1 / (1 - alpha * action)
    echo = min(max(flow["last_action"] + float(np.log(scale) / np.log(most_factor)), -1.0), 1.0)
    grown = min(flow["window_bytes"], bdp) * most_factor**echo
    window = min(max(float(np.floor(grown / packet + 1e-9)) * packet, packet), bdp)
    return window, min(window * 8e9 / flow["base_rtt_ns"], flow["host_rate_bps"]), echo


def exponential_window(
    action: float, flow: Mapping[str, float], alpha: float, least_packets: float
) -> tuple[float, float, float]:
    """Window (B), pacing rate (bit/s), echo: the window times exp(alpha a), paced below a packet."""
    packet = flow["packet_bytes"]
    bdp = max(flow["bdp_bytes"], packet)
    grown = min(flow["window_bytes"], bdp) * float(np.exp(alpha * action))
    window = min(max(grown, min(least_packets * packet, bdp)), bdp)
    return window, min(window * 8e9 / flow["base_rtt_ns"], flow["host_rate_bps"]), action


def logarithmic_window(
    action: float, flow: Mapping[str, float], least_packets: float
) -> tuple[float, float, float]:
    """Window (B), pacing rate (bit/s), echo: from ``least_packets`` packets at -1 to a BDP at 1."""
    packet = flow["packet_bytes"]
    bdp = max(flow["bdp_bytes"], packet)
    window = bdp * (min(least_packets * packet, bdp) / bdp) ** ((1 - action) / 2)
    return window, min(window * 8e9 / flow["base_rtt_ns"], flow["host_rate_bps"]), action


def fair_share_window(
    action: float, flow: Mapping[str, float], alpha: float, least_packets: float
) -> tuple[float, float, float]:
    """Window (B), pacing rate (bit/s), echo: the fair share of a BDP times exp(alpha a); share 0 is 1."""
    packet = flow["packet_bytes"]
    bdp = max(flow["bdp_bytes"], packet)
    shared = bdp * (flow["fair_share"] or 1.0) * float(np.exp(alpha * action))
    window = min(max(shared, min(least_packets * packet, bdp)), bdp)
    return window, min(window * 8e9 / flow["base_rtt_ns"], flow["host_rate_bps"]), action


def multiplicative_rate(
    action: float,
    flow: Mapping[str, float],
    alpha: float,
    least_packets: float,
    window: str = "bdp",
) -> tuple[float, float, float]:
    """Window (B): a BDP, or none. Pacing rate (bit/s) times 1 + alpha a, or / (1 - alpha a) for a < 0."""
    packet, link = flow["packet_bytes"], flow["host_rate_bps"]
    old = flow["rate_bps"]
    changed = old * (1 + alpha * action) if action >= 0 else old / (1 - alpha * action)
    least = min(least_packets * packet * 8e9 / flow["base_rtt_ns"], link)
    kept = max(flow["bdp_bytes"], packet) if window == "bdp" else float("inf")
    return kept, min(max(changed, least), link), action


#: Functions of a formula, such as "queueing = max(rtt - 1, 0)".
FUNCTIONS = ("min", "max", "abs", "log", "exp")

ACTION_MAPS: dict[str, Callable[..., tuple[float, float, float]]] = {
    "multiplicative_window": multiplicative_window,
    "recursive_window": recursive_window,
    "exponential_window": exponential_window,
    "logarithmic_window": logarithmic_window,
    "fair_share_window": fair_share_window,
    "multiplicative_rate": multiplicative_rate,
}


def fields_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Telemetry fields that an input of the network needs; the graph computes formulas and derived values."""
    if "field" in entry:
        _, is_formula, expression = entry["field"].partition("=")
        names = re.findall(r"(?<![\w.])[A-Za-z_]\w*", expression)
        return tuple(name for name in names if name not in FUNCTIONS) if is_formula else (entry["field"],)
    return ("rtt_ns" if "base_ns" in entry else "rtt", "pacing_rate")


class Deployed:
    """One flow under the policy in an ONNX file; flows share the session, each has its own memory."""

    def __init__(self, path: str | Path) -> None:
        self.session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        header = json.loads(self.session.get_modelmeta().custom_metadata_map["ns3_env.policy"])
        if header["version"] != 1:
            raise ValueError(f"{path}: is of version {header['version']} of the format; this reads 1")
        taken = [name for entry in header["observation"] for name in fields_of(entry)]
        self.fields = list(dict.fromkeys(taken))
        self.history_length: int = header["history"]
        self.clock: dict[str, Any] = header["clock"]
        settings = dict(header["action"])
        self._action_map, self._settings = ACTION_MAPS[settings.pop("name")], settings
        inputs = {value.name: value.shape for value in self.session.get_inputs()}
        self._remembers = "history" in inputs
        self._hidden: int | None = inputs["h"][1] if "h" in inputs else None
        self.begin()

    def begin(self) -> None:
        """Starts a new flow: clears the history of observations."""
        self._seen: list[list[float]] = []
        self._carried: dict[str, Any] = {}
        if self._hidden is not None:
            self._carried = {name: np.zeros((1, self._hidden), np.float32) for name in ("h", "c")}
        self._last_action = 0.0

    def action(self, telemetry: Mapping[str, float]) -> float:
        """The network's answer in [-1, 1] to the telemetry of this decision, by field."""
        known = {**telemetry, "last_action": self._last_action}
        self._seen = [*self._seen, [known[name] for name in self.fields]][-self.history_length :]
        if not self._remembers:
            feed = {"observations": np.array(self._seen, dtype=np.float32), **self._carried}
        else:
            window = np.zeros((1, self.history_length, len(self.fields)), dtype=np.float32)
            window[0, : len(self._seen)] = self._seen
            feed = {"history": window, "length": np.array([len(self._seen)], dtype=np.int64)}
        after = [f"next_{name}" for name in self._carried]
        action, *states = self.session.run(["action", *after], feed)
        self._carried = dict(zip(self._carried, states, strict=True))
        self._last_action = float(action[0, 0])
        return self._last_action

    def decide(self, telemetry: Mapping[str, float]) -> tuple[float, float]:
        """Window (B) and pacing rate (bit/s) until the next decision.

        ``telemetry`` contains FLOW_FIELDS and the policy's fields except ``last_action``, stored here.
        """
        before = {**telemetry, "last_action": self._last_action}
        window, rate, self._last_action = self._action_map(self.action(telemetry), before, **self._settings)
        return window, rate


def main(path: str) -> None:
    """Decides a few times for a flow at 100 Gb/s that shares its link with three other flows."""
    flow = Deployed(path)
    print(f"reads {', '.join(flow.fields)}; decides by the clock {flow.clock}")
    base_rtt_ns, rate_bps = 8_000.0, 100e9
    telemetry = dict.fromkeys(flow.fields, 0.0) | {
        "base_rtt_ns": base_rtt_ns,
        "host_rate_bps": rate_bps,
        "bdp_bytes": rate_bps * base_rtt_ns / 8e9,
        "packet_bytes": 1090.0,
        "payload_bytes": 1000.0,
        "window_bytes": rate_bps * base_rtt_ns / 8e9,
        "rate_bps": rate_bps,
        "pacing_rate": 1.0,
        "switch_rate": 1.0,
        "goodput": 0.25,
        "rtt": 3.0,
        "qlen": 2.0,
    }
    for decision in range(5):
        window, rate = flow.decide(telemetry)
        print(f"decision {decision}: window {window:,.0f} B, pacing rate {rate / 1e9:.1f} Gb/s")
        telemetry |= {"window_bytes": window, "rate_bps": rate, "pacing_rate": rate / rate_bps}


if __name__ == "__main__":
    main(sys.argv[1])
