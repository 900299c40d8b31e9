# SPDX-License-Identifier: GPL-2.0-or-later
"""How does a policy learn? Configuration, curriculum, trainers, and a run from its plan to its folder."""
