# SPDX-License-Identifier: GPL-2.0-or-later
"""How is a policy trained, in a clone? ``python train.py``: ``ns3-env train`` elsewhere (eval/train.py)."""

import sys

from ns3_env.eval.train import main

if __name__ == "__main__":
    sys.exit(main())
