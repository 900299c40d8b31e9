# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds configurations, curricula, scenarios and checkpoints that come with the project.

In a clone the folders are links to those at its root; a wheel has the files themselves.
"""

from __future__ import annotations

from pathlib import Path

from ns3_env.config.model import nearest
from ns3_env.errors import ConfigError

#: ``configs/``, ``curricula/``, ``checkpoints/``; what commands compare with: ``reference/``, ``curves/``.
DATA = Path(__file__).parent.parent / "data"


def data_names(folder: str) -> list[str]:
    """Names of the YAML files in a folder of ``DATA``, e.g. "configs/scenarios"."""
    return sorted(path.stem for path in (DATA / folder).glob("*.yaml"))


def find_file(given: Path, folder: str) -> Path:
    """The file that a command line means.

    Args:
        given: a path, a path as it is in a clone (``curricula/incast.yaml``), or a bare name (``incast``).
        folder: where names are looked up, e.g. "curricula".

    Returns:
        ``given`` where it is there, or can be none of ours; otherwise the project's own of that name.

    Raises:
        ConfigError: a bare name that none of them has; says which there are.
    """
    if given.is_absolute() or "\0" in str(given) or given.exists():
        return given
    if given.parts and given.parts[0] in ("configs", "curricula"):
        own = DATA / given
        return own if own.is_file() else given
    if len(given.parts) != 1 or given.suffix:
        return given
    own = DATA / folder / f"{given}.yaml"
    if own.is_file():
        return own
    known = data_names(folder)
    raise ConfigError(
        f"{given}: no such file, nor the name of one that comes with the project ({', '.join(known)})"
        f"{nearest(given.stem, known)}"
    )
