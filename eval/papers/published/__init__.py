# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparison of flow completion times with the published simulator's."""
