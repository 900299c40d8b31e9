# SPDX-License-Identifier: GPL-2.0-or-later
"""Which folder does ns3-ai's Python take for an ns-3 tree? One with an ``ns3`` that runs our simulations."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import tempfile
from pathlib import Path

#: The interpreter of the process that asks, whatever PATH says where the script is run.
_SCRIPT = """\
#!/bin/sh
# Runs a simulation of ns3-env as an ns-3 tree does: ns3 run TARGET [-- --key=value ...]
exec {python} -m ns3_env.ns3ai "$@"
"""


def path() -> Path:
    """The folder to give to ns3-ai's Python, or to :class:`Ns3AiEnv`, as that of ns-3.

    It lies in the user's cache (``XDG_CACHE_HOME``), or in a temporary folder where that cannot be written,
    and stays; each Python installation has one. What ``ns3 run`` runs there: :data:`ns3_env.ns3ai.TARGETS`.
    """
    script = _SCRIPT.format(python=shlex.quote(sys.executable))
    name = hashlib.sha256(script.encode()).hexdigest()[:12]
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    try:
        return _written(Path(base, "ns3-env", "ns3ai", name), script)
    except OSError:
        return _written(Path(tempfile.mkdtemp(prefix="ns3-env-")), script)


def _written(folder: Path, script: str) -> Path:
    """The folder, with the script in it; others may be writing the same."""
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
