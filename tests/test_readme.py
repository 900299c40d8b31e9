# SPDX-License-Identifier: GPL-2.0-or-later
"""Does the README tell the truth? Its Python examples run as they stand, its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda code: str(code).split()[1])
def test_readme_example_runs(example: str) -> None:
    exec(compile(example, "README.md", "exec"), {})


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_readme_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()
