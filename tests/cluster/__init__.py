# SPDX-License-Identifier: GPL-2.0-or-later
"""Work on a Ray cluster against the same work on one machine, also when processes or nodes die."""
