# SPDX-License-Identifier: GPL-2.0-or-later
"""Does FDCC do what its thesis shows? The experiments of Zhang 2023, ch. 6."""
