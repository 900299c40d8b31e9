# SPDX-License-Identifier: GPL-2.0-or-later
"""Where do the C++ packages from PyPI lie? Prints CMake `set()` lines for CMakeLists.txt.

Asks importlib.metadata, so it works in a virtual environment and in pip's isolated builds alike.
"""

import sys
from importlib import metadata
from pathlib import Path

# variable: (distribution on PyPI, a file of it, levels from that file up to the root we want)
PACKAGES = {
    "NS3_ROOT": ("ns3", "ns3/include/ns3/object.h", 3),
    "QPOASES_ROOT": ("cmeel-qpoases", "cmeel.prefix/include/qpOASES.hpp", 2),
    "NLOHMANN_INCLUDE": ("nlohmann-json", "nlohmann_json/include/nlohmann/json.hpp", 2),
}


def root_of(distribution: str, marker: str, levels: int) -> Path:
    """The folder `levels` above `marker`, a file that `distribution` installed.

    Raises SystemExit, with the command that mends it, where the package or the file is missing.
    """
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        raise SystemExit(f"{distribution} is not installed for {sys.executable}: run `make setup`") from None
    for file in files:
        if file.as_posix().endswith(marker):
            return Path(str(file.locate())).resolve().parents[levels - 1]
    raise SystemExit(f"{distribution} {metadata.version(distribution)} has no file {marker}")


for variable, (distribution, marker, levels) in PACKAGES.items():
    print(f'set({variable} "{root_of(distribution, marker, levels).as_posix()}")')
