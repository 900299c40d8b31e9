# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies that decide for flows, and their trainers: one file or folder each."""

if __name__ == "agents":
    raise ImportError("this folder is a part of ns3_env: import ns3_env.agents")
