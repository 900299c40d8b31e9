# SPDX-License-Identifier: GPL-2.0-or-later
"""A node's GPUs, NVLinks and network cards, from the topology that NCCL writes (XML)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TextIO
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from ns3_env.config.files import LineFaults
from ns3_env.config.model import shown
from ns3_env.errors import ScenarioError
from ns3_env.scenario.topology.kind import GBPS

_MAX_FILE_BYTES = 16 << 20
#: Rate of an NVLink (GB/s) from each compute capability on (NCCL 2026).
_NVLINK_GB = {100: 40.1, 90: 20.6, 87: 20.0, 86: 12.0, 70: 20.0, 60: 18.0}
#: PCI classes of an NVLink's other end, which is a GPU otherwise.
_SWITCH, _CPU = "0x068000", "0x068001"


class Node(NamedTuple):
    """Numbers of a node's GPUs and cards, the rate of each one (a GPU's NVLinks together), and sentences on
    parts of the file that a cluster has no place for."""

    gpus: int
    gpu_bps: float
    cards: int
    card_bps: float
    notes: list[str]

    def keys(self) -> dict[str, Any]:
        """The keys of a ``Cluster``; several cards of a GPU are one with their rates together."""
        return {
            "gpus_per_node": self.gpus,
            "rails": self.cards if self.cards < self.gpus else None,
            "scale_up": {"rate_bps": self.gpu_bps},
            "scale_out": {"rate_bps": self.card_bps * max(1, self.cards // self.gpus)},
        }


def read_node(file: str) -> Node:
    """The node of NCCL's file. Raises ScenarioError, which names the file and the element."""
    wrong, nodes = LineFaults(file), list[Node]()

    def take(text: TextIO) -> None:
        content, parser = text.read(), XMLParser(target=_WithoutDtd())
        try:
            parser.feed(content)
            nodes.append(_node(parser.close()))
        except ParseError as error:
            wrong.add(error.position[0], "no XML: " + str(error).partition(": ")[0])
        except ValueError as error:
            wrong.add(0, str(error))

    wrong.read("topology", take, _MAX_FILE_BYTES)
    if wrong:
        raise ScenarioError("\n".join(text.removeprefix("file: ") for text in wrong.texts()))
    return nodes[0]


class _WithoutDtd(TreeBuilder):
    def doctype(self, name: str, *_: object) -> None:
        """Refuses document types, the only places that define entities."""
        raise ValueError(f"<!DOCTYPE {shown(name)[1:-1]}>; NCCL writes none")


def _node(root: Element) -> Node:
    hosts = {cpu.get("host_hash") for cpu in root.iter("cpu")}
    if root.tag != "system" or len(hosts) != 1:
        text = f"{_place(root)} of {len(hosts)} hosts, must be NCCL's <system> with the <cpu>s of one"
        raise ValueError(text)
    gpus, gpu_bps = _devices(root, "gpu", _nvlinks_bps)
    cards, card_bps = _devices(root, "net", lambda net: _number(net, "speed", 1) * 1e6)
    if gpus % cards and cards % gpus:
        text = "must be as many, a part or a multiple of them; keep those between nodes (NCCL_IB_HCA)"
        raise ValueError(f"<net>: {cards} cards of {gpus} GPUs, {text}")
    return Node(gpus, gpu_bps, cards, card_bps, list(_notes(root)))


def _devices(root: Element, tag: str, rate: Callable[[Element], float]) -> tuple[int, float]:
    """Number and rate of the devices: ranks may share a GPU, and CPUs a card."""
    devices = {_number(element, "dev", 0): (rate(element), element) for element in root.iter(tag)}
    if not devices:
        raise ValueError(f"{_place(root)} has no <{tag}>; write the cluster's keys instead")
    (bps, first), *others = devices.values()
    for other_bps, other in others:
        if other_bps != bps:
            text = f"{_place(other)} has {other_bps / GBPS:g} Gb/s, and {_place(first)} {bps / GBPS:g}"
            raise ValueError(f"{text}; those of a cluster are equal")
    return len(devices), bps


def _nvlinks_bps(gpu: Element) -> float:
    """Rate of a GPU's links to other GPUs, together."""
    sm, links = _number(gpu, "sm", 60, 103), [x for x in gpu.iter("nvlink") if x.get("tclass") != _CPU]
    if not links:
        raise ValueError(f"{_place(gpu)} has no <nvlink>; write the cluster's keys instead")
    each = next(rate for least, rate in _NVLINK_GB.items() if sm >= least)
    return float(round(sum(_number(link, "count", 1) for link in links) * each * 8 * GBPS))


def _notes(root: Element) -> Iterator[str]:
    if any(link.get("tclass") not in (_SWITCH, _CPU) for link in root.iter("nvlink")):
        yield "<nvlink>: links between GPUs become one of each GPU to a switch, with their rates together"
    near = [
        [len({x.get("dev") for x in cpu.iter(tag)}) for tag in ("gpu", "net")] for cpu in root.iter("cpu")
    ]
    near = [counts for counts in near if any(counts)]
    if any(gpus * near[0][1] != near[0][0] * cards for gpus, cards in near):
        yield "<cpu>: GPUs share cards unevenly; those of a cluster share them evenly"


def _number(element: Element, key: str, least: int, most: int = 10**9 - 1) -> int:
    text = element.get(key, "")
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise ValueError(f"{_place(element)}: {key} is {shown(text)}, must be {least} to {most}")
    return int(text)


def _place(element: Element) -> str:
    """The element as an error names it: with its name or device."""
    names = [f" {key}={shown(x)}" for key in ("name", "dev", "target") if (x := element.get(key)) is not None]
    return f"<{shown(element.tag)[1:-1]}{''.join(names[:1])}>"
