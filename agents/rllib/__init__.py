# SPDX-License-Identifier: GPL-2.0-or-later
"""What do RLlib's algorithms make of flows? Their policies leave RLlib as files that anything here plays."""
