# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts of jobs in other projects' formats; tests/data/formats/README.md has their origin."""

from __future__ import annotations

from tests.samples.published_texts import file_text

PING_PONG = file_text("ping_pong.goal")
MICRO_ASTRA = file_text("micro_all_reduce.txt")
DLRM = file_text("dlrm_hybrid_parallel.txt")
SIMAI = file_text("experts_simai.txt")
JSONIZER = file_text("jsonizer.txt")
#: Four ranks tell each other of a byte: to the next, to the one after the next.
DISSEMINATION = "num_ranks 4\n" + "".join(
    f"rank {r} {{\nl1: send 1b to {(r + 1) % 4} tag 0\nl2: recv 1b from {(r - 1) % 4} tag 0\n"
    f"l3: send 1b to {(r + 2) % 4} tag 0\nl3 requires l2\nl4: recv 1b from {(r + 2) % 4} tag 0\n}}\n"
    for r in range(4)
)
