# SPDX-License-Identifier: GPL-2.0-or-later
"""The promises in Python."""

import os

# With more threads, libraries' waiting ones keep every core busy that another process of tests could use.
os.environ.setdefault("OMP_NUM_THREADS", "1")
