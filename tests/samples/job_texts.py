# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts of jobs in other projects' formats; tests/data/formats/README.md has their origin."""

from tests.samples.published_texts import file_text

PING_PONG = file_text("ping_pong.goal")
MICRO_ASTRA = file_text("micro_all_reduce.txt")
DLRM = file_text("dlrm_hybrid_parallel.txt")
SIMAI = file_text("experts_simai.txt")
