# SPDX-License-Identifier: GPL-2.0-or-later
"""Refuses to overwrite a JSON file that no command here wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ns3_env.errors import ScenarioError

#: Keys of which each command's JSON has one, three levels down at most.
_MARKS = {"fct_slowdown_avg", "ref_avg", "packet_hops_per_s", "experiment"}
_MAX_BYTES = 64 << 20


def check_json(path: Path | None) -> None:
    """Before anything runs: None, a new file, an empty one, or one that an earlier command wrote.

    Raises:
        ScenarioError: it is anything else, or its folder is not there.
    """
    if path is None:
        return
    if not path.absolute().parent.is_dir():
        raise ScenarioError(f"--json: there is no folder {path.absolute().parent}")
    if path.is_symlink():
        raise ScenarioError(f"--json: {path} is a symbolic link: name the file itself")
    if not path.exists():
        return
    if not path.is_file():
        raise ScenarioError(f"--json: {path} is no file: name another")
    if path.stat().st_size > 0 and not _is_ours(path):
        raise ScenarioError(
            f"--json: {path} is there, and no command here has written it: name another, or remove it"
        )


def _is_ours(path: Path) -> bool:
    if path.stat().st_size > _MAX_BYTES:
        return False
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return False
    return text == json.dumps(content, indent=2) + "\n" and bool(_MARKS & _keys(content, 3))


def _keys(content: Any, levels: int) -> set[str]:
    if not isinstance(content, dict) or levels == 0:
        return set()
    return set(content).union(*(_keys(value, levels - 1) for value in content.values()))
