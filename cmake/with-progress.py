# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a command, keeps its output in a file and shows a build's steps: LOG WHAT COMMAND..."""

import re
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

STEP = re.compile(r"\[(\d+/\d+)\] ")
TAIL = 60
EVERY_S = 10.0

log, what, *command = sys.argv[1:]
Path(log).parent.mkdir(parents=True, exist_ok=True)
start = printed = time.monotonic()
lines: deque[str] = deque(maxlen=TAIL)
print(f"{what} (all of it is in {log})", flush=True)
with Path(log).open("w", encoding="utf-8", errors="replace") as kept:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    assert process.stdout is not None
    for line in process.stdout:
        kept.write(line)
        lines.append(line)
        if (step := STEP.search(line)) is None:
            continue
        now = time.monotonic()
        if sys.stdout.isatty():
            print(f"\r  {step[1]} steps, {now - start:.0f} s", end="", flush=True)
        elif now - printed >= EVERY_S:
            printed = now
            print(f"  {step[1]} steps, {now - start:.0f} s", flush=True)
code = process.wait()
print(f"\r  {'done' if code == 0 else 'failed'} after {time.monotonic() - start:.0f} s      ", flush=True)
if code != 0:
    print("".join(lines), end="", flush=True)
sys.exit(code)
