# SPDX-License-Identifier: GPL-2.0-or-later
"""Does MPCC do what its thesis says? The experiments of Zheng 2024."""
