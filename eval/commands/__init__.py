# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands beside measuring: train, export, and the program `ns3-env`."""
