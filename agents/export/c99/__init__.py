# SPDX-License-Identifier: GPL-2.0-or-later
"""Export of a policy as one C99 file in integers, for the firmware of a NIC (docs/nic.md)."""
