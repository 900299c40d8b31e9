# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies that are not trained: constant windows, HPCC's law and MPCC."""
