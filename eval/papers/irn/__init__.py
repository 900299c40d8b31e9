# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of IRN (Mittal 2018)."""
