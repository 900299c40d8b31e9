# SPDX-License-Identifier: GPL-2.0-or-later
"""A policy's C file compiled and run on recorded decisions: how near its answers are, its costs."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.export.c99.file import CFile
from ns3_env.agents.export.recording import record
from ns3_env.decision.observations import INDEX
from ns3_env.errors import ConfigError
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import Scenario

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
#: Count of ACKs over which a share is taken, as the simulator reports only the share.
_ACKS = 65536


@dataclass(frozen=True)
class Decisions:
    """n decisions, those of a flow next to each other from its first one on.

    Attributes:
        records: (n, fields) telemetry before each decision.
        first: (n,) true for a flow's first decision.
        applied: (n, 3) window (B), pacing rate (bit/s) and action set by the policy.
    """

    records: Numbers
    first: npt.NDArray[np.bool_]
    applied: Numbers


def record_decisions(
    policy: NetworkPolicy, env: EnvConfig, scenario: Scenario, seed: int, count: int
) -> Decisions:
    """At least ``count`` decisions; arguments and errors are those of ``record``."""
    recording = record(policy, env, scenario.with_agent(policy.spec.agent_attributes), seed, count)
    order = recording.flow_order
    flows, records = recording.flows[order], recording.records[order]
    applied = policy.spec.action_map(np.clip(recording.actions[order], -1, 1), records)
    return Decisions(records, np.diff(flows, prepend=-1) > 0, applied)


def telemetry(records: Numbers) -> dict[str, Integers]:
    """Counters of a NIC, by members of the C file's path and observation; each (n,).

    The simulator gives an agent shares only: the most congested hop is taken to have the sender's rate, and
    so is the receiver's link.
    """
    field = {name: records[:, at] for name, at in INDEX.items()}
    rate, base, interval = field["host_rate_bps"], field["base_rtt_ns"], field["interval_ns"]
    per_interval = rate * interval / 8e9
    counts = {
        "host_rate_kbps": rate / 1e3,
        "receiver_rate_kbps": rate / 1e3,
        "base_rtt_ns": base,
        "packet_bytes": field["packet_bytes"],
        "size_bytes": (field["remaining"] + field["attained"]) * field["bdp_bytes"],
        "interval_ns": interval,
        "rtt_ns": field["rtt_ns"],
        "acked_bytes": field["goodput"] * per_interval,
        "acks": np.full(len(records), _ACKS),
        "marked_acks": field["ecn_fraction"] * _ACKS,
        "remaining_bytes": field["remaining"] * field["bdp_bytes"],
        "attained_bytes": field["attained"] * field["bdp_bytes"],
        "hop_queue_bytes": field["qlen"] * rate * base / 8e9,
        "hop_rate_kbps": rate / 1e3,
        "hop_tx_bytes": field["switch_rate"] * per_interval,
        "hop_tx_ns": interval,
        "hop_flows": field["flow_count"],
        "shorter_backlog_ns": field["shorter_backlog"] * base,
        "fair_share_kbps": field["fair_share"] * rate / 1e3,
        "fairness_weight_q16": 65536 * field["fairness_weight"],
        # values after the flow's last action
        "window_q8": 256 * np.minimum(field["window_bytes"], field["bdp_bytes"]),
        "rate_q8": 256 * field["rate_bps"] / 1e3,
        "last_action_q16": 65536 * field["last_action"],
    }
    return {name: np.round(values).astype(np.int64) for name, values in counts.items()}


#: Compiler's options under which the file has to compile.
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-O2")
_PASSES = 20
_PATH = ("host_rate_kbps", "base_rtt_ns", "packet_bytes")
_FORCED = ("window_q8", "rate_q8", "last_action_q16")
#: Runs rows of integers: the path where a flow starts, the values after its last action, the observation.
_HARNESS = """\
#define _POSIX_C_SOURCE 199309L
#include "{file}"
#include <time.h>
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#define TICKS() ((int64_t)__rdtsc())
#else
#define TICKS() 0
#endif
int64_t state_bytes(void) {{ return sizeof(struct {name}_state); }}
static int64_t now(void)
{{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}}
void play(const int64_t *row, const uint8_t *first, int64_t n, int64_t *out, int64_t *ns, int64_t *ticks)
{{
    struct {name}_state s;
    int64_t i;
    const int64_t before = now(), at = TICKS();
    for (i = 0; i < n; ++i, row += {width}, out += 3)
    {{
        struct {name}_observation o;
        struct {name}_action a;
        if (first[i])
        {{
            struct {name}_path p;
{path}            {name}_start(&s, &p, row[{size}], &a);
        }}
        if (!first[i] || !{at_start})
        {{
{observation}            {name}_decide(&s, &o, &a);
        }}
        out[0] = a.window_bytes;
        out[1] = a.rate_kbps;
        out[2] = a.action_q16;
    }}
    *ticks = TICKS() - at;
    *ns = now() - before;
}}
"""


@dataclass(frozen=True)
class Measured:
    """Answers of a C file and their cost.

    Attributes:
        action: largest difference to the original's action; actions are in [-1, 1].
        window, rate: largest difference to the original's window and rate, as a share of them.
        count: number of decisions compared.
        state_bytes: size of a flow's state.
        decision_ns: mean time of a decision in the fastest of 20 passes, on this machine.
        cycles: the same in cycles of the processor's time-stamp counter; NaN on one without it.
    """

    action: float
    window: float
    rate: float
    count: int
    state_bytes: int
    decision_ns: float
    cycles: float

    @property
    def difference(self) -> float:
        """The largest of the three."""
        return max(self.action, self.window, self.rate)


def compiler() -> str:
    """The C compiler: $CC, cc or gcc. Raises ConfigError if there is none."""
    for name in (os.environ.get("CC", ""), "cc", "gcc"):
        if name and (path := shutil.which(name)):
            return path
    raise ConfigError("--format c compiles what it writes to compare it: there is no C compiler (set CC)")


def measure(file: CFile, path: Path, decisions: Decisions, folder: Path) -> Measured:
    """Compiles the file and runs the decisions, each from the window, rate and action the original had left.

    Args:
        file: the C file's content.
        path: path of the C file.
        decisions: decisions of the original.
        folder: folder for the compiled files.

    Raises:
        ConfigError: there is no compiler, or it refuses the file.
    """
    counts = telemetry(decisions.records)
    path_members = [*_PATH, *(["receiver_rate_kbps"] if file.receiver else [])]
    columns = [*path_members, "size_bytes", *_FORCED, *file.members]
    rows = np.ascontiguousarray(np.stack([counts[name] for name in columns], axis=1))
    run = _compiled(file, path, folder, path_members, columns)
    first = np.ascontiguousarray(decisions.first, np.uint8)
    out = np.zeros((len(rows), 3), np.int64)
    passes = [_play(run, rows, first, out) for _ in range(_PASSES)]
    ns, ticks = (min(column) / len(rows) for column in zip(*passes, strict=True))
    apart = np.abs(out - decisions.applied * (1, 1e-3, 65536))
    relative = apart / np.maximum(np.abs(decisions.applied * (1, 1e-3, 65536)), 1)
    windowed = np.isfinite(decisions.applied[:, 0])
    return Measured(
        float(apart[:, 2].max() / 65536),
        _most(relative[windowed, 0]),
        _most(relative[:, 1]),
        len(rows),
        int(run.state_bytes()),
        ns,
        ticks if ticks > 0 else float("nan"),
    )


def _most(values: Numbers) -> float:
    return float(values.max(initial=0.0))


def _compiled(
    file: CFile, path: Path, folder: Path, path_members: list[str], columns: list[str]
) -> ctypes.CDLL:
    """The file, which must compile by itself without a warning, with the code that runs it."""
    column = {name: at for at, name in enumerate(columns)}
    observation = [f"s.{name} = row[{column[name]}];" for name in _FORCED]
    observation += [f"o.{name} = row[{column[name]}];" for name in file.members]
    text = _HARNESS.format(
        file=path.absolute(),
        name=file.name,
        width=len(columns),
        path="".join(f"            p.{name} = row[{column[name]}];\n" for name in path_members),
        size=column["size_bytes"],
        at_start=int(file.decides_at_start),
        observation="".join(f"            {line}\n" for line in observation),
    )
    harness, library = folder / "harness.c", folder / "policy.so"
    harness.write_text(text)
    cc = compiler()
    for command in (
        [cc, *STRICT, "-c", str(path), "-o", str(folder / "policy.o")],
        [cc, "-O2", "-shared", "-fPIC", str(harness), "-o", str(library)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ConfigError(f"{' '.join(command)}: {(done.stderr.strip() or 'failed').splitlines()[0]}")
    run = ctypes.CDLL(str(library))
    run.state_bytes.restype = ctypes.c_int64
    return run


def _play(run: ctypes.CDLL, rows: Integers, first: np.ndarray, out: Integers) -> tuple[int, int]:
    """ns and ticks of the run."""
    ns, ticks = ctypes.c_int64(), ctypes.c_int64()
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (rows, first)]
    count, answers = ctypes.c_int64(len(rows)), ctypes.c_void_p(out.ctypes.data)
    run.play(*pointers, count, answers, ctypes.byref(ns), ctypes.byref(ticks))
    return ns.value, ticks.value
