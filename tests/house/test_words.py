# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of the code: docstrings start as sentences, names are nouns."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Of these a docstring is read twice: "What it reads from records".
FRAGMENT = re.compile(r"(what|of|as|where|by|those|whose?|which|when|how|whether|that)\b", re.IGNORECASE)
#: Names that describe a value's history, not its meaning.
PARTICIPLE = re.compile(
    r"_*(found|known|made|told|given|taken|seen|kept|said|own|theirs|ours|held|came|went|wanted|asked|meant|"
    r"shown|got|drawn|played|began|begun|arrived|acted|named)_*"
)
#: Keys and columns of files that users have, and a fixture.
EXEMPT = {
    ("eval/papers/outcome.py", "ours"),
    ("ns3_env/scenario/paths/failures.py", "drawn"),
    ("ns3_env/scenario/paths/link_rates.py", "drawn"),
}


def modules(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    """Path and syntax tree of each tracked Python file below these folders, but for links."""
    listed = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        if name.endswith(".py") and not (ROOT / name).is_symlink():
            yield name, ast.parse((ROOT / name).read_text("utf-8"))


def test_docstrings_begin_with_a_verb_or_a_noun_phrase() -> None:
    wrong = [
        f"{path}: {text.splitlines()[0]}"
        for path, tree in modules("ns3_env", "agents", "eval")
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if (text := ast.get_docstring(node)) and FRAGMENT.match(text)
    ]
    assert wrong == []


def test_names_say_what_a_value_is() -> None:
    wrong = []
    for path, tree in modules("ns3_env", "agents", "eval", "tests"):
        for node in ast.walk(tree):
            stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            name = node.id if stored else node.arg if isinstance(node, ast.arg) else ""  # type: ignore[union-attr]
            if PARTICIPLE.fullmatch(name) and (path, name) not in EXEMPT:
                wrong.append(f"{path}:{getattr(node, 'lineno', 0)}: {name}")
    assert wrong == []


def test_a_files_first_line_is_a_short_statement() -> None:
    """The line has at most 100 characters, and no question mark."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    wrong = []
    for path in (ROOT / name for name in listed.stdout.splitlines()):
        if path.suffix in (".py", ".h", ".cc") and not path.is_symlink():
            head = "\n".join(path.read_text("utf-8").splitlines()[:3])
            line = next(iter(re.findall(r'^(?:// |""")(?!SPDX)(.*?)(?:""")?$', head, re.MULTILINE)), "")
            if "?" in line or len(line) > 100:
                wrong.append(f"{path}: {line}")
    assert wrong == []
