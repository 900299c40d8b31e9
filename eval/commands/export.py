# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports a policy or a tuned controller: ``export.py runs/NAME --format onnx --out policy.onnx``.

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
from ns3_env.eval.commands import options as shared
from ns3_env.eval.output.progress import progress_lines
from ns3_env.policies.file import POLICY_FILE, PolicyFile
from ns3_env.scenario.controllers import CONTROLLER_FILE

#: The format of a tuned controller.
CONTROLLER = "controller"
#: Default name of a file, by its format.
NAMES = {
    **{form: f"policy.{form}" for form in (*FORMATS, "c")},
    "native": POLICY_FILE,
    CONTROLLER: CONTROLLER_FILE,
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    command_line = AnyOrder(
        prog=typed("export"),
        description="Writes a trained policy into one file, and compares the file with the original; "
        "or a tuned controller with its attributes.",
    )
    command_line.add_argument(
        "checkpoint", type=Path, help=f"{POLICY_HELP}; or a .zip of Stable-Baselines3, with --env"
    )
    command_line.add_argument(
        "--env",
        metavar="ID",
        help="of a .zip: the id that it was trained on, e.g. ns3_env/Bursts-v4",
    )
    command_line.add_argument(
        "--format",
        choices=[*NAMES],
        help="native (default): for the simulator and the commands here; onnx; pt2: torch.export's; c:"
        " C99 in integers, for a NIC; controller: YAML, the one of a tuned controller",
    )
    command_line.add_argument(
        "--safety",
        type=Path,
        metavar="CURRICULUM",
        help="of native: the file gets bounds of its windows, and the ranges of the policy's observations in"
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
        "--out",
        type=Path,
        metavar="FILE",
        help="is written if it is right (default: policy.*, controller.yaml)",
    )
    shared.add(command_line, "--allow-imports")
    return command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    options = parser().parse_args(arguments)
    return guarded(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """Exports as the options specify."""
    from ns3_env.agents.export.export import LIMIT, export, export_controller
    from ns3_env.agents.training.checkpoint import resolve

    if options.allow_imports:
        trust_all()
    if options.checkpoint.suffix == ".zip" and options.checkpoint.is_file():
        return _run_zip(options)
    if options.env is not None:
        raise ConfigError("--env: is of a .zip of Stable-Baselines3: a policy's file has its own")
    tuned = resolve(options.checkpoint).is_controller
    options.format = options.format or (CONTROLLER if tuned else "native")
    options.out = options.out or Path(NAMES[options.format])
    if tuned != (options.format == CONTROLLER):
        what = "a controller with its attributes, no network" if tuned else "a policy, no tuned controller"
        right = CONTROLLER if tuned else ", ".join(name for name in NAMES if name != CONTROLLER)
        raise ConfigError(
            f"--format {options.format}: {options.checkpoint} holds {what}; it goes into {right}"
        )
    if options.safety is not None and options.format != "native":
        raise ConfigError(f"--safety: is of --format native: no file of {options.format} has a Swift")
    if tuned:
        controller = export_controller(options.checkpoint, options.out)
        print(f"{options.out}: {controller.name} with {len(controller.attributes)} attributes")
        return 0
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


def _run_zip(options: argparse.Namespace) -> int:
    """Exports a file of Stable-Baselines3, after its code has been allowed."""
    from ns3_env.agents.export import models

    if options.env is None:
        raise ConfigError(
            f"{options.checkpoint}: a model of Stable-Baselines3 does not say its environment: add --env "
            "ns3_env/Bursts-v4, or call ns3_env.export(model, env, path) where it was trained"
        )
    if not options.allow_imports:
        raise ConfigError(
            f"{options.checkpoint}: to read it runs code that is in it; if you trust it: --allow-imports"
        )
    out = options.out or Path(NAMES[options.format or "native"])
    if options.format not in (None, models.FORMATS.get(out.suffix)) or options.safety is not None:
        raise ConfigError(
            f"{options.checkpoint}: of a .zip the name of --out says the format, and there is no --safety: "
            "export it as .safetensors first, then that file"
        )
    print(models.export(models.load_zip(options.checkpoint), options.env, out))
    return 0


def _secured(policy: PolicyFile, options: argparse.Namespace) -> PolicyFile:
    """The policy with a safety; prints the progress, and its ranges."""
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
    """Exports a C file, and prints its needs of a NIC."""
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
