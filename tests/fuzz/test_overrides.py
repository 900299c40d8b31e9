# SPDX-License-Identifier: GPL-2.0-or-later
"""Fuzzed ``key=value`` overrides of a configuration: a valid run, or a short error."""

from __future__ import annotations

import copy
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from ns3_env.agents.configuration.inputs import Inputs
from ns3_env.agents.configuration.registry import find_agent
from ns3_env.agents.training import run as training
from ns3_env.config.yaml import read_mapping
from tests.fuzz.in_bounds import faults
from tests.fuzz.strategies import TEXTS, VALUES, YAML_TEXTS, near
from tests.fuzz.tried import attempt
from tests.paths import ROOT
from tests.scenario.json_places import places

CONFIG = read_mapping(ROOT / "configs/fdcc.yaml")
CURRICULUM = read_mapping(ROOT / "curricula/incast.yaml")
find_agent("fdcc")  # PyTorch's import takes seconds

KEYS = st.one_of(
    st.sampled_from([".".join(map(str, place)) for place in places(CONFIG)]),
    st.lists(st.one_of(st.sampled_from(list(CONFIG)), TEXTS), min_size=1, max_size=4).map(".".join),
)


def written(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True, width=10**6).removesuffix("...\n").strip()


@st.composite
def near_ones(draw: st.DrawFn) -> str:
    """A key of the configuration with a value like its own."""
    place = draw(st.sampled_from(list(places(CONFIG))))
    value: Any = CONFIG
    for key in place:
        value = value[key]
    return f"{'.'.join(map(str, place))}={written(near(draw, value))}"


OVERRIDES = st.one_of(
    near_ones(), st.tuples(KEYS, st.one_of(VALUES.map(written), YAML_TEXTS)).map("=".join), YAML_TEXTS
)


@given(st.lists(OVERRIDES, min_size=1, max_size=3))
def test_overrides_make_a_run_or_a_line(overrides: list[str]) -> None:
    inputs = Inputs(copy.deepcopy(CONFIG), CURRICULUM, "c.yaml", "d.yaml")
    made = attempt("overrides", lambda: training.plan(inputs, overrides), "")
    assert made is None or list(faults(made.config)) == []
    assert inputs.config == CONFIG, "the file's own contents have changed"
