# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps files sent to a node in Ray's own folder there, by their content."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path


def scratch() -> Path:
    """A folder on this node that goes when Ray's does. To be called by what runs on a node."""
    from ray._private.worker import global_worker

    assert global_worker.node is not None
    folder = Path(global_worker.node.get_session_dir_path()) / "ns3-env"
    folder.mkdir(exist_ok=True)
    return folder


def keep(files: Mapping[str, bytes]) -> Path:
    """A folder of this node in which these files lie, by their names ("/" parts folders); whole or not there.

    Files that were sent before are not written again, whichever worker kept them.
    """
    content = hashlib.sha256()
    for name, data in sorted(files.items()):
        content.update(f"{len(name)} {len(data)} {name}".encode() + data)
    folder = scratch() / content.hexdigest()[:32]
    if not folder.exists():
        partial = Path(tempfile.mkdtemp(dir=scratch(), prefix=".partial-"))
        for name, data in files.items():
            path = partial / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        try:
            os.rename(partial, folder)
        except OSError:  # another worker was faster
            shutil.rmtree(partial, ignore_errors=True)
    return folder
