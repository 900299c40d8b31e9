# SPDX-License-Identifier: GPL-2.0-or-later
"""How are options and ``key=value`` given together? In any order."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


class AnyOrder(argparse.ArgumentParser):
    """An ArgumentParser whose positional arguments may stand between options; a subcommand's parser, too."""

    _within = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """See argparse."""
        if self._within:  # argparse's own intermixed parsing calls this
            return super().parse_known_args(args, namespace)
        self._within = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._within = False
