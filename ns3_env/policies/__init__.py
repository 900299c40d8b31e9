# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies: protocol, file format, native evaluation, released ones."""
