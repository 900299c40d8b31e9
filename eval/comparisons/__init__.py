# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons of trained policies: with controllers, over seeds, as maps, with their critics."""
