// SPDX-License-Identifier: GPL-2.0-or-later
// Scenario of one episode, as the simulator reads it from JSON.
#include "scenario.h"

#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/json-reader.h"

#include <algorithm>
#include <initializer_list>
#include <unordered_set>

namespace ns3::env
{

namespace
{

constexpr int64_t ENDLESS = 0;         ///< the size of a flow without an end
constexpr int64_t UNSTOPPED = -1;      ///< the stop of an endless stream
constexpr const char* AGENT = "agent"; ///< the controller that decides over the channel

void
ReadNodes(JsonReader& root, Scenario& s)
{
    for (const auto& kind : root.Texts("nodes", bounds::NODES))
    {
        if (kind != "host" && kind != "switch")
        {
            throw ScenarioError("'nodes' has '" + Shown(kind) +
                                "': a node is a 'host' or a 'switch'");
        }
        s.isSwitch.push_back(kind == "switch");
    }
    if (s.isSwitch.empty())
    {
        throw ScenarioError("'nodes' is empty: a network has at least two hosts");
    }
    const auto last = static_cast<uint32_t>(s.isSwitch.size()) - 1;
    if (root.Has("cards"))
    {
        JsonReader cards = root.Sub("cards");
        const auto nodes = cards.Wholes<uint32_t>("node", bounds::NODES, 0, last);
        const auto hosts = cards.Wholes<uint32_t>("host", bounds::NODES, 0, last);
        cards.RefuseOthers();
        if (nodes.size() != hosts.size())
        {
            throw ScenarioError("'cards': " + std::to_string(nodes.size()) + " nodes and " +
                                std::to_string(hosts.size()) +
                                " hosts: each node is a card of one host");
        }
        for (size_t i = 0; i < nodes.size(); ++i)
        {
            s.hostOfCard.emplace(nodes[i], hosts[i]);
        }
    }
    const auto readLink = [&](JsonReader& link)
    {
        s.links.push_back({link.Whole<uint32_t>("a", 0, last),
                           link.Whole<uint32_t>("b", 0, last),
                           link.Number("rate_bps", bounds::LEAST_LINK_RATE_BPS, bounds::RATE_BPS),
                           link.Time("delay_ns", 0, bounds::DELAY_NS)});
    };
    root.Each("links", bounds::LINKS, readLink);
}

void
ReadControllers(JsonReader& root, Scenario& s)
{
    const auto read = [&s](JsonReader& section)
    {
        ControllerSpec spec{section.Text("name"), {}};
        if (section.Has("attributes"))
        {
            spec.attributes = section.Values("attributes");
        }
        s.controllers.push_back(std::move(spec));
    };
    root.Each("controllers", bounds::CONTROLLERS, read);
    if (s.controllers.empty())
    {
        throw ScenarioError("'controllers' is empty: flows need at least one");
    }
}

/// Reports errors in the ends of a row of 'flows' or 'streams' by the row's number.
class Rows
{
  public:
    Rows(const char* section, const Scenario& scenario)
        : m_section(section),
          m_scenario(scenario)
    {
    }

    void SameLength(size_t rows, std::initializer_list<size_t> others) const
    {
        for (size_t other : others)
        {
            if (other != rows)
            {
                throw ScenarioError("'" + m_section + "' has columns of different lengths");
            }
        }
    }

    [[noreturn]] void Refuse(size_t row, const std::string& why) const
    {
        throw ScenarioError("'" + m_section + "' row " + std::to_string(row) + ": " + why);
    }

    void CheckEnds(size_t row, const char* what, uint32_t source, uint32_t destination) const
    {
        for (uint32_t node : {source, destination})
        {
            if (m_scenario.isSwitch[node])
            {
                Refuse(row, "node " + std::to_string(node) + " is no host");
            }
        }
        if (source == destination)
        {
            Refuse(row,
                   std::string("a ") + what + " from host " + std::to_string(source) +
                       " to itself");
        }
    }

  private:
    std::string m_section;
    const Scenario& m_scenario;
};

/// The index of each row's group, -1 without.
std::vector<int32_t>
ReadGroups(JsonReader& section, const Scenario& s, size_t rows)
{
    const auto last = static_cast<int32_t>(s.groups.size()) - 1;
    return section.Has("group") ? section.Wholes<int32_t>("group", bounds::FLOWS, -1, last)
                                : std::vector<int32_t>(rows, -1);
}

/// The index of each row's traffic class.
std::vector<uint8_t>
ReadClassColumn(JsonReader& section, const Scenario& s, size_t rows)
{
    const auto last = static_cast<uint8_t>(std::max<size_t>(s.classes.size(), 1) - 1);
    return section.Has("class") ? section.Wholes<uint8_t>("class", bounds::FLOWS, uint8_t{0}, last)
                                : std::vector<uint8_t>(rows, 0);
}

/// Flows as the JSON has them: a column of each value.
struct FlowColumns
{
    std::vector<uint32_t> src;
    std::vector<uint32_t> dst;
    std::vector<int64_t> size;
    std::vector<int64_t> start;
    std::vector<uint32_t> controller;
    std::vector<int32_t> slot;
    std::vector<int32_t> group;
    std::vector<uint8_t> own; ///< traffic class
};

FlowColumns
ReadFlowColumns(JsonReader& section, const Scenario& s)
{
    const auto lastNode = static_cast<uint32_t>(s.isSwitch.size()) - 1;
    const auto lastController = static_cast<uint32_t>(s.controllers.size()) - 1;
    FlowColumns columns;
    columns.src = section.Wholes<uint32_t>("src", bounds::FLOWS, 0, lastNode);
    columns.dst = section.Wholes<uint32_t>("dst", bounds::FLOWS, 0, lastNode);
    columns.size = section.Wholes<int64_t>("size_bytes", bounds::FLOWS, 0, bounds::FLOW_BYTES);
    columns.start = section.Wholes<int64_t>("start_ns", bounds::FLOWS, 0, bounds::TIME_NS);
    columns.controller = section.Wholes<uint32_t>("controller", bounds::FLOWS, 0, lastController);
    columns.slot = section.Wholes<int32_t>("slot", bounds::FLOWS, -1, int32_t{bounds::FLOWS} - 1);
    columns.group = ReadGroups(section, s, columns.src.size());
    columns.own = ReadClassColumn(section, s, columns.src.size());
    return columns;
}

void
MakeFlows(const FlowColumns& columns, Scenario& s)
{
    const auto& [src, dst, size, start, controller, slot, group, own] = columns;
    const size_t n = src.size();
    if (n == 0)
    {
        throw ScenarioError("'flows' is empty: an episode needs at least one flow");
    }
    const Rows rows("flows", s);
    rows.SameLength(n,
                    {dst.size(),
                     size.size(),
                     start.size(),
                     controller.size(),
                     slot.size(),
                     group.size(),
                     own.size()});
    s.flows.reserve(n);
    std::unordered_set<int32_t> taken;
    for (size_t i = 0; i < n; ++i)
    {
        rows.CheckEnds(i, "flow", src[i], dst[i]);
        // A slot stores the policy's state of the flow.
        if (s.controllers[controller[i]].name == AGENT)
        {
            if (slot[i] < 0)
            {
                rows.Refuse(i,
                            "a flow under '" + std::string(AGENT) + "' needs a slot, 0 or above");
            }
            if (!taken.insert(slot[i]).second)
            {
                rows.Refuse(i, "slot " + std::to_string(slot[i]) + " is another flow's");
            }
        }
        s.flows.push_back({{static_cast<uint32_t>(i),
                            src[i],
                            dst[i],
                            size[i] == ENDLESS ? ENDLESS_BYTES : static_cast<uint64_t>(size[i]),
                            start[i] * PS_PER_NS,
                            own[i]},
                           controller[i],
                           slot[i],
                           group[i]});
    }
}

void
ReadStreams(JsonReader& section, Scenario& s)
{
    const auto lastNode = static_cast<uint32_t>(s.isSwitch.size()) - 1;
    const auto src = section.Wholes<uint32_t>("src", bounds::STREAMS, 0, lastNode);
    const auto dst = section.Wholes<uint32_t>("dst", bounds::STREAMS, 0, lastNode);
    const auto rate =
        section.Numbers("rate_bps", bounds::STREAMS, bounds::LEAST_RATE_BPS, bounds::RATE_BPS);
    const auto start = section.Wholes<int64_t>("start_ns", bounds::STREAMS, 0, bounds::TIME_NS);
    const auto stop =
        section.Wholes<int64_t>("stop_ns", bounds::STREAMS, UNSTOPPED, bounds::TIME_NS);
    const auto own = ReadClassColumn(section, s, src.size());
    const Rows rows("streams", s);
    rows.SameLength(src.size(), {dst.size(), rate.size(), start.size(), stop.size(), own.size()});
    for (size_t i = 0; i < src.size(); ++i)
    {
        rows.CheckEnds(i, "stream", src[i], dst[i]);
        if (stop[i] != UNSTOPPED && stop[i] <= start[i])
        {
            rows.Refuse(i,
                        "it stops at " + std::to_string(stop[i]) + " ns, not after its start at " +
                            std::to_string(start[i]) + " ns");
        }
        s.streams.push_back({{static_cast<uint32_t>(s.flows.size() + i),
                              src[i],
                              dst[i],
                              ENDLESS_BYTES,
                              start[i] * PS_PER_NS,
                              own[i]},
                             rate[i],
                             stop[i] == UNSTOPPED ? NEVER : stop[i] * PS_PER_NS});
    }
}

void
ReadRecord(JsonReader& section, Scenario& s)
{
    s.recordQueues = section.Flag("queues", true);
    s.recordWindows = section.Flag("windows", false);
    s.recordEvents = section.Flag("events", false);
    s.recordReordering = section.Flag("reordering", false);
    s.recordControllerState = section.Flag("controller_state", false);
    s.recordControllerCounters = section.Flag("controller_counters", false);
    s.recordTransitions = section.Flag("transitions", false);
    s.queueSeriesInterval = section.TimeOr0("queue_series_ns");
    s.filmInterval = section.TimeOr0("film_ns");
    const auto readWindow = [](JsonReader& window) -> TimeSpan
    {
        const Picos begin = window.Time("begin_ns", 0, bounds::TIME_NS - 1);
        return {begin, window.Time("end_ns", begin / PS_PER_NS + 1)};
    };
    s.measurement = section.Maybe("measurement", readWindow);
    PcapSpec pcap;
    if (section.Has("pcap_ports"))
    {
        pcap.ports = section.Pairs("pcap_ports", bounds::LINKS, UINT32_MAX);
    }
    pcap.snapLength = section.Whole("pcap_snaplen",
                                    uint32_t{1},
                                    uint32_t{PcapSpec::LONGEST_FRAME},
                                    uint32_t{PcapSpec::LONGEST_FRAME});
    if (section.Has("pcap"))
    {
        pcap.prefix = section.Text("pcap");
        s.pcap = std::move(pcap);
    }
    else if (pcap.ports)
    {
        throw ScenarioError("'record.pcap_ports' needs 'record.pcap', the prefix of the files");
    }
}

} // namespace

Corruption
Scenario::CorruptionOf(uint32_t from, uint32_t to) const
{
    const auto own = corruption.find({from, to});
    return own != corruption.end() ? own->second : Corruption{.packetRate = lossProbability};
}

const LinkSchedule*
Scenario::ScheduleOf(uint32_t from, uint32_t to) const
{
    const auto own = schedules.find({from, to});
    return own != schedules.end() ? &own->second : nullptr;
}

double
Scenario::FastestBps() const
{
    double fastest = 0;
    for (const LinkSpec& link : links)
    {
        fastest = std::max(fastest, link.rateBps);
    }
    return fastest;
}

Picos
Scenario::CountedFrom() const
{
    if (measurement || flows.empty())
    {
        return measurement ? measurement->begin : 0;
    }
    return std::min_element(flows.begin(),
                            flows.end(),
                            [](const FlowEntry& x, const FlowEntry& y)
                            { return x.flow.start < y.flow.start; })
        ->flow.start;
}

Scenario
Scenario::FromJson(std::string text, const OwnKeys& own, bool withFlows)
{
    auto json = ParseJson(text);
    std::string().swap(text); // of very many flows every copy counts
    Scenario s;
    JsonReader root(json, "");
    s.seed = root.Whole<uint64_t>("seed", 0, UINT64_MAX);
    s.timeLimit = root.Time("time_limit_ns", 1);
    s.payloadBytes = root.Whole<uint32_t>("payload_bytes", 1, bounds::PAYLOAD_BYTES);
    ReadNodes(root, s);
    if (root.Has("link_rates"))
    {
        s.schedules = ReadLinkRates(root, s.links);
    }
    own(root, s);
    const auto readLoss = [&s](JsonReader& loss)
    {
        const double probability = loss.Number("probability", 0.0, 1.0);
        s.corruption = ReadCorruption(loss, static_cast<uint32_t>(s.isSwitch.size()) - 1);
        return probability;
    };
    s.lossProbability = root.Maybe("loss", readLoss).value_or(0);
    if (withFlows)
    {
        ReadControllers(root, s);
    }
    if (root.Has("groups"))
    {
        s.groups = root.Texts("groups", bounds::CONTROLLERS);
    }
    s.clock = ReadClock(root);
    if (withFlows)
    {
        const FlowColumns flows =
            root.Sub("flows", [&s](JsonReader& section) { return ReadFlowColumns(section, s); });
        for (auto& column : json["flows"])
        {
            if (auto* values = column.get_ptr<nlohmann::json::array_t*>())
            {
                nlohmann::json::array_t().swap(*values);
            }
        }
        MakeFlows(flows, s);
    }
    const auto readDependencies = [&s](JsonReader& section)
    {
        std::vector<Picos> starts;
        for (const FlowEntry& entry : s.flows)
        {
            starts.push_back(entry.flow.start);
        }
        return ReadDependencies(section, starts);
    };
    s.dependencies = root.Maybe("dependencies", readDependencies);
    if (root.Has("streams"))
    {
        root.Sub("streams", [&s](JsonReader& section) { ReadStreams(section, s); });
    }
    s.columns = root.Flag("columns", false);
    if (root.Has("record"))
    {
        root.Sub("record", [&s](JsonReader& section) { ReadRecord(section, s); });
    }
    root.RefuseOthers();
    return s;
}

} // namespace ns3::env
