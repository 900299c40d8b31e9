# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies that decide for flows, and their trainers: one file or folder each."""
