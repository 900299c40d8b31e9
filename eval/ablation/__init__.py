# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes an agent learn? Variants of a configuration, several seeds each, judged on held-back incasts."""
