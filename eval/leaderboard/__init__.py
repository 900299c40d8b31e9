# SPDX-License-Identifier: GPL-2.0-or-later
"""A leaderboard's statistics, table and figures, from a frame of normalised scores."""
