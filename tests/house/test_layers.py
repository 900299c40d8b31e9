# SPDX-License-Identifier: GPL-2.0-or-later
"""Directions of imports between packages, and code that must not tell agents by their names."""

import ast
import functools
import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import ns3_env
from ns3_env.agents.configuration.registry import AGENTS
from tests.paths import ROOT


@functools.cache
def parsed(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """A file's imports, those within functions too."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


#: Folders of the package that lie at the project's root (links give them their names), the uppermost first.
ABOVE = ("eval", "agents")
#: The module that imports public names of all floors, on first use, and their types.
FRONT_DOOR = ROOT / "ns3_env" / "__init__.py"


def sources(package: str) -> list[Path]:
    """Python files of a folder, by their real paths; those of ``ns3_env`` include targets of its links."""
    folders = (package, *ABOVE) if package == "ns3_env" else (package,)
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def imports(package: str) -> Iterator[tuple[Path, str]]:
    """(file, module) of every import below a folder, those within functions too."""
    for path in sources(package):
        for node in parsed(path):
            if isinstance(node, ast.Import):
                yield from ((path, alias.name) for alias in node.names)
            else:
                assert node.level == 0, f"{path}: relative import"
                yield path, node.module or ""


def test_every_module_of_the_package_is_looked_at() -> None:
    """Compares with the modules that ``pkgutil`` finds, which follows links."""
    walked = {module.name for module in pkgutil.walk_packages(ns3_env.__path__, "ns3_env.", onerror=None)}
    names = {module_of(path) for path in sources("ns3_env")}
    assert {name for name in walked if not name.startswith("ns3_env._n")} == names - {"ns3_env"}


def test_imports_point_from_eval_over_agents_to_the_environment() -> None:
    names = [(path, name) for path, name in imports("ns3_env") if path != FRONT_DOOR]
    for path, name in names:
        room = module_of(path).split(".")[1] if path.parent != ROOT / "ns3_env" else ""
        above = ABOVE[: ABOVE.index(room)] if room in ABOVE else ABOVE
        assert not name.startswith(tuple(f"ns3_env.{upper}" for upper in above)), f"{path}: {name}"


def module_of(path: Path) -> str:
    """Name under which a file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = ("ns3_env", *parts) if parts[0] in ABOVE else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_files() -> dict[str, set[str]]:
    """The modules of the package that each imports, also within functions and only for types; its own first
    lines are read by all."""
    files = {module_of(path): path for path, _ in imports("ns3_env")}
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        for node in parsed(path):
            if isinstance(node, ast.ImportFrom):
                targets = [f"{node.module}.{alias.name}" for alias in node.names]
                modules = {x if x in files else str(node.module) for x in targets}
            else:
                modules = {alias.name for alias in node.names}
            graph.setdefault(name, set()).update(modules & files.keys() - {name, "ns3_env"})
    return graph


def room_of(module: str) -> str:
    """``ns3_env.envs`` of ``ns3_env.envs.slots``, ``ns3_env.eval.report`` of ``ns3_env.eval.report.page``."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[1] in ABOVE else 2])


def test_no_file_and_no_room_imports_itself_by_way_of_others() -> None:
    files = imported_files()
    assert list(TopologicalSorter(files).static_order())
    rooms: dict[str, set[str]] = {}
    for name, imports_of in files.items():
        if "." in name:
            neighbours = rooms.setdefault(room_of(name), set())
            neighbours.update(room_of(other) for other in imports_of if room_of(other) != room_of(name))
    assert list(TopologicalSorter(rooms).static_order())


def test_tests_share_modules_that_are_no_tests() -> None:
    assert [f"{path}: {name}" for path, name in imports("tests") if ".test_" in f".{name}"] == []


#: Maximum number of Python modules in one folder.
MOST_MODULES = 14


def test_nothing_lies_loose_in_the_package() -> None:
    assert {path.name for path in (ROOT / "ns3_env").glob("*.py")} == {"__init__.py", "errors.py", "ids.py"}


CPP = ROOT / "ns3_env" / "cpp"
#: Rooms that know a transport; those of the programs' modules may know one as well.
TRANSPORTS = ("rdma", "tcp")


def test_no_room_has_more_than_fourteen_modules() -> None:
    """Readers scan a room's list of names for a module; ``__init__.py`` does not count, and a header
    and its source file are one."""
    python = {path for path in sources("ns3_env") if path.name != "__init__.py"}
    units = {file.with_suffix("") for file in CPP.rglob("*.[ch]*")}
    rooms = Counter(path.parent for path in python | units)
    assert {str(room): count for room, count in rooms.items() if count > MOST_MODULES} == {}


def included(path: Path) -> list[str]:
    """Rooms of ns3_env/cpp that a file includes."""
    rooms = re.findall(r'^#include "ns3_env/cpp/([^/"]+)/', path.read_text(encoding="utf-8"), re.MULTILINE)
    return [str(room) for room in rooms]


SOURCES = [path for path in sorted(CPP.rglob("*.cc")) if path.with_suffix(".h").exists()]


def test_a_source_includes_its_own_header_first() -> None:
    """Ensures that each header compiles by itself."""
    for source in SOURCES:
        first = re.search(r'#include ["<](.+)[">]', source.read_text())
        assert first is not None, source
        assert first[1] == source.with_suffix(".h").name, source


def test_what_transports_share_knows_neither_and_neither_the_other() -> None:
    for path in sorted([*CPP.rglob("*.h"), *CPP.rglob("*.cc")]):
        room = path.relative_to(CPP).parts[0]
        if room not in ("test", "python"):
            others = set(TRANSPORTS) - {room}
            assert not others.intersection(included(path)), path


def test_a_link_knows_no_switch_and_a_switch_no_host() -> None:
    order = ("link", "switch", "host")
    for above, room in enumerate(order, start=1):
        for path in (CPP / "rdma" / room).iterdir():
            text = path.read_text(encoding="utf-8")
            assert [other for other in order[above:] if f'"ns3_env/cpp/rdma/{other}/' in text] == [], path


def test_agents_and_eval_are_parts_of_the_package_and_no_packages_of_their_own() -> None:
    """At the top level they would collide with other projects' modules of these names."""
    for package in ("ns3_env", "tests", "examples"):
        assert [name for _, name in imports(package) if name.split(".")[0] in ABOVE] == []


@pytest.mark.parametrize("room", ABOVE)
def test_an_import_by_the_name_of_a_folder_says_the_right_name(room: str) -> None:
    with pytest.raises(ImportError, match=rf"import ns3_env\.{room}"):
        importlib.import_module(room)


def test_training_and_search_import_no_agent() -> None:
    packages = tuple(set(AGENTS.values()))
    for room in ("configuration", "curriculum", "training", "search"):
        lines = [f"{path}: {name}" for path, name in imports(f"agents/{room}")]
        assert [line for line in lines if line.partition(": ")[2].startswith(packages)] == []


def test_no_agent_is_told_from_others_by_its_name() -> None:
    compared = re.compile(rf"""[!=]=\s*["']({"|".join(AGENTS)}|mpcc)["']""")
    for path in (*sources("agents"), ROOT / "train.py"):
        assert not compared.search(path.read_text(encoding="utf-8")), path
