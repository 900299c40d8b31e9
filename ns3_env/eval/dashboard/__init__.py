# SPDX-License-Identifier: GPL-2.0-or-later
"""Training runs in the browser, while they learn: a page on this machine that follows runs' folders."""
