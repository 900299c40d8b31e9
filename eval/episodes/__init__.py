# SPDX-License-Identifier: GPL-2.0-or-later
"""Episodes of one scenario under named controllers: run, recorded, saved in folders."""
