# SPDX-License-Identifier: GPL-2.0-or-later
"""Configuration: strict models, bounds, units, YAML files, overrides, imports, paths."""
