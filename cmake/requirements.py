# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints requirements of a development set-up, from pyproject.toml, one per line: KIND [PACKAGE ...].

KIND ``build``: those of the C++ side's build; ``run``: dependencies and extras together, less the packages
named as arguments (`make setup` installs those by itself).
"""

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
kind, *left_out = sys.argv[1:]
extras = project["project"]["optional-dependencies"].values()
requirements = {
    "build": project["build-system"]["requires"],
    "run": [*project["project"]["dependencies"], *(line for extra in extras for line in extra)],
}[kind]
for requirement in dict.fromkeys(requirements):
    if requirement.startswith(f"{project['project']['name']}["):
        continue  # extras of its own, which are here anyway
    if re.split(r"[^A-Za-z0-9_.-]", requirement, maxsplit=1)[0] not in left_out:
        print(requirement)
