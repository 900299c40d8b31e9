# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons of trained policies: with baselines, over seeds, ablations, maps."""
