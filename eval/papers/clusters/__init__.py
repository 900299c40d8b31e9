# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of papers on clusters of GPUs: SimAI's tutorial, Wang 2024, Khan 2022."""
