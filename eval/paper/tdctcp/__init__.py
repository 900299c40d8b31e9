# SPDX-License-Identifier: GPL-2.0-or-later
"""What does T-DCTCP do in the experiment of Liang 2018?"""
