# SPDX-License-Identifier: GPL-2.0-or-later
"""Laws that a network starts from: fitted to them, or built from them."""
