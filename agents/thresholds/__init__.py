# SPDX-License-Identifier: GPL-2.0-or-later
"""Agents at ports of switches, which learn ECN thresholds."""
