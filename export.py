# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports a policy from a clone: ``python export.py``; elsewhere ``ns3-env export``."""

import sys

from ns3_env.eval.commands.export import main

if __name__ == "__main__":
    sys.exit(main())
