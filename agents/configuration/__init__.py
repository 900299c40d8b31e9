# SPDX-License-Identifier: GPL-2.0-or-later
"""A training run's configuration: files, overrides, agents by name, the run's folder."""
