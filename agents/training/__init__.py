# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts that every algorithm's trainer shares: environment, rollouts, state that is saved."""
