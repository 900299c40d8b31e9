# SPDX-License-Identifier: GPL-2.0-or-later
"""Does work on a Ray cluster come to the same as here, whatever dies meanwhile?"""
