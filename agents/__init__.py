# SPDX-License-Identifier: GPL-2.0-or-later
"""Who decides for a flow? The policies and their trainers, one file or folder each."""
