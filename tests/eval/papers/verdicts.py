# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads verdicts."""

from __future__ import annotations

from collections.abc import Mapping

from ns3_env.eval.papers.outcome import Verdict


def failed(claims: Mapping[str, Verdict]) -> list[str]:
    """Claims that are not true, without their place in the paper."""
    return [text.split(" (")[0] for text, (holds, _) in claims.items() if not holds]
