# SPDX-License-Identifier: GPL-2.0-or-later
"""Run configurations and their overrides, and errors that name file and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.configuration.inputs import apply_overrides, read_inputs
from ns3_env.agents.fdcc import FdccConfig
from ns3_env.config.model import validate
from ns3_env.errors import ConfigError

GOOD: dict[str, Any] = {
    "agent": {"name": "fdcc", "hidden": 8},
    "env": {"fields": ["rtt", "qlen"], "clock": {"name": "per_flow_rtt", "rtt_fraction": 0.5}},
}


def test_overrides_reach_into_sections_and_are_typed() -> None:
    data = apply_overrides(GOOD, ["train.decisions=7", "agent.net_arch=[4, 4]", "name=a-b"])
    config = validate(data, RunConfig, "x.yaml")
    assert config.train.decisions == 7
    assert isinstance(config.agent, FdccConfig)
    assert config.agent.net_arch == [4, 4]
    assert config.name == "a-b"
    assert "train" not in GOOD
    assert GOOD["agent"] == {"name": "fdcc", "hidden": 8}


@pytest.mark.parametrize("override", ["decisions", "=3", "seed.x=3", "seed=[", "agent.name.x=1"])
def test_a_bad_override_is_refused(override: str) -> None:
    with pytest.raises(ConfigError, match="command line"):
        apply_overrides({**GOOD, "seed": 1}, [override])


def test_entries_of_lists_are_overridden_by_their_numbers() -> None:
    data = {"parts": [{"load": 0.1}, {"load": 0.2}]}
    assert apply_overrides(data, ["parts.1.load=0.3"]) == {"parts": [{"load": 0.1}, {"load": 0.3}]}
    assert data["parts"][1] == {"load": 0.2}
    with pytest.raises(ConfigError, match="'2' is no entry of a list; its entries have numbers: 0 to 1"):
        apply_overrides(data, ["parts.2.load=0.3"])


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("a: 1")
    bad.write_text("kind: tran")
    with pytest.raises(ConfigError, match=r"bad\.yaml: kind: there are 'train' and 'search', not 'tran'"):
        _ = read_inputs(bad, good).kind


def test_a_run_is_given_by_files_or_by_its_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--config and --curriculum are needed"):
        read_inputs(tmp_path / "config.yaml", None)
    with pytest.raises(ConfigError, match="--resume brings its own configuration"):
        read_inputs(tmp_path / "config.yaml", None, tmp_path)
    with pytest.raises(ConfigError, match=r"not the folder of a run: .*No such file"):
        read_inputs(None, None, tmp_path)
