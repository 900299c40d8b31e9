# SPDX-License-Identifier: GPL-2.0-or-later
"""How do measured tables get onto a page? Between two marks, from the experiments' JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

from eval.paper.show import markdown
from ns3_env.errors import ScenarioError

#: An experiment's numbers; it marks a folder as one's.
RESULT = "result.json"
_BLOCK = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def refresh(page: Path, runs: Path, pictures: Path) -> list[str]:
    """Puts tables and pictures of the experiments in ``runs`` between the page's marks.

    A block is ``<!-- begin NAME -->`` ... ``<!-- end NAME -->``; one whose experiment was not run stays.

    Args:
        page: Markdown.
        runs: holds a folder NAME for each experiment.
        pictures: gets their PNGs.

    Returns:
        Names of the experiments whose block was written.

    Raises:
        ScenarioError: the page has no blocks, or an experiment's JSON cannot be read.
    """
    text = page.read_text(encoding="utf-8")
    if not _BLOCK.search(text):
        raise ScenarioError(f"--page: {page} has no <!-- begin NAME --> ... <!-- end NAME -->")
    done: list[str] = []

    def block(found: re.Match[str]) -> str:
        folder = runs / found[2]
        if not (folder / RESULT).exists():
            return found[0]
        try:
            result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ScenarioError(f"{folder / RESULT}: no experiment's JSON: {error}") from None
        pictures.mkdir(parents=True, exist_ok=True)
        for name in result["pictures"]:
            shutil.copyfile(folder / name, pictures / name)
        done.append(found[2])
        return found[1] + markdown(result, os.path.relpath(pictures, page.parent) + "/") + found[3]

    page.write_text(_BLOCK.sub(block, text), encoding="utf-8")
    return done
