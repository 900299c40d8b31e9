# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of papers, one command each, with the paper's numbers next to ours."""
