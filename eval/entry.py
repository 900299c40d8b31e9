# SPDX-License-Identifier: GPL-2.0-or-later
"""What can one type, in any folder? ``ns3-env train``, ``ns3-env eval``, ``ns3-env export``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

USAGE = """usage: ns3-env train ...   trains the configured policy (python train.py)
       ns3-env eval ...    measures policies, controllers and the simulator (python -m eval)
       ns3-env export ...  writes a trained policy into one file (python export.py)
Each says with --help what it takes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code, 2 where there is no such command."""
    what, *rest = [*(sys.argv[1:] if arguments is None else arguments), ""]
    if what == "train":
        from ns3_env.eval import train

        return train.main(rest[:-1])
    if what == "eval":
        from ns3_env.eval import __main__ as commands

        return commands.main(rest[:-1])
    if what == "export":
        from ns3_env.eval import export

        return export.main(rest[:-1])
    if what in ("-h", "--help"):
        print(USAGE)
        return 0
    print(USAGE if not what else f"ns3-env: there is no command {what!r}\n{USAGE}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
