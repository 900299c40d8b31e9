# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of ranks' traces: their names, their compression, and the nodes in them."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from pathlib import Path

from ns3_env.config.files import check_plain, naming
from ns3_env.scenario.traffic.chakra.budget import Budget, TraceError
from ns3_env.scenario.traffic.chakra.kineto_trace import find_kineto_events, read_kineto
from ns3_env.scenario.traffic.chakra.pytorch_trace import find_pytorch_nodes, read_pytorch
from ns3_env.scenario.traffic.chakra.trace import Node, check_nodes, read_protobuf

#: Ends of names: Chakra's, PyTorch's; each may be compressed.
SUFFIXES = tuple(f".{kind}{packed}" for kind in ("et", "json") for packed in ("", ".gz"))
_END = re.compile(r"\.0\.(et|json)(\.gz)?")
_JSON = re.compile(rb"\s*\{\s*[\"}]")
_GZIP = b"\x1f\x8b"


def read_trace(data: bytes, budget: Budget | None = None) -> list[Node]:
    """The nodes of a file of Chakra's or PyTorch's, perhaps in gzip.

    Args:
        data: the file.
        budget: budget of the job that the file belongs to; None: it is the only file.

    Raises:
        TraceError: its fault.
    """
    budget = budget or Budget()
    if data.startswith(_GZIP):
        data = _unpack(data, budget.size_bytes)
    budget.spend(size_bytes=len(data))
    if (begin := find_pytorch_nodes(data)) is not None:
        trace = read_pytorch(data, begin, budget)
    elif _JSON.match(data) is None:
        trace = read_protobuf(data, budget)
    elif (begin := find_kineto_events(data)) is not None:
        trace = read_kineto(data, begin, budget)
    else:
        raise TraceError(
            "no JSON of PyTorch: that of ExecutionTraceObserver starts with its schema, that of the profiler "
            "has a list of traceEvents within its first MiB; of Chakra protocol buffers are read (.et)"
        )
    check_nodes(trace)
    return trace


def _unpack(data: bytes, most_bytes: int) -> bytes:
    """Content of a compressed file, or its first ``most_bytes`` + 1 bytes."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return file.read(most_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise TraceError(f"not whole: {error}") from None


def common_name(file: str) -> str:
    """The part of rank 0's file that all ranks' have in common, as a scenario's traffic names it."""
    end = _END.search(file)
    return file if end is None or end.end() < len(file) else file[: end.start()]


def find_files(file: str, most: int, why: str) -> list[Path]:
    """Each rank's file: FILE.0.et and so on, or FILE with the rank instead of ``%d``.

    Raises OSError if one is missing, TraceError if there are more than ``most``, or if a rank's trace
    has another form than rank 0's.
    """
    begin, end = file.split("%d", 1) if "%d" in file else (f"{file}.", _suffix(file))
    first = Path(f"{begin}0{end}")
    with naming(first):
        check_plain(first)
    pattern = re.compile(re.escape(Path(begin + "|").name[:-1]) + r"([1-9][0-9]{0,8})" + re.escape(end))
    ranks = {0, *(int(name[1]) for x in os.listdir(first.parent) if (name := pattern.fullmatch(x)))}
    files = [Path(f"{begin}{rank}{end}") for rank in range(len(ranks))]
    if missing := sorted(set(range(len(ranks))) - ranks):
        text = f"there is no such file, though there is {begin}{max(ranks)}{end}"
        raise OSError(0, text, str(files[missing[0]]))
    for other in SUFFIXES if "%d" not in file else ():
        if os.path.exists(apart := f"{begin}{len(files)}{other}"):
            raise TraceError(f"{apart} has another form than {first}: all ranks' traces of a job have one")
    if len(files) > most:
        raise TraceError(f"{len(files)} ranks; there may be at most {most}: {why}")
    return files


def _suffix(file: str) -> str:
    """The end of rank 0's name: the first possible one that exists."""
    return next((end for end in SUFFIXES if os.path.exists(f"{file}.0{end}")), SUFFIXES[0])
