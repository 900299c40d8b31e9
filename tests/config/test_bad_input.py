# SPDX-License-Identifier: GPL-2.0-or-later
"""Broken and hostile input files: refused at once, with a line that names the file."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.configuration.inputs import read_inputs
from ns3_env.agents.configuration.registry import find_agent
from ns3_env.config.model import validate
from ns3_env.config.yaml import MAX_DEPTH, parse, read_mapping
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.scenario import Scenario
from tests.cpu_time import within_cpu_s
from tests.paths import ROOT

QUICKLY_S = 0.9
find_agent("fdcc")  # PyTorch's import needs seconds


def run_config(path: Path) -> None:
    """Reads a run's configuration as train.py does."""
    good = ROOT / "curricula" / "incast_zhang2023.yaml"
    inputs = read_inputs(path, good)
    assert inputs.kind == "train"
    validate(inputs.config, RunConfig, inputs.config_source)


READERS: dict[str, Callable[[Path], object]] = {
    "scenario": Scenario.load,
    "suite": Suite.load,
    "config": run_config,
    "mapping": read_mapping,
}


def refusal(read: Callable[[Path], object], path: Path) -> str:
    """The error's text, which comes quickly and is a line, or a few short ones."""
    with within_cpu_s(QUICKLY_S), pytest.raises((ConfigError, ScenarioError)) as caught:
        read(path)
    text = str(caught.value)
    place = re.compile(rf"{re.escape(str(path))}(:\d+:\d+)?: ")
    assert all(place.match(line) for line in text.splitlines())
    assert "<unicode string>" not in text
    assert text.count("line ") == 0
    assert len(text) < 2500
    return text


MEAN_YAML = {
    "date": ("seed: 2001-13-45", ":1:7: not YAML: "),
    "int": ('seed: !!int "x"', ":1:7: not YAML: 'x' is no int"),
    "float": ('seed: !!float "x"', "is no float"),
    "bool": ('seed: !!bool "x"', "is no bool"),
    "timestamp": ('seed: !!timestamp "x"', "is no timestamp"),
    "binary": ("seed: !!binary é", "failed to convert base64 data"),
    "digits": (f"seed: {'9' * 5000}", ":1:7: not YAML: a number of 5000 characters"),
    "hex": (f"seed: 0x{'f' * 100_000}", "a number of 100002 characters"),
    "sexagesimal": (f"seed: 1{':10' * 50_000}", "a number of"),
    "flow nesting": ("seed: " + "[" * 60 + "]" * 60, f"more than {MAX_DEPTH} deep"),
    "mapping nesting": ("{a: " * 500 + "1" + "}" * 500, f"more than {MAX_DEPTH} deep"),
    "block nesting": ("seed:\n  " + "- " * 500 + "1", f"more than {MAX_DEPTH} deep"),
    "deepest nesting": ("seed: " + "[" * 300_000, f"more than {MAX_DEPTH} deep"),
    "unhashable": ("? [a, b]\n: 1", "unhashable"),
    "object": ("seed: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
    "control": ("seed: \x07", "not allowed"),
    "list": ("- 1", "expected keys and values, found list"),
    "empty": ("", "expected keys and values, found NoneType"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("case", MEAN_YAML)
def test_mean_yaml_is_a_line(case: str, reader: str, tmp_path: Path) -> None:
    text, expected = MEAN_YAML[case]
    path = tmp_path / "mean.yaml"
    path.write_text(text, encoding="utf-8")
    message = refusal(READERS[reader], path)
    assert expected in message
    assert "\n" not in message


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_file_is_not_read(reader: str, tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe.yaml", tmp_path / "folder.yaml"
    os.mkfifo(pipe)
    folder.mkdir()
    huge = tmp_path / "huge.yaml"
    with huge.open("wb") as file:
        file.truncate(1 << 40)
    for path, expected in (
        (pipe, "is a pipe, not a file"),
        (folder, "is a folder, not a file"),
        (Path("/dev/zero"), "is a device, not a file"),
        (huge, "none is read that has more"),
        (tmp_path / "x\0y.yaml", "no file's name"),
        (tmp_path / ("n" * 300), "File name too long"),
    ):
        if reader == "suite" and expected in ("no file's name", "File name too long"):
            continue
        assert expected in refusal(READERS[reader], path)


HUGE = 10**400


@pytest.mark.parametrize(
    "override",
    [
        {"env": {"fields": ["rtt"], "simulators": 10**9}},
        {"train": {"decisions": 10**30}},
        {"train": {"keep_checkpoints": 10**10}},
        {"agent": {"name": "fdcc", "hidden": 10**12}},
        {"agent": {"name": "fdcc", "learning_rate": HUGE}},
        {"agent": {"name": "fdcc", "buffer_size": 10**18}},
        {"env": {"fields": ["rtt"], "telemetry_bytes": 1001}},
        {"seed": 2**32},
        {"agent": {"name": "td3", "options": {"buffer_size": 10**10}}},
        {"agent": {"name": "sac", "options": {"batch_size": 10**30}}},
        {"agent": {"name": "ppo", "options": {"policy_kwargs": {"net_arch": [64, 10**13]}}}},
        {"agent": {"name": "ppo", "options": {"learning_rate": -1e300}}},
    ],
)
def test_every_number_of_a_configuration_has_a_bound(override: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    good = {"agent": {"name": "fdcc"}, "env": {"fields": ["rtt"], "clock": {"name": "synchronous"}}}
    path.write_text(yaml.safe_dump({**good, **override}))
    assert "must be at most" in refusal(run_config, path)


@pytest.mark.parametrize(
    "data",
    [
        {"seed": ["x" * 1000] * 100_000},
        {"seed": {f"k{i}": i for i in range(50_000)}},
        {"k" * 500_000: 1},
        {"topology": {"kind": "k" * 500_000}},
        {"traffic": {"kind": "poisson", "sizes": "k" * 500_000}},
        {"switch": {"flow_counter": "k" * 500_000}},
        {f"k{i}": i for i in range(5000)},
        {"controlled_flows": ["x"] * 20_000},
    ],
    ids=lambda data: str(next(iter(data)))[:20],
)
def test_what_is_shown_is_cut(data: dict[str, Any]) -> None:
    with within_cpu_s(QUICKLY_S), pytest.raises(ScenarioError) as caught:
        Scenario.from_mapping(data, "s.yaml")
    assert len(str(caught.value)) < 4000


def test_a_long_list_is_read_quickly() -> None:
    rows = "".join(f"- {{src: {i % 7}, dst: 7, size_bytes: 100, start_ns: {i}}}\n" for i in range(50_000))
    start_s = time.process_time()
    assert len(parse("flows:\n" + rows)["flows"]) == 50_000
    assert time.process_time() - start_s < 5  # 1 s; with the collector at work it was 15 s
