# SPDX-License-Identifier: GPL-2.0-or-later
"""How is a YAML file read? One reader, whose errors name the file and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ns3_env.errors import ConfigError

# LibYAML reads large files (flow lists, results) ten times faster; PyYAML has it where it was built with it.
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(text: str) -> Any:
    """The value that YAML text stands for. Raises yaml.YAMLError."""
    return yaml.load(text, _Loader)


def read_mapping(path: str | Path, raises: type[ValueError] = ConfigError) -> dict[str, Any]:
    """The keys and values in a YAML file.

    Args:
        path: the file.
        raises: class of the error.

    Raises:
        ConfigError, or ``raises``: there is no such file, it is not YAML, or holds something else than keys.
    """
    try:
        data = parse(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise raises(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise raises(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise raises(f"{path}: expected keys and values, found {type(data).__name__}")
    return data
