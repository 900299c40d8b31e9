# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures, tables and files that several commands draw and write."""
