# SPDX-License-Identifier: GPL-2.0-or-later
"""HPCC (Li 2019): flow completion times in its network of 320 hosts."""
