# SPDX-License-Identifier: GPL-2.0-or-later
"""Environments: Gymnasium, vectorised, PettingZoo, RLlib, streams and rollouts."""
