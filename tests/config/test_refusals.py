# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines that are refused: exit code 2, a line that says what would be right, nothing written."""

import json
import re
import shlex
from pathlib import Path

import pytest

import train
from ns3_env.config.yaml import read_mapping
from ns3_env.eval.commands.evaluation import main
from tests.agents.own_code import CONFIG, STAGES
from tests.paths import DATA
from tests.samples import searches
from tests.samples.files import Refused, dumped
from tests.samples.policy_files import mlp_file
from tests.samples.runs import CURRICULUM, written
from tests.samples.suites import SUITE

SCENARIO = {"topology": {"kind": "dumbbell", "senders": 2}, "traffic": {"kind": "csv", "file": "flows.csv"}}
ROWS = [
    pytest.param(name, shlex.split(f"{table['begins']} {arguments}"), sentence, id=arguments.strip()[:60])
    for name, table in read_mapping(DATA / "command_refusals.yaml").items()
    for arguments, sentence in re.findall(r"(.+?)\s+-> ([^\n]+)", table["rows"], re.DOTALL)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the table's command lines name."""
    folder = tmp_path_factory.mktemp("refused")
    (folder / "flows.csv").write_text("src,dst,size_bytes,start_ns\n0,2,50000,0\n1,2,50000,0\n")
    (folder / "wrong.csv").write_text("src,dst,size_bytes,start_ns\n0,9,5,0\n")
    dumped(folder / "two.yaml", {**SCENARIO, "controllers": ["dcqcn"]})
    dumped(folder / "agents.yaml", {"topology": SCENARIO["topology"]})
    dumped(folder / "suite.yaml", SUITE)
    dumped(folder / "reno.yaml", {**SUITE, "controllers": ["reno"]})
    mlp_file(folder / "policy.safetensors")
    (folder / "page.md").write_text("nothing here")
    (folder / "wrong.yaml").write_text(CURRICULUM.replace("size_bytes: 50000", "size_bytes: -1"))
    flows = [{"src": src, "dst": 1 - src, "size_bytes": 10, "start_ns": 0} for src in (0, 1)]
    across = json.dumps({"kind": "list", "flows": flows})
    incast = "{kind: incast, size_bytes: 20000000, spread_ns: 10000}"
    (folder / "across.yaml").write_text(searches.INCASTS.replace(incast, across))
    for name in ("tiny", "own", "weights", "tuning", "dcqcn"):
        (folder / name).mkdir()
    written(folder / "tiny")
    written(folder / "own", CONFIG, STAGES)
    for name in ("weights", "tuning", "dcqcn"):
        searches.written(folder / name, name)
    return folder


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("table", "command", "sentence"), ROWS)
def test_a_mistake_is_one_line_and_nothing_is_written(
    table: str,
    command: list[str],
    sentence: str,
    folder: Path,
    tmp_path: Path,
    refused: Refused,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NS3_ENV_NAMED_CODE", raising=False)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    if command[0] == "train":
        line = refused(train.main, *command[1:], "--runs", tmp_path / "runs")
        assert table.startswith("an algorithm") or not (tmp_path / "runs").exists()
    else:
        line = refused(main, *command)
    words = ".*".join(re.escape(part.strip()) for part in f" {sentence}".split(" ... "))
    assert re.search(words, line), line
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
