# SPDX-License-Identifier: GPL-2.0-or-later
"""Does a controller do what its paper shows? Each experiment as one command, theirs beside ours."""
