# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains a policy from a clone: ``python train.py``; elsewhere ``ns3-env train``."""

import sys

from ns3_env.eval.commands.train import main

if __name__ == "__main__":
    sys.exit(main())
