# SPDX-License-Identifier: GPL-2.0-or-later
"""What does one's own code look like here? Examples, run by the tests."""
