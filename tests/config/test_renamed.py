# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys and values of version 0.1, read as they are called today."""

from __future__ import annotations

from typing import Any

import pytest

from ns3_env.agents.configuration.config import EnvConfig, EvaluationConfig
from ns3_env.config.model import validate
from ns3_env.errors import ConfigError
from ns3_env.eval.episodes.entry import Entry
from ns3_env.scenario import Scenario

FIELDS = {"fields": ["rtt"]}


@pytest.mark.parametrize(
    ("model", "old", "today"),
    [
        (EnvConfig, {**FIELDS, "rollout": "inside"}, {**FIELDS, "placement": "simulator"}),
        (EnvConfig, {**FIELDS, "rollout": "channel"}, {**FIELDS, "placement": "python"}),
        (EnvConfig, {**FIELDS, "ahead": 2}, {**FIELDS, "prefetch": 2}),
        (EvaluationConfig, {"placement": "channel"}, {"placement": "python"}),
        (
            Entry,
            {"name": "x", "checkpoint": "y", "placement": "inside"},
            {"name": "x", "checkpoint": "y", "placement": "simulator"},
        ),
        (Scenario, {"preset": "reference"}, {"preset": "published"}),
    ],
)
def test_an_old_key_or_value_is_read_as_todays(
    model: Any, old: dict[str, Any], today: dict[str, Any]
) -> None:
    assert model.model_validate(old) == model.model_validate(today)


def test_a_key_under_both_names_is_refused() -> None:
    both = {**FIELDS, "rollout": "inside", "placement": "python"}
    with pytest.raises(ConfigError, match=r"x\.yaml: 'rollout' is now 'placement', and both are there"):
        validate(both, EnvConfig, "x.yaml")
