# SPDX-License-Identifier: GPL-2.0-or-later
"""A decision problem: observations, actions, rewards, what each transport can observe."""
