# SPDX-License-Identifier: GPL-2.0-or-later
"""What does RTT-driven MPC do in the experiments of Lynn et al. 2020?"""
