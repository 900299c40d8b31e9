# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a folder that ns3-ai's Python accepts as an ns-3 tree, with an ``ns3`` that runs ours."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ns3_env.config.model import validate
from ns3_env.ns3ai.targets import Settings, plain

#: The interpreter of the calling process, whatever PATH is when the script is run.
_SCRIPT = """\
#!/bin/sh
# Runs a simulation of ns3-env as an ns-3 tree does: ns3 run TARGET [-- --key=value ...]
# The settings in braces are those of every run, if its command line sets no others.
exec {python} {start} {defaults} "$@"
"""


def path(settings: Mapping[str, Any] | None = None) -> Path:
    """The folder to give to ns3-ai's Python, or to :class:`Ns3AiEnv`, as that of ns-3.

    It lies in the user's cache (``XDG_CACHE_HOME``), or in a temporary folder if that cannot be written,
    and stays; each Python installation has one, and each choice of settings. ``ns3 run`` there runs:
    :data:`ns3_env.ns3ai.TARGETS`.

    Args:
        settings: settings of every run in this folder, e.g. ``{"flows": 8, "seed": 1}``; those of a run's own
            command line override them, key by key. ns3-ai's Python passes its own at its first start only,
            and not at a ``reset()``. A scenario's file is looked up from the caller's working directory.

    Raises ConfigError for an unknown setting.
    """
    defaults = plain(settings or {})
    validate(defaults, Settings, "path()")
    if "scenario" in defaults:
        defaults["scenario"] = os.path.abspath(defaults["scenario"])
    script = _SCRIPT.format(
        python=shlex.quote(sys.executable),
        start=shlex.quote(str(Path(__file__).with_name("start.py"))),
        defaults=shlex.quote(json.dumps(defaults)),
    )
    name = hashlib.sha256(script.encode()).hexdigest()[:12]
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    try:
        return _written(Path(base, "ns3-env", "ns3ai", name), script)
    except OSError:
        return _written(Path(tempfile.mkdtemp(prefix="ns3-env-")), script)


def _written(folder: Path, script: str) -> Path:
    """The folder, with the script in it; other processes may be writing the same."""
    file = folder / "ns3"
    if file.is_file() and os.access(file, os.X_OK) and file.read_text(encoding="utf-8") == script:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(dir=folder)
    with os.fdopen(descriptor, "w", encoding="utf-8") as writing:
        writing.write(script)
    os.chmod(partial, 0o755)
    os.replace(partial, file)
    return folder
