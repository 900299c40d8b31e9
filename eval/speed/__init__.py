# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast are simulator, channel and laws on this machine?"""
