# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that tests write for commands and read of them."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

#: The fixture ``refused``: the command's one-line error about arguments that it refuses.
Refused = Callable[..., str]


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def dumped(path: Path, content: Any) -> Path:
    """Contents as YAML."""
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path
