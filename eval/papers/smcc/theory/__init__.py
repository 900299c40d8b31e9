# SPDX-License-Identifier: GPL-2.0-or-later
"""Fluid model of BCN, QCN and SMCC: its theorems and phase planes (Jiang 2015, sec. 2.3, 3.2, 4.3)."""
