# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of T-DCTCP (Liang 2018)."""
