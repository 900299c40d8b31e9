# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario as an ns-3 script in C++: ``ns3-env script SCENARIO > incast.cc``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ns3_env.config.command_line import guarded
from ns3_env.errors import ScenarioError
from ns3_env.scenario.scenario import Scenario
from ns3_env.scenario.simulator_json import simulator_json

#: Keys of the simulator's input that are attributes of ``ns3::RdmaNetwork``; the switch's lie in "switch".
_ATTRIBUTES = {
    "payload_bytes": ("PayloadBytes", "UintegerValue({})"),
    "buffer_bytes": ("BufferBytes", "UintegerValue({})"),
    "pfc": ("Pfc", "BooleanValue({})"),
    "pfc_alpha_shift": ("PfcAlphaShift", "UintegerValue({})"),
    "reserve_bytes": ("ReserveBytes", "UintegerValue({})"),
    "resume_offset_bytes": ("ResumeOffsetBytes", "UintegerValue({})"),
    "headroom_frames": ("HeadroomFrames", "UintegerValue({})"),
    "retransmission_timeout_ns": ("RetransmissionTimeout", "NanoSeconds({})"),
}
#: Keys that other objects of a script represent, or that it lacks.
_OWN = {"nodes", "links", "flows", "streams", "controllers", "seed", "time_limit_ns", "switch", "threads"}
_OWN |= {"clock", "decision_quantum_ns", "groups", "cards"}
_PAGE = """\
// SPDX-License-Identifier: GPL-2.0-or-later
// {title}, as an ns-3 script.
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/rdma-module.h"

#include <cstdlib>
#include <iostream>
#include <vector>

using namespace ns3;

namespace
{{

const uint32_t SWITCHES[] = {{{switches}}};

struct Link
{{
    uint32_t a;
    uint32_t b;
    uint64_t rateBps;
    int64_t delayNs;
}};

const Link LINKS[] = {{
{links}}};

const char* const CONTROLLERS[] = {{
{controllers}}};

struct Flow
{{
    uint32_t from;
    uint32_t to;
    uint64_t bytes; // 0: endless
    int64_t startNs;
    uint32_t controller;
    uint32_t trafficClass;
}};

const Flow FLOWS[] = {{
{flows}}};
{stream_table}
{card_table}/// What is no attribute of the network, by the keys of rdma-sim's scenarios.
const char* const SETTINGS = R"json({settings})json";

}} // namespace

int
main(int argc, char** argv)
{{
    if (std::getenv("NS_GLOBAL_VALUE") == nullptr) // which names another run
    {{
        RngSeedManager::SetRun({seed});
    }}
    std::string results;
    CommandLine cmd(__FILE__);
    cmd.AddValue("results", "File that results go to", results);
    cmd.Parse(argc, argv);

    RdmaHelper rdma;
{attributes}    rdma.SetNetworkAttribute("Settings", StringValue(SETTINGS));
    rdma.SetNetworkAttribute("StopWithLastFlow", BooleanValue(true));
    rdma.SetNetworkAttribute("ResultsFile", StringValue(results));

    NodeContainer nodes({node_count});
    for (const uint32_t node : SWITCHES)
    {{
        rdma.InstallSwitch(nodes.Get(node));
    }}
    std::vector<Ptr<NetDevice>> cards({end_count}); // by the numbers in LINKS
    for (const Link& link : LINKS)
    {{
        rdma.SetDeviceAttribute("DataRate", DataRateValue(DataRate(link.rateBps)));
        rdma.SetChannelAttribute("Delay", TimeValue(NanoSeconds(link.delayNs)));
        const NetDeviceContainer ends = rdma.Connect(nodes.Get(NodeOf(link.a)), nodes.Get(NodeOf(link.b)));
        cards[link.a] = ends.Get(0);
        cards[link.b] = ends.Get(1);
    }}
    ApplicationContainer flows;
    for (const Flow& flow : FLOWS)
    {{
        rdma.SetController(CONTROLLERS[flow.controller]);
        const Time start = NanoSeconds(flow.startNs);
        flows.Add(rdma.AddFlow(cards[flow.from], cards[flow.to], flow.bytes, start));
        flows.Get(flows.GetN() - 1)->SetAttribute("TrafficClass", UintegerValue(flow.trafficClass));
    }}
{stream_loop}
    Simulator::Stop(NanoSeconds({limit_ns}));
    Simulator::Run();
    for (uint32_t i = 0; i < flows.GetN(); ++i)
    {{
        const auto flow = DynamicCast<RdmaApplication>(flows.Get(i));
        std::cout << i << " " << flow->GetCompletionTime().GetNanoSeconds() << "\\n"; // 0: unfinished
    }}
    Simulator::Destroy();
    return 0;
}}
"""
_STREAM_TABLE = """
struct Stream
{{
    uint32_t from;
    uint32_t to;
    uint64_t rateBps;
    int64_t startNs;
    int64_t stopNs; // 0: to the end
    uint32_t trafficClass;
}};

const Stream STREAMS[] = {{
{rows}}};
"""
_STREAM_LOOP = """\
    for (const Stream& stream : STREAMS)
    {
        const Time start = NanoSeconds(stream.startNs);
        const DataRate rate(stream.rateBps);
        rdma.AddStream(cards[stream.from], cards[stream.to], rate, start, NanoSeconds(stream.stopNs))
            ->SetAttribute("TrafficClass", UintegerValue(stream.trafficClass));
    }
"""

#: The node of each end of a link. Nodes have these numbers, and further cards of hosts those after them.
_NODE_OF = """
uint32_t
NodeOf(uint32_t end)
{{
{body}}}

"""
_CARDS = """\
    const uint32_t hosts[] = {{{hosts}}}; // of further cards
    return end < {nodes} ? end : hosts[end - {nodes}];
"""


def script_text(scenario: Scenario) -> str:
    """The script that reproduces ``rdma-sim``'s run of the scenario, flow by flow to the nanosecond.

    Raises ScenarioError for features that scripts lack: TCP's transport, flows that wait for other flows,
    clusters of GPUs, rates that are no whole bits per second.
    """
    place = f"{scenario.source}: " if scenario.source else ""
    if scenario.transport != "rdma":
        raise ScenarioError(f"{place}transport: scripts have RDMA's flows, not TCP's")
    content = simulator_json(scenario)
    if "dependencies" in content:
        raise ScenarioError(f"{place}a script has no flows that wait for others: it starts them by callbacks")
    cards = content.get("cards", {"node": [], "host": []})
    host_of = dict(sorted(zip(cards["node"], cards["host"], strict=True)))
    nodes = len(content["nodes"]) - len(host_of)
    if list(host_of) != list(range(nodes, len(content["nodes"]))):
        raise ScenarioError(f"{place}a script has no GPUs that share network cards, only hosts")
    links = [(x["a"], x["b"], _whole(x["rate_bps"], place), x["delay_ns"]) for x in content["links"]]
    flows = content["flows"]
    classes = flows.get("class", [0] * len(flows["src"]))
    columns = (*(flows[key] for key in ("src", "dst", "size_bytes", "start_ns", "controller")), classes)
    streams = content.get("streams")
    return _PAGE.format(
        title=" ".join((scenario.source or "A scenario").split()),
        switches=", ".join(str(i) for i, kind in enumerate(content["nodes"]) if kind == "switch"),
        links=_rows(links),
        controllers="".join(f"    {json.dumps(_controller(x, place))},\n" for x in content["controllers"]),
        flows=_rows(zip(*columns, strict=True)),
        stream_table="" if streams is None else _STREAM_TABLE.format(rows=_rows(_streams(streams, place))),
        stream_loop="" if streams is None else _STREAM_LOOP,
        settings=_settings(content),
        seed=content["seed"],
        attributes=_attributes({**content, **content["switch"]}),
        node_count=nodes,
        end_count=len(content["nodes"]),
        card_table=_NODE_OF.format(
            body=_CARDS.format(hosts=", ".join(map(str, host_of.values())), nodes=nodes)
            if host_of
            else "    return end;\n"
        ),
        limit_ns=content["time_limit_ns"],
    )


def _rows(rows: Iterable[Iterable[object]]) -> str:
    return "".join(f"    {{{', '.join(map(str, row))}}},\n" for row in rows)


def _whole(rate_bps: float, place: str) -> int:
    if rate_bps != int(rate_bps):
        raise ScenarioError(f"{place}a rate of {rate_bps} bit/s: ns-3's rates are whole bits per second")
    return int(rate_bps)


def _controller(controller: Mapping[str, Any], place: str) -> str:
    """NAME[ATTRIBUTE=VALUE|...], as ns-3 writes a type with attributes."""
    values = [f"{name}={value}" for name, value in controller["attributes"].items()]
    if any("|" in value for value in values):
        raise ScenarioError(f"{place}controllers: a script cannot write an attribute with '|' in it")
    return str(controller["name"]) + (f"[{'|'.join(values)}]" if values else "")


def _streams(streams: Mapping[str, list[Any]], place: str) -> Iterable[Iterable[int]]:
    classes = streams.get("class", [0] * len(streams["src"]))
    rates = [_whole(rate, place) for rate in streams["rate_bps"]]
    stops = [max(stop, 0) for stop in streams["stop_ns"]]
    return zip(streams["src"], streams["dst"], rates, streams["start_ns"], stops, classes, strict=True)


def _attributes(content: Mapping[str, Any]) -> str:
    lines = []
    for key, (name, value) in _ATTRIBUTES.items():
        written = value.format(json.dumps(content[key]))
        written = f"TimeValue({written})" if written.startswith("NanoSeconds") else written
        lines.append(f'    rdma.SetNetworkAttribute("{name}", {written});\n')
    return "".join(lines)


def _settings(content: Mapping[str, Any]) -> str:
    settings = {key: value for key, value in content.items() if key not in _OWN and key not in _ATTRIBUTES}
    settings["switch"] = {key: value for key, value in content["switch"].items() if key not in _ATTRIBUTES}
    settings["record"] = {
        key: value for key, value in content["record"].items() if not key.startswith("pcap")
    }
    return json.dumps(settings)


def parser() -> argparse.ArgumentParser:
    """Command line of ``ns3-env script``."""
    command_line = argparse.ArgumentParser(
        prog="ns3-env script",
        description="Writes a scenario as an equivalent ns-3 script: ns3-env script a.yaml > a.cc",
    )
    command_line.add_argument("scenario", help="a scenario's file")
    return command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``ns3-env script``; returns the exit code."""
    options = parser().parse_args(arguments)

    def work() -> int:
        sys.stdout.write(script_text(Scenario.load(options.scenario)))
        return 0

    return guarded(work)
