# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks and reads of plain files of a sane size: no folder, device or pipe; search for links."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

#: Largest file that is read whole; a flow list of a million entries has a quarter of it.
MAX_FILE_BYTES = 256 << 20

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.+-]+")
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def check_plain(path: str | Path) -> None:
    """Raises OSError, with ``strerror``, for what is no plain file, or larger than ``MAX_FILE_BYTES``."""
    try:
        found = os.stat(path)
    except ValueError as error:  # a zero byte in the name
        raise OSError(0, f"no file's name: {error}") from None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(0, f"is {_KINDS.get(stat.S_IFMT(found.st_mode), 'something else')}, not a file")
    if found.st_size > MAX_FILE_BYTES:
        raise OSError(0, f"has {found.st_size} B; none is read that has more than {MAX_FILE_BYTES} B")


def find_link(folder: Path) -> Path | None:
    """A symbolic link in the folder, at any depth; the folder itself may be one."""
    for parent, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            if (path := Path(parent, name)).is_symlink():
                return path
    return None


def read_text(path: str | Path) -> str:
    """The text in a plain file, UTF-8. Raises OSError, with ``strerror``, and UnicodeDecodeError."""
    check_plain(path)
    return Path(path).read_text(encoding="utf-8")


def file_name(text: str) -> str:
    """The text as a file's name: what none should have becomes "_"."""
    return _NOT_IN_NAMES.sub("_", text)
