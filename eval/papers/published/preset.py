# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts a published network's scenario under another preset, with the timing that it gives."""

from __future__ import annotations

from typing import Literal

from ns3_env.scenario import Scenario

Preset = Literal["default", "published"]


def in_preset(scenario: Scenario, preset: Preset | None) -> Scenario:
    """The scenario under a preset, and the timing that it gives; None: as it is."""
    if preset is None:
        return scenario
    return scenario.model_copy(update={"preset": preset, "timing": None})
