# SPDX-License-Identifier: GPL-2.0-or-later
"""How does work get to the machines of a Ray cluster? Ray schedules, restarts and moves objects."""
