# SPDX-License-Identifier: GPL-2.0-or-later
"""Files sent to a node: in Ray's own folder there, kept by their content or for one job."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ns3_env.config.files import write_files
from ns3_env.scenario.named_files import Files


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
        write_files(partial, files)
        try:
            os.rename(partial, folder)
        except OSError:  # another worker was faster
            shutil.rmtree(partial, ignore_errors=True)
    return folder


@contextmanager
def unpacked(files: Files) -> Iterator[dict[str, str]]:
    """Paths that these files and folders have on this node within the block, by those that they had."""
    with tempfile.TemporaryDirectory(dir=scratch()) as name:
        paths = {}
        for number, (path, content) in enumerate(files.items()):
            here = Path(name, str(number), Path(path).name)
            if isinstance(content, bytes):
                write_files(here.parent, {here.name: content})
            else:
                write_files(here, content)
            paths[path] = str(here)
        yield paths
