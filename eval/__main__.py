# SPDX-License-Identifier: GPL-2.0-or-later
"""Evaluates from a clone: ``python -m eval``; elsewhere ``ns3-env eval``."""

import sys

from ns3_env.eval.commands.evaluation import main

if __name__ == "__main__":
    sys.exit(main())
