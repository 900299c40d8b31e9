# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of MPCC's thesis (Zheng 2024)."""
