# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints where the C++ packages from PyPI are, as CMake `set()` lines for CMakeLists.txt.

Asks importlib.metadata, so it works in a virtual environment and in pip's isolated builds alike. ns-3 is no
requirement of the build: its wheel requires Python bindings that compile for a quarter of an hour, and
nothing here uses them. Where it is not installed, its wheel alone is fetched into the folder that is named.
"""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

NS3 = "ns3==3.44.post0"

# variable: (distribution on PyPI, a file of it, levels from that file up to the root we want)
PACKAGES = {
    "NS3_ROOT": ("ns3", "ns3/include/ns3/object.h", 3),
    "QPOASES_ROOT": ("cmeel-qpoases", "cmeel.prefix/include/qpOASES.hpp", 2),
    "BOOST_INCLUDE": ("cmeel-boost", "cmeel.prefix/include/boost/hash2/sha2.hpp", 3),
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


def fetched(folder: Path) -> Path:
    """ns-3's root below ``folder``, where its wheel is unpacked unless it lies there already."""
    root = folder / "ns3"
    if not (root / "include" / "ns3" / "object.h").exists():
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--no-deps",
            "--quiet",
            "--target",
            str(folder),
            NS3,
        ]
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode != 0:
            raise SystemExit(f"{NS3} is not installed, and could not be fetched")
    return root


for variable, (distribution, marker, levels) in PACKAGES.items():
    if variable == "NS3_ROOT" and len(sys.argv) > 1:
        try:
            metadata.distribution(distribution)
        except metadata.PackageNotFoundError:
            print(f'set({variable} "{fetched(Path(sys.argv[1])).as_posix()}")')
            continue
    print(f'set({variable} "{root_of(distribution, marker, levels).as_posix()}")')
