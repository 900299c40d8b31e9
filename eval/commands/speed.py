# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``speed``: how fast simulator, channel and decisions are on this machine."""

from __future__ import annotations

import argparse

from ns3_env.eval.commands import options as shared


def add(options: argparse.ArgumentParser) -> shared.Work:
    """packet-hops/s, decisions/s, µs per MPCC decision"""
    shared.add_json(options)
    return _work


def _work(given: argparse.Namespace) -> None:
    from ns3_env.eval.speed import measure

    measure.report(given.json)
