# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry of the script ``ns3``: checks the command line before anything heavy is loaded.

``python start.py HELD run TARGET -- --key=value ...``; HELD: the folder's own settings, as JSON.

ns3-ai's Python checks once, half a second after its start, whether the simulation has died, and waits for
ever for one that dies later. The first lines of our packages load Gymnasium, for its ids, which may need as
long. So modules are taken out of them before these lines have run; they run as soon as target, settings and
the vectors' length are known to be right.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from types import ModuleType

_PACKAGES = ("ns3_env", "ns3_env.ns3ai")


def _unread(names: tuple[str, ...]) -> Iterator[ModuleType]:
    """Packages whose modules can be imported although their own first lines have not run."""
    for name in names:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        package = sys.modules[name] = importlib.util.module_from_spec(spec)
        parent, _, module_name = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], module_name, package)
        yield package


def _main() -> int:
    if sys.path[0] == os.path.dirname(os.path.realpath(__file__)):
        sys.path[0] = os.getcwd()  # as for `python -m`; our modules have no top-level names in this folder
    packages = list(_unread(_PACKAGES))

    def read_them() -> None:
        for package in packages:
            assert package.__spec__ is not None
            assert package.__spec__.loader is not None
            package.__spec__.loader.exec_module(package)

    from ns3_env.ns3ai.__main__ import main

    return main(sys.argv[2:], defaults=json.loads(sys.argv[1]), checked=read_them)


if __name__ == "__main__":
    sys.exit(_main())
