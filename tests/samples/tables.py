# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of refusals: an input, ``->``, and the sentence on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ns3_env.config.yaml import parse, put


def pairs(text: str) -> list[tuple[str, str]]:
    """The rows of a table; an input may have several lines, its sentence has one."""
    return [(row[0].strip(), row[1].strip()) for row in re.findall(r"(.+?)\s+-> ([^\n]+)", text, re.DOTALL)]


def fits(sentence: str, line: str, source: str = "s.yaml") -> bool:
    """Whether the line begins with this sentence on the source; " ... " stands for any words."""
    words = ".*".join(re.escape(part.strip()) for part in f" {sentence}".split(" ... "))
    return re.match(f"{re.escape(source)}: {words}", line) is not None


def changed(base: Mapping[str, Any], yaml_text: str) -> dict[str, Any]:
    """A mapping with the YAML's keys, each of which may be the dotted path of a place in it."""
    content = dict(base)
    for key, value in parse(yaml_text).items():
        content = put(content, str(key), value)
    return content
