# SPDX-License-Identifier: GPL-2.0-or-later
"""Theory and experiments of Jiang 2015 (QCN, BCN, SMCC), published numbers next to ours."""
