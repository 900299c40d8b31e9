# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain files: checked and read, written crash-safe, named in scenarios, their faults by line."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, TextIO

from pydantic import AfterValidator, Field, ValidationInfo

#: Largest file that is read whole; a flow list of a million entries needs a quarter of it.
MAX_FILE_BYTES = 256 << 20
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.+-]+")
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
_FAULTS_SHOWN = 10


def check_plain(path: str | Path, most_bytes: int = MAX_FILE_BYTES) -> None:
    """Raises OSError, with ``strerror``, unless it is a plain file of at most ``most_bytes``."""
    try:
        status = os.stat(path)
    except ValueError as error:  # a zero byte in the name
        raise OSError(0, f"no file's name: {error}") from None
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, f"is {_KINDS.get(stat.S_IFMT(status.st_mode), 'something else')}, not a file")
    if status.st_size > most_bytes:
        raise OSError(0, f"has {status.st_size} B; none is read that has more than {most_bytes} B")


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
    """The text as a file's name: unsuitable characters become "_"."""
    return _NOT_IN_NAMES.sub("_", text)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Gives the block's errors of writing, such as a full disk, this name if they have none."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a file of a folder that is put in place when it is whole. Raises OSError, naming the file."""
    with naming(path):
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Writes files below such a folder, by their names ("/" parts folders). Raises as ``write_file``."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(folder / name, content)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Writes a file that is either the old or the new one, whenever the process ends or the power fails.

    An unfinished file of an earlier process at its path is removed; no link is followed.
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


def put_in_place(folders: Mapping[Path, Path]) -> None:
    """Renames complete folders (keys), replacing the present ones; files are on the disk before."""
    for partial in folders:
        for path in (*partial.rglob("*"), partial):
            flush(path)
    for partial, folder in folders.items():
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(partial, folder)
    for parent in dict.fromkeys(folder.parent for folder in folders.values()):
        flush(parent)


def flush(path: Path) -> None:
    """Returns when the file's content, or the folder's names, are on the disk. Raises OSError."""
    opened = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(opened)
    finally:
        os.close(opened)


def beside_the_scenario(file: str, info: ValidationInfo) -> str:
    """The absolute path of a file that a scenario names, relative to the folder in the context."""
    folder = (info.context or {}).get("folder", "")
    return os.path.abspath(os.path.join(folder, file))


#: A relative one lies next to the scenario's own file; for a scenario without, in the working directory.
NamedFile = Annotated[str, Field(min_length=1), AfterValidator(beside_the_scenario)]


class LineFaults:
    """Faults of a file, each with its line."""

    def __init__(self, file: str = "") -> None:
        self.file = file
        self._found: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._found)

    def add(self, line: int, text: str) -> None:
        """Adds a fault of a line; line 0 is the file itself."""
        self._found.append((line, text))

    def read(self, what: str, take: Callable[[TextIO], object], most_bytes: int = MAX_FILE_BYTES) -> None:
        """Hands the plain file's text, a ``what``, to ``take``; an unreadable file is also a fault."""
        try:
            check_plain(self.file, most_bytes)
            with open(self.file, newline="", encoding="utf-8-sig") as text:
                take(text)
        except OSError as error:
            self.add(0, error.strerror or str(error))
        except UnicodeDecodeError:
            self.add(0, f"not a {what}: it is not UTF-8 text")

    def texts(self, more: Iterable[tuple[int, str]] = ()) -> list[str]:
        """The first ones, and ``more``, by line, each as "file: PATH:LINE: text"; the rest are counted."""
        faults = sorted([*self._found, *more], key=lambda fault: fault[0])
        place = f"file: {self.file}"
        lines = [
            f"{place}:{line}: {text}" if line else f"{place}: {text}" for line, text in faults[:_FAULTS_SHOWN]
        ]
        if len(faults) > _FAULTS_SHOWN:
            lines.append(f"{place}: {len(faults) - _FAULTS_SHOWN} more faults like these")
        return lines
