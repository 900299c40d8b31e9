# SPDX-License-Identifier: GPL-2.0-or-later
"""Gain of a search: tuned against untuned, seed by seed on the same flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ns3_env.simulator.results import Floats


def compare_seeds(tuned: Floats, before: Floats) -> dict[str, Any]:
    """What was gained, seed by seed on the same flows; ``certain``: all seeds say the same, and are several.

    Args:
        tuned: rewards (seeds,).
        before: rewards (seeds,) of the same seeds.
    """
    by_seed = tuned - before
    return {
        "mean": float(by_seed.mean()),
        "share": float(by_seed.mean() / abs(before.mean())) if before.mean() else None,
        "by_seed": [float(x) for x in by_seed],
        "seeds_spread_before": float(before.max() - before.min()),
        "certain": bool(len(by_seed) > 1 and (by_seed.min() > 0 or by_seed.max() < 0)),
    }


def describe_gain(found: Mapping[str, Any]) -> str:
    """The gain in words, and plainly whether it is one."""
    by_seed, share = found["by_seed"], found["share"]
    percent = "" if share is None else f" ({100 * share:+.2f} %)"
    text = f"{found['mean']:+.4f}{percent}"
    if len(by_seed) < 2:
        return f"{text}; one seed says nothing of the spread: evaluation.episodes=5"
    text += f", by seed from {min(by_seed):+.4f} to {max(by_seed):+.4f}"
    if not found["certain"]:
        return f"{text}: within the seeds' spread, no gain is shown"
    return f"{text}: {'a gain' if found['mean'] > 0 else 'a loss'} with every seed"
