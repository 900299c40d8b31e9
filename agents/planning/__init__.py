# SPDX-License-Identifier: GPL-2.0-or-later
"""Planning with branches: what would have come of another action, and the best of a few."""
