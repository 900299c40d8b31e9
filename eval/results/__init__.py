# SPDX-License-Identifier: GPL-2.0-or-later
"""Results in Python: loaded from folders, simulated, compared."""
