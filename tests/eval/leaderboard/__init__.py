# SPDX-License-Identifier: GPL-2.0-or-later
"""A leaderboard's numbers, table and figures."""
