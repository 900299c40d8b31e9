# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulator programs: where they are, plugins, what each transport offers."""
