# SPDX-License-Identifier: GPL-2.0-or-later
"""Files in formats of other projects, as texts; tests/data/formats/README.md has their origin."""

from __future__ import annotations

from tests.paths import DATA


def file_text(name: str) -> str:
    """A file of tests/data/formats."""
    return (DATA / "formats" / name).read_text(encoding="utf-8")


TOPOLOGY = file_text("topology.txt")
FLOWS = file_text("flow.txt")
MATRIX = file_text("matrix.cm")
TWO_TIERS = file_text("two_tiers.topo")
THREE_TIERS = file_text("three_tiers.topo")
STAR_OF_ASTRA_SIM = file_text("star_of_astra_sim.txt")
RING_OF_ASTRA_SIM = file_text("ring_of_astra_sim.txt")
