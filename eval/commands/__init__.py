# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands: train, export, the seven of eval, and the program `ns3-env`."""
