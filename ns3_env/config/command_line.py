# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines with options and ``key=value`` in any order, and how a command is typed here."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
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


#: What stands for a trained policy in every command (``ns3_env.policies.released.policy_path``).
POLICY_HELP = "a run's folder, a checkpoint's, a policy's file or its folder, or a released policy's name"

#: How each command is typed in a clone; where the package is installed it is ``ns3-env`` and the key.
_IN_A_CLONE = {"train": "python train.py", "eval": "python -m eval", "export": "python export.py"}


def typed(command: str) -> str:
    """How the user types one of the commands "train", "eval" and "export", by how this one was typed."""
    return f"ns3-env {command}" if Path(sys.argv[0]).name == "ns3-env" else _IN_A_CLONE[command]
