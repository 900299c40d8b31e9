# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiler launcher that takes objects of an earlier build, for quick copies of the C++ tree.

    reuse_objects.py LIST COMMAND...

LIST is a JSON object: ``made``, object file of COMMAND's ``-o`` to the object that replaces it, and the
two trees, ``tree`` and ``root``. Without such an object, or if its sources differ, COMMAND runs unchanged.
The caller has to ensure that sources and headers are those of the objects.
"""

import json
import os
import shutil
import sys


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def same(source: str, other: str, trees: dict[str, str]) -> bool:
    """Whether both include the same files of their trees."""
    return read(source).replace(trees["tree"], trees["root"]) == read(other)


def main() -> None:
    objects = json.loads(read(sys.argv[1]))
    command = sys.argv[2:]
    target = command[command.index("-o") + 1] if "-o" in command else ""
    object_file = objects["made"].get(target, "")
    if not object_file or (
        "/Unity/" in target and not same(command[command.index("-c") + 1], object_file[:-2], objects)
    ):
        os.execvp(command[0], command)
    shutil.copyfile(object_file, target)
    with open(command[command.index("-MF") + 1], "w", encoding="utf-8") as depends:
        depends.write(f"{target}: {command[command.index('-c') + 1]}\n")


if __name__ == "__main__":
    main()
