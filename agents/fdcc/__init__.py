# SPDX-License-Identifier: GPL-2.0-or-later
"""What is FDCC? A TD3 agent with recurrent encoders that shares one policy among all flows (Zhang 2023)."""

from agents.fdcc.fdcc import FDCC
from agents.fdcc.history import History, HistoryReplayBuffer
from agents.fdcc.networks import RecurrentTD3Policy

__all__ = ["FDCC", "History", "HistoryReplayBuffer", "RecurrentTD3Policy"]
