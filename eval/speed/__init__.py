# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed of simulator, channel and controllers on this machine."""
