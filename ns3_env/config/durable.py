# SPDX-License-Identifier: GPL-2.0-or-later
"""Atomic, crash-safe file and folder writes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

#: Files that are flushed at the same time.
_AT_ONCE = 8


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """What cannot be written in the block is an error with this name, where it has none (a full disk)."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a file of a folder that is put in place when it is whole. Raises OSError, naming the file."""
    with naming(path):
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Writes a file that is either the old or the new one, whenever the process ends or the power fails.

    What lies where the unfinished file will be, from an earlier process, goes; no link is followed.
    """
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        with naming(path), partial.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        flush(partial)
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise
    os.replace(partial, path)
    flush(path.parent)


def put_in_place(partial: Path, folder: Path) -> None:
    """Gives a folder that is complete its name, in place of what has it; its files are on the disk before."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:  # the disk takes them together: a third of the time
        list(pool.map(flush, (*partial.rglob("*"), partial)))
    if folder.exists():
        shutil.rmtree(folder)
    os.replace(partial, folder)
    flush(folder.parent)


def flush(path: Path) -> None:
    """Returns when the file's content, or the folder's names, are on the disk. Raises OSError."""
    opened = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(opened)
    finally:
        os.close(opened)
