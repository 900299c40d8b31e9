# SPDX-License-Identifier: GPL-2.0-or-later
"""How are results shown? Tables, figures, pinned curves."""
