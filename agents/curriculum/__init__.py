# SPDX-License-Identifier: GPL-2.0-or-later
"""Curricula: stages, what is drawn from them, when a stage is done."""
