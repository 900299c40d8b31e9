# SPDX-License-Identifier: GPL-2.0-or-later
"""RLlib support: policies trained with RLlib are exported to policy files."""
