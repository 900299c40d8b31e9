# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of FDCC's thesis (Zhang 2023, ch. 6)."""
