# SPDX-License-Identifier: GPL-2.0-or-later
"""A training run from its first episode to its last checkpoint."""
