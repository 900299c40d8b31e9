# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace of one run: everything recorded, and drawn."""
