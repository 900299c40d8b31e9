# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulator programs: their paths, plugins, and the controllers of each transport."""
