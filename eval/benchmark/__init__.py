# SPDX-License-Identifier: GPL-2.0-or-later
"""Which controller wins, where? Cells (scenario, controller, seed) of a suite, on all cores, in a folder."""
