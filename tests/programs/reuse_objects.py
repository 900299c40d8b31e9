# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiler launcher that takes objects of an earlier build, for quick copies of the C++ tree.

    reuse_objects.py LIST COMMAND...

LIST is a JSON object: object file of COMMAND's ``-o`` to the object that takes its place. Where there is
none, COMMAND runs as it is. That sources and headers are those that the objects were made of is the caller's
to know.
"""

import json
import os
import shutil
import sys


def main() -> None:
    made = json.loads(open(sys.argv[1], encoding="utf-8").read())  # noqa: SIM115 (the process ends here)
    command = sys.argv[2:]
    target = command[command.index("-o") + 1] if "-o" in command else ""
    if target not in made:
        os.execvp(command[0], command)
    shutil.copyfile(made[target], target)
    with open(command[command.index("-MF") + 1], "w", encoding="utf-8") as depends:
        depends.write(f"{target}: {command[command.index('-c') + 1]}\n")


if __name__ == "__main__":
    main()
