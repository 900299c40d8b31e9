# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports a policy: ``export.py runs/NAME --format onnx --out policy.onnx``.

Exit codes: 0 done; 1 the file answers otherwise than the original, and is not written; 2 a mistake in the
input, named in one line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ns3_env.agents.export.formats import FORMATS
from ns3_env.config.command_line import POLICY_HELP, AnyOrder, guarded, new_console, typed
from ns3_env.config.imports import trust_all
from ns3_env.errors import ConfigError
from ns3_env.eval.commands.options import add_allow_imports
from ns3_env.eval.output.progress import progress_lines
from ns3_env.policies.file import PolicyFile


def parser() -> argparse.ArgumentParser:
    """The command line."""
    command_line = AnyOrder(
        prog=typed("export"),
        description="Writes a trained policy into one file, and compares the file with the original.",
    )
    command_line.add_argument("checkpoint", type=Path, help=POLICY_HELP)
    command_line.add_argument(
        "--format",
        choices=(*FORMATS, "c"),
        required=True,
        help="native: what the simulator and the commands here play; onnx; pt2: torch.export's; c: C99 in"
        " integers, for a NIC",
    )
    command_line.add_argument(
        "--safety",
        type=Path,
        metavar="CURRICULUM",
        help="of native: the file gets bounds of its windows, and the ranges of what the policy observes in"
        " this curriculum's episodes, beyond which Swift steers a flow",
    )
    command_line.add_argument(
        "--most-rtts",
        type=float,
        default=4.0,
        metavar="M",
        help="of --safety: the window is at most M BDPs over the RTT in base RTTs (default: 4)",
    )
    command_line.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="is written if it is right"
    )
    add_allow_imports(command_line)
    return command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    options = parser().parse_args(arguments)
    return guarded(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """Exports as the options say."""
    from ns3_env.agents.export.export import LIMIT, export

    if options.allow_imports:
        trust_all()
    if options.safety is not None and options.format != "native":
        raise ConfigError(f"--safety: is of --format native: no file of {options.format} has a Swift")
    if options.format == "c":
        return _run_c(options)
    if options.safety is None:
        report = export(options.checkpoint, options.format, options.out)
    else:
        report = export(
            options.checkpoint, options.format, options.out, lambda policy: _secured(policy, options)
        )
    print(
        f"largest difference to {report.original} on {report.count:,} observations: {report.difference:.1e}",
        flush=True,
    )
    if not report.passed:
        print(f"error: more than {LIMIT:g}: {options.out} is not written", file=sys.stderr)
        return 1
    print(f"{options.out}: {report.size_bytes} B, weights {report.sha256}")
    return 0


def _secured(policy: PolicyFile, options: argparse.Namespace) -> PolicyFile:
    """The policy with a safety; says how far it is, and what ranges it has."""
    from ns3_env.agents.export.safety import EPISODES, secured

    done = 0

    def progress(count: int) -> None:
        nonlocal done
        done = count

    with progress_lines(new_console(), lambda: f"safety: {done} of {EPISODES} episodes"):
        secure = secured(policy, options.safety, options.most_rtts, progress=progress)
    assert secure.spec.safety is not None
    for name, (low, high) in secure.spec.safety.ranges.items():
        print(f"{name}: {low:g} to {high:g}")
    return secure


def _run_c(options: argparse.Namespace) -> int:
    """Exports a C file, and says what it takes of a NIC."""
    from ns3_env.agents.export.c99.export import LIMIT, export_c

    code, match = export_c(options.checkpoint, options.out)
    print(
        f"largest difference on {match.count:,} decisions: action {match.action:.5f}, window"
        f" {match.window:.3%}, rate {match.rate:.3%}",
        flush=True,
    )
    if match.difference > LIMIT:
        print(f"error: more than {LIMIT:.0%}: {options.out} is not written", file=sys.stderr)
        return 1
    counter = (
        "" if match.cycles != match.cycles else f", {match.cycles:,.0f} cycles of the time-stamp counter"
    )
    print(
        f"{options.out}: {code.table_bytes:,} B of tables ({code.weights:,} weights), {match.state_bytes} B a"
        f" flow\na decision: {code.products:,} products, {match.decision_ns:,.0f} ns{counter} (mean of"
        f" {match.count:,}, quickest of 20 passes on one core)"
    )
    return 0
