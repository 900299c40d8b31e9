# SPDX-License-Identifier: GPL-2.0-or-later
"""Do imports point one way, and does nothing but the registry know an agent by name?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ns3_env.agents.registry import AGENTS, AgentConfig, find_agent
from ns3_env.agents.training.trainer import Trainer

ROOT = Path(__file__).parents[1]


def imports(package: str) -> Iterator[tuple[Path, str]]:
    """(file, module) of every import below a folder (links are not followed), those within functions too."""
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((path, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: relative import"
                yield path, node.module or ""


@pytest.mark.parametrize(
    ("package", "above"),
    [("ns3_env", ("ns3_env.agents", "ns3_env.eval")), ("agents", ("ns3_env.eval",))],
)
def test_imports_point_from_eval_over_agents_to_the_environment(package: str, above: tuple[str, ...]) -> None:
    found = [f"{path.relative_to(ROOT)}: {name}" for path, name in imports(package) if name.startswith(above)]
    assert found == []


def test_agents_and_eval_are_parts_of_the_package_and_no_packages_of_their_own() -> None:
    """Installed under their own names they would lie where other projects' modules of these names do."""
    for package in ("agents", "eval", "ns3_env", "tests", "examples"):
        own = [name for _, name in imports(package) if name.split(".")[0] in ("agents", "eval")]
        assert own == []


def test_training_and_search_import_no_agent() -> None:
    packages = tuple(set(AGENTS.values()))
    for room in ("agents/training", "agents/search"):
        assert [f"{path}: {name}" for path, name in imports(room) if name.startswith(packages)] == []


def test_no_agent_is_told_from_others_by_its_name() -> None:
    compared = re.compile(rf"""[!=]=\s*["']({"|".join(AGENTS)}|mpcc)["']""")
    for path in (*sorted((ROOT / "agents").rglob("*.py")), ROOT / "train.py"):
        assert not compared.search(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_every_agent_declares_a_configuration_and_a_trainer(name: str) -> None:
    agent = find_agent(name)
    assert agent.config.model_validate({"name": name}).name == name
    assert issubclass(agent.config, AgentConfig)
    assert issubclass(agent.trainer, Trainer)
