# SPDX-License-Identifier: GPL-2.0-or-later
"""How is a folder of results put in place? Whole or not at all, and never over what somebody else wrote."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from ns3_env.durable import put_in_place
from ns3_env.errors import ScenarioError


def replace_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Puts what ``write`` writes into a folder in the place of ``folder``, which is complete or not there."""
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        write(partial)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    put_in_place(partial, folder)


def refuse_foreign(folder: Path, own: Collection[str], what: str) -> None:
    """Only a folder that holds nothing but files of these names is replaced.

    Raises:
        ScenarioError: it is a file, or holds others: it is no earlier ``what``.
    """
    if folder.exists() and not folder.is_dir():
        raise ScenarioError(f"--out: {folder} is a file: name a folder")
    others = sorted(path.name for path in folder.iterdir() if path.name not in own) if folder.is_dir() else []
    if others:
        raise ScenarioError(f"--out: {folder} holds {others[0]}, so it is no earlier {what}: name another")
