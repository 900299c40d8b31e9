# SPDX-License-Identifier: GPL-2.0-or-later
"""What every algorithm's trainer shares: environment, rollouts, state that is saved."""
