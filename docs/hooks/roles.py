# SPDX-License-Identifier: GPL-2.0-or-later
"""Docstring extension: roles become links, and "a, b: text" becomes two parameters."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`~?([\w.]+)(?:\(\))?`")
_TOGETHER = re.compile(r"^    (?P<names>\w+(?:, \w+)+): (?P<text>.*(?:\n {8}.*)*)$", re.MULTILINE)


class Roles(griffe.Extension):
    """Rewrites every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """A role's name is looked for where the docstring stands; one that leads nowhere is code."""
        if obj.docstring is None:
            return

        def reference(found: re.Match[str]) -> str:
            name = found[1]
            try:
                target = obj.resolve(name) if "." not in name else name
            except griffe.NameResolutionError:
                target = name
            return f'<autoref identifier="{target}" optional><code>{name}</code></autoref>'

        obj.docstring.value = _TOGETHER.sub(_apart, _ROLE.sub(reference, obj.docstring.value))


def _apart(found: re.Match[str]) -> str:
    return "\n".join(f"    {name}: {found['text']}" for name in found["names"].split(", "))
