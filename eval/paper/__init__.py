# SPDX-License-Identifier: GPL-2.0-or-later
"""Does this MPCC do what its thesis shows? Each experiment of Zheng 2024 as one command."""
