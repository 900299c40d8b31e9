# SPDX-License-Identifier: GPL-2.0-or-later
"""Controllers in shared objects: the same bits as built-in ones, and refusals of wrong ones."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ns3_env.eval.benchmark.folder import BenchFolder, fingerprint, versions_in_use
from ns3_env.eval.commands.evaluation import main as evaluate
from ns3_env.eval.episodes.entry import Entry
from ns3_env.programs import plugins as headers
from ns3_env.scenario import Controller, Record, Scenario
from ns3_env.simulator import (
    PLUGINS_VARIABLE,
    Simulator,
    default_attributes,
    describe_controllers,
    find_executable,
    list_controllers,
    load_plugins,
)
from tests.paths import ROOT
from tests.samples.files import Refused, dumped
from tests.samples.scenarios import incast

PROGRAMS = Path(sys.executable).parent
ALL = {"windows": True, "events": True, "queue_series_ns": 1000, "controller_state": True}
EIGHT = incast(8, 500_000, time_limit_ns=20_000_000, record=ALL)


@pytest.fixture(autouse=True)
def nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PLUGINS_VARIABLE, "")


@pytest.fixture(scope="module")
def aimd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin that the example's CMakeLists.txt builds."""
    folder = tmp_path_factory.mktemp("aimd")
    cmake = [str(PROGRAMS / "cmake")]
    ninja = f"-DCMAKE_MAKE_PROGRAM={PROGRAMS / 'ninja'}"
    source = str(ROOT / "examples" / "plugin")
    tools = ["-G", "Ninja", ninja, f"-DPython_EXECUTABLE={sys.executable}"]
    configure = [*cmake, "-S", source, "-B", str(folder), *tools]
    for command in (configure, [*cmake, "--build", str(folder)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "aimd.so"


def compiled(source: Path) -> Path:
    """The shared object of a file, by the compiler without CMake; its linker drops unreferenced libraries."""
    plugin_file = source.with_suffix(".so")
    flags = [*headers.compiler_flags(), "-fdata-sections", "-Wl,--gc-sections", "-Wl,-s"]
    command = ["c++", "-O0", "-shared", "-fPIC", *flags, str(source), "-o", str(plugin_file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return plugin_file


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The controller of dctcp, its file and class as they are, by another name."""
    folder = tmp_path_factory.mktemp("twin")
    controller = ROOT / "ns3_env" / "cpp" / "rdma" / "controllers"
    (folder / "dctcp.h").write_text((controller / "dctcp.h").read_text())
    text = (controller / "dctcp.cc").read_text()
    assert text.count('"rdma::dctcp"') == 1
    (folder / "twin.cc").write_text(text.replace('"rdma::dctcp"', '"rdma::twin"'))
    return compiled(folder / "twin.cc")


def changed_aimd(folder: Path, old: str, new: str) -> Path:
    """The example's controller with a mistake, as its source file."""
    controller = ROOT / "examples" / "aimd"
    (folder / "aimd.h").write_text((controller / "aimd.h").read_text())
    text = (controller / "aimd.cc").read_text()
    assert text.count(old) == 1
    (folder / "aimd.cc").write_text(text.replace(old, new))
    return folder / "aimd.cc"


def patched(plugin: Path, old: bytes, new: bytes, folder: Path) -> Path:
    """The plugin with some of its bytes replaced."""
    content = plugin.read_bytes()
    assert old in content
    assert len(old) == len(new)
    plugin_file = folder / "patched.so"
    plugin_file.write_bytes(content.replace(old, new))
    return plugin_file


def contract() -> str:
    """The contract's id in the installed headers."""
    text = (headers.include_dir() / "ns3_env/cpp/contract/contract-id.h").read_text()
    return text.split('#define RDMA_CONTRACT_ID "')[1].split('"')[0]


def under(name: str) -> Scenario:
    return EIGHT.model_copy(update={"controllers": [Controller(name=name)]})


def test_a_law_in_a_plugin_plays_to_the_bits_of_the_same_law_built_in(twin: Path) -> None:
    with Simulator(plugins=[twin]) as simulator:
        results = [simulator.play(under(name)) for name in ("twin", "dctcp")]
    assert len(results[0]["marks"]) > 0, "marked as it declares"
    assert len(results[0]["windows"]) > 8, "windows and rates moved"
    assert json.dumps(results[0]).replace('"twin"', '"dctcp"') == json.dumps(results[1])


def test_it_is_described_like_any_other_and_only_where_it_is_named(aimd: Path) -> None:
    names = list_controllers()
    assert "aimd" not in names
    load_plugins([aimd])
    assert set(list_controllers()) == {*names, "aimd"}
    assert default_attributes("aimd") == {"Increase": "1", "Decrease": "0.5"}
    declared = describe_controllers()["aimd"]
    assert declared["ecn"]["kmin_bytes"] == 30_000
    assert declared["plugin"] == str(aimd)
    assert all("plugin" not in describe_controllers()[name] for name in names)


def test_the_environment_names_several(aimd: Path, twin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PLUGINS_VARIABLE, f"{aimd}:{twin}:{aimd}")
    with Simulator() as simulator:
        assert {"aimd", "twin"} <= set(list_controllers())
        mixed = EIGHT.model_copy(update={"record": Record()})
        for name in ("aimd", "twin"):
            results = simulator.play(mixed.model_copy(update={"controllers": [Controller(name=name)]}))
            assert results["totals"]["unfinished"] == 0


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    traffic = {"kind": "incast", "size_bytes": 100_000}
    content = {"topology": {"kind": "dumbbell", "senders": 8}, "traffic": traffic, "time_limit_ns": "10ms"}
    return dumped(tmp_path / "eight.yaml", content)


def test_commands_take_it(aimd: Path, scenario_file: Path, tmp_path: Path) -> None:
    options = ["--plugin", str(aimd)]
    run = ["run", str(scenario_file), "--controllers", "aimd,dctcp", "--out", str(tmp_path / "run")]
    assert evaluate([*run, *options]) == 0
    versions = yaml.safe_load((tmp_path / "run" / "aimd" / "config.yaml").read_text())["versions"]
    assert versions["plugin aimd"].startswith("aimd.so ")
    trace = ["run", str(scenario_file), "--trace", "--controllers", "aimd", "--out", str(tmp_path / "trace")]
    assert evaluate([*trace, *options]) == 0
    assert "CutFromBytes" in (tmp_path / "trace" / "aimd" / "controller_state.csv").read_text()


def test_a_benchmark_plays_a_cell_again_where_its_plugin_has_changed(
    aimd: Path, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)
    plugin = tmp_path / "mine.so"
    plugin.write_bytes(aimd.read_bytes())
    suite, out = tmp_path / "suite.yaml", tmp_path / "out"
    cell = {"name": "eight", "scenario": str(scenario_file)}
    suite.write_text(json.dumps({"controllers": ["aimd", "dctcp"], "seeds": [1], "scenarios": [cell]}))
    command = ["benchmark", str(suite), "--out", str(out), "--jobs", "1", "--plugin", str(plugin)]
    assert evaluate(command) == 0
    assert BenchFolder.read(out).complete

    def marks() -> dict[str, str]:
        used = versions_in_use()
        return {name: fingerprint(EIGHT, Entry.model_validate(name), 1, used) for name in ("aimd", "dctcp")}

    before = marks()
    plugin.write_bytes(aimd.read_bytes() + b"another")
    after = marks()
    assert before["dctcp"] == after["dctcp"]
    assert before["aimd"] != after["aimd"]


def test_the_contract_s_promises_are_asked_of_it(aimd: Path, tmp_path: Path) -> None:
    def check(plugin: Path) -> subprocess.CompletedProcess[str]:
        command = [str(find_executable()), f"--plugin={plugin}", "--check"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    check_run = check(aimd)
    assert (check_run.returncode, check_run.stdout.startswith("aimd: keeps the contract")) == (0, True)
    broken = check(
        compiled(changed_aimd(tmp_path, "std::max(packet, window * (1 - m_decrease))", "packet / 2"))
    )
    assert broken.returncode == 1
    assert "its window, 500 B, is below its floor, 1000 B" in broken.stdout


SMALL = {
    "no contract": ("int nothing;", "is no plugin: nothing in it was built against ns3_env/cpp/contract/"),
    "no controller": (
        '#include "ns3_env/cpp/contract/contract-id.h"',
        "brings no controller: a class derived",
    ),
    "a missing symbol": (
        '#include "ns3_env/cpp/contract/contract-id.h"\nint nowhere();\nint found = nowhere();',
        "cannot be loaded: undefined symbol: _Z7nowherev",
    ),
}


@pytest.fixture(params=["no file", "text", "another contract", "a name that is taken", *SMALL])
def wrong(request: pytest.FixtureRequest, aimd: Path, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """An invalid plugin, and the expected error message."""
    file = tmp_path / "x.so"
    if request.param == "no file":
        yield file, "there is no such file; name a shared object, NAME.so"
    elif request.param == "text":
        file.write_text("controller")
        yield file, "is no shared object; how one is built: docs/extending.md"
    elif request.param == "another contract":
        mine, other = contract(), "0123456789ab" + contract()[12:]
        message = f"built against contract {other}, this simulator has {mine}: rebuild it"
        yield patched(aimd, mine.encode(), other.encode(), tmp_path), message
    elif request.param == "a name that is taken":
        message = "registers 'rdma::hpcc', a name that is taken"
        yield compiled(changed_aimd(tmp_path, '"rdma::aimd"', '"rdma::hpcc"')), message
    else:
        text, message = SMALL[request.param]
        source = tmp_path / "small.cc"
        source.write_text(text + "\n")
        yield compiled(source), message


def test_a_wrong_one_is_refused_in_a_line_and_changes_nothing(
    wrong: tuple[Path, str], scenario_file: Path, tmp_path: Path, refused: Refused
) -> None:
    plugin, message = wrong
    names = list_controllers()
    command = ["run", scenario_file, "--controllers", "dctcp", "--out", tmp_path / "out"]
    text = refused(evaluate, *command, "--plugin", plugin)
    assert text.startswith(f"error: plugin {plugin}: {message}")
    assert not (tmp_path / "out").exists()
    assert list_controllers() == names
    arguments = [str(find_executable()), f"--plugin={plugin}", "--controllers"]
    by_hand = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (by_hand.returncode, by_hand.stdout) == (2, "")
    assert by_hand.stderr == f"rdma-sim: {text.removeprefix('error: ')}"


def test_no_file_names_a_plugin(aimd: Path, scenario_file: Path) -> None:
    content = yaml.safe_load(scenario_file.read_text())
    for data in ({**content, "plugins": [str(aimd)]}, {**content, "controllers": [{"name": str(aimd)}]}):
        with pytest.raises(Exception, match="unknown"), Simulator() as simulator:
            simulator.play(Scenario.from_mapping(data, "x"))
    assert "aimd" not in list_controllers()
