# SPDX-License-Identifier: GPL-2.0-or-later
"""Work on the machines of a Ray cluster: Ray schedules, restarts and moves objects."""
