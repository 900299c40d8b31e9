# SPDX-License-Identifier: GPL-2.0-or-later
"""How does a policy leave Python, in a clone? ``python export.py``: ``ns3-env export`` elsewhere."""

import sys

from ns3_env.eval.export import main

if __name__ == "__main__":
    sys.exit(main())
