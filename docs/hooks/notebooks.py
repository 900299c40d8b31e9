# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a page of each notebook in docs/notebooks, with the outputs that it holds; nothing is run."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

FOLDER = Path(__file__).parents[1] / "notebooks"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """notebooks/NAME.md, and the pictures beside it."""
    for notebook in sorted(FOLDER.glob("*.ipynb")):
        pictures: list[bytes] = []
        parts = list(_parts(json.loads(notebook.read_text(encoding="utf-8")), notebook.stem, pictures))
        files.append(File.generated(config, f"notebooks/{notebook.stem}.md", content="\n\n".join(parts)))
        for number, picture in enumerate(pictures):
            files.append(
                File.generated(config, f"notebooks/{_picture(notebook.stem, number)}", content=picture)
            )
    return files


def _picture(stem: str, number: int) -> str:
    return f"{stem}-{number}.png"


def _parts(notebook: dict[str, Any], stem: str, pictures: list[bytes]) -> Iterator[str]:
    """The cells as Markdown, in their order; adds the pictures among their outputs to ``pictures``."""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
            continue
        magic, _, rest = source.partition("\n")
        yield f"~~~~bash\n{rest}\n~~~~" if magic == "%%bash" else f"~~~~python\n{source}\n~~~~"
        if text := "".join("".join(output.get("text", [])) for output in cell["outputs"]).rstrip():
            yield f"<pre>{escape(text)}</pre>"
        for output in cell["outputs"]:
            yield "".join(output.get("data", {}).get("text/markdown", []))
            if "image/png" in output.get("data", {}):
                yield f'<img src="{_picture(stem, len(pictures))}" alt="Output of the cell above">'
                pictures.append(base64.b64decode(output["data"]["image/png"]))
