# SPDX-License-Identifier: GPL-2.0-or-later
"""Thresholds of ports compared: constant ones, random ones and learned ones (docs/thresholds.md)."""
