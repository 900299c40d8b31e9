# SPDX-License-Identifier: GPL-2.0-or-later
"""Does SMCC slide where QCN swings? The theory and the experiments of Jiang 2015, theirs beside ours."""
