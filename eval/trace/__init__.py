# SPDX-License-Identifier: GPL-2.0-or-later
"""What happens inside one run? Everything recorded, and drawn."""
