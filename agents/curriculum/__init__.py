# SPDX-License-Identifier: GPL-2.0-or-later
"""Curricula: stages, their draws, and the ends of stages."""
