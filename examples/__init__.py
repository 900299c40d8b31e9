# SPDX-License-Identifier: GPL-2.0-or-later
"""Examples of code against this package, run by the tests."""
