# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes figures as files for publication: PDF, SVG or PNG, fonts inside, a paper's size."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from ns3_env.config.files import file_name, write_atomically, write_file
from ns3_env.config.folders import refuse_link
from ns3_env.config.model import nearest, shown
from ns3_env.errors import ConfigError
from ns3_env.eval.output.plots import lay_out, picture, relabel, settings

#: Formats of figures; letters of an SVG are shapes, those of a PDF embedded TrueType.
FORMATS = ("pdf", "svg", "png")
#: Folder of a run's figures.
FOLDER = "figures"
_PNG_DPI = 300


def parse_formats(text: str) -> list[str]:
    """ "pdf,svg" as a list. Raises ConfigError for an unknown format."""
    formats = [part.strip().lower() for part in text.split(",") if part.strip()]
    for name in formats:
        if name not in FORMATS:
            names = ", ".join(FORMATS)
            raise ConfigError(f"--format: {shown(name)} is none of {names}{nearest(name, FORMATS)}")
    return list(dict.fromkeys(formats))


def write_picture(figure: Figure, file: Path) -> Path:
    """Writes a figure as .svg, or as .png under any other name, and returns the file's path."""
    write_file(file, picture(figure, "svg" if file.suffix == ".svg" else "png"))
    return file


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str]) -> list[Path]:
    """Writes FOLDER/NAME.FORMAT for each format, the same bytes for the same figure.

    Args:
        figure: figure made within ``ns3_env.eval.output.plots.for_paper``; this call must be within it as
            well.
        folder: folder, created if missing.
        name: name of the files; characters that a file's name should not have become "_".
        formats: formats, a selection of ``FORMATS``.

    Returns:
        The files.

    Raises:
        ScenarioError: a file is a symbolic link.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    relabel(figure)
    with matplotlib.rc_context(settings()):
        lay_out(figure)
    for kind in formats:
        target = folder / f"{file_name(name)}.{kind}"
        refuse_link(target)
        content = io.BytesIO()
        undated = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}[kind]
        with matplotlib.rc_context(settings()):
            figure.savefig(content, format=kind, dpi=_PNG_DPI, metadata=undated)
        write_atomically(target, content.getvalue())
        written.append(target)
    return written
