# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts folders of results in place whole or not at all, never over foreign files."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ns3_env.config.files import find_link, put_in_place
from ns3_env.config.gone import refuse
from ns3_env.config.model import LIKE, nearest
from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ConfigError, ScenarioError


def refuse_link(file: Path) -> None:
    """Refuses to write through a link. Raises ScenarioError if the file is a symbolic link."""
    if file.is_symlink():
        raise ScenarioError(f"{file} is a symbolic link, which nothing is written through: remove it")


def replace_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Replaces ``folder`` by one that ``write`` fills, which is complete or does not exist."""
    replace_folders({folder: write})


def replace_folders(writes: Mapping[Path, Callable[[Path], None]]) -> None:
    """The same for several, which are flushed to disk together: much faster than one after the other.

    Raises the error of the first one that cannot be written; those before it are then in place.
    """
    complete: dict[Path, Path] = {}
    try:
        for folder, write in writes.items():
            complete[_written(folder, write)] = folder
    finally:
        put_in_place(complete)


def _written(folder: Path, write: Callable[[Path], None]) -> Path:
    """The complete folder, next to its final place; nothing is left if it cannot be written."""
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        write(partial)
    except BaseException as error:
        shutil.rmtree(partial, ignore_errors=True)
        if isinstance(error, OSError) and str(partial) in str(error.filename):
            error.filename = str(error.filename).replace(str(partial), str(folder))
        raise
    return partial


#: File in a folder that is locked while a command works there.
LOCK = ".lock"


@contextmanager
def alone_in(folder: Path, what: str, raises: type[ValueError] = ConfigError) -> Iterator[None]:
    """Keeps a folder's lock. Raises ConfigError, or ``raises``, if another ``what`` runs in the folder."""
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise raises(f"{folder}: another {what} is running in it: wait for its end") from None
        yield


def refuse_foreign(folder: Path, names: Collection[str], what: str) -> None:
    """Refuses to replace a folder that contains anything but files of these names.

    Raises:
        ScenarioError: it is a file or a link, contains other files or links, or no config.yaml with a
            scenario: it is not an earlier ``what``.
    """
    refuse_links(folder)
    if folder.exists() and not folder.is_dir():
        raise ScenarioError(f"--out: {folder} is a file: name a folder")
    others = (
        sorted(path.name for path in folder.iterdir() if path.name not in names) if folder.is_dir() else []
    )
    if others:
        raise ScenarioError(f"--out: {folder} holds {others[0]}, so it is no earlier {what}: name another")
    if folder.is_dir() and any(folder.iterdir()) and not _has_scenario(folder / "config.yaml"):
        raise ScenarioError(
            f"--out: {folder} has no config.yaml with a scenario, so it is no earlier {what}: name another"
        )


def _has_scenario(config: Path) -> bool:
    try:
        return "scenario" in read_mapping(config)
    except ConfigError:
        return False


def refuse_links(folder: Path) -> None:
    """Refuses symbolic links, which could lead results anywhere.

    Raises:
        ScenarioError: the folder, or something in it at any depth, is a symbolic link.
    """
    link = folder if folder.is_symlink() else find_link(folder)
    if link is not None:
        raise ScenarioError(f"--out: {link} is a symbolic link: name another folder, or remove it")


#: ``configs/``, ``curricula/``, ``checkpoints/``; data for comparisons: ``reference/``, ``curves/``.
DATA = Path(__file__).parent.parent / "data"


def data_names(folder: str) -> list[str]:
    """Names of the YAML files in a folder of ``DATA``, e.g. "configs/scenarios"."""
    return sorted(path.stem for path in (DATA / folder).glob("*.yaml"))


def find_file(path: Path, *folders: str) -> Path:
    """The file that a command line means.

    Args:
        path: a path, a path as it is in a clone (``curricula/incast.yaml``), or a bare name (``incast``).
        folders: folders in which names are looked up, e.g. "curricula".

    Returns:
        ``path`` if it exists, or cannot be a bundled one; otherwise the bundled one of that name.

    Raises:
        ConfigError: an unknown bare name (the message lists the known ones), or a removed configuration.
    """
    if path.is_absolute() or "\0" in str(path) or path.exists():
        return path
    if path.parent in (Path(), Path("configs")):
        refuse("configuration", path.stem)
    if path.parts and path.parts[0] in ("configs", "curricula"):
        file = DATA / path
        return file if file.is_file() else path
    if len(path.parts) != 1 or path.suffix:
        return path
    for folder in folders:
        if (file := DATA / folder / f"{path}.yaml").is_file():
            return file
    names = [data_names(folder) for folder in folders]
    listed = "; ".join(
        f"{Path(folder).name}: {', '.join(x)}" for folder, x in zip(folders, names, strict=True)
    )
    raise ConfigError(
        f"{path}: no such file, nor the name of one that comes with the project ({listed})"
        f"{nearest(path.stem, [name for x in names for name in x], LIKE)}"
    )
