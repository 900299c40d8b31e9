# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed of simulator, channel and laws on this machine."""
