# SPDX-License-Identifier: GPL-2.0-or-later
"""The law that a network starts from, and its fit."""
