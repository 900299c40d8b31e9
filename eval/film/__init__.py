# SPDX-License-Identifier: GPL-2.0-or-later
"""Film of a run: one page for the browser, with the network and every flow over time."""
