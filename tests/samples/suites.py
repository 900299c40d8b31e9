# SPDX-License-Identifier: GPL-2.0-or-later
"""A tiny suite."""

import json
from pathlib import Path
from typing import Any

import yaml

from ns3_env.config.yaml import parse

SUITE: dict[str, Any] = parse("""
title: tiny
controllers: [hpcc, dctcp]
seeds: [1, 2]
scenarios:
  - name: incast
    group: g
    scenario:
      topology: {kind: dumbbell, senders: 3}
      traffic: {kind: incast, size_bytes: 60000, spread_ns: 5000}
  - name: apart
    series: false
    scenario:
      topology: {kind: dumbbell, senders: 2}
      traffic: {kind: incast, size_bytes: 30000, spread_ns: 5000}
""")


def suite_file(folder: Path, **changes: Any) -> Path:
    """The suite with these changes, as a file."""
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump({**SUITE, **changes}))
    return path


def contents(out: Path) -> dict[str, bytes]:
    """Every cell's files without its run time."""
    files = {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.glob("cells/*/*/*/*"))}
    for name, text in files.items():
        if name.endswith("metrics.json"):
            files[name] = json.dumps(json.loads(text)["metrics"]).encode()
    return files
