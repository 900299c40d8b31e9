# SPDX-License-Identifier: GPL-2.0-or-later
"""Are completion times the published simulator's, on its scenarios and on any network?"""
