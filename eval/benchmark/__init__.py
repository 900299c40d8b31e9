# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmarks: a suite's cells (scenario, controller, seed), run on all cores into a folder."""
