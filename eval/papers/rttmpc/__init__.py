# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of RTT-driven MPC (Lynn et al. 2020)."""
