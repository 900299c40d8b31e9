// SPDX-License-Identifier: GPL-2.0-or-later
// A script's nodes, devices and applications as the scenario that the engine simulates.
#include "script-scenario.h"

#include "ns3/channel-list.h"
#include "ns3/node-list.h"
#include "ns3/rng-seed-manager.h"
#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/run/attributes.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ns3::env
{

namespace
{

using Json = nlohmann::json;

constexpr uint32_t LARGEST_HEADERS = 90; ///< of a data packet, with the largest telemetry
constexpr uint64_t MIB = 1 << 20;
constexpr const char* AGENT = "agent";

std::string
NameOf(const Ptr<Node>& node)
{
    return "node " + std::to_string(node->GetId());
}

} // namespace

std::string
WithoutKey(const std::string& text)
{
    const size_t end = text.find("': ");
    const bool hasKey =
        text.starts_with('\'') && end != std::string::npos && text.find_first_of("' ", 1) == end;
    return hasKey ? text.substr(end + 3) : text;
}

ControllerSpec
ControllerOf(const std::string& text)
{
    const size_t open = text.find('[');
    ControllerSpec spec{text.substr(0, open), {}};
    if (open == std::string::npos)
    {
        return spec;
    }
    if (text.back() != ']')
    {
        throw ScenarioError("controller '" + Shown(text) + "' has no ']' at its end");
    }
    std::istringstream pairs(text.substr(open + 1, text.size() - open - 2));
    for (std::string pair; std::getline(pairs, pair, '|');)
    {
        const size_t equals = pair.find('=');
        if (equals == std::string::npos)
        {
            throw ScenarioError("controller '" + Shown(text) + "': '" + Shown(pair) +
                                "' is no NAME=VALUE");
        }
        spec.attributes.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    }
    return spec;
}

ScriptScenario::ScriptScenario(const ScriptSettings& settings, const Json& task)
    : m_settings(settings),
      m_task(task)
{
    FindLinks();
    FindCards();
}

/// Ports are numbered in the order of the links at each node, whatever the order of its devices.
void
ScriptScenario::FindLinks()
{
    m_devices.resize(NodeList::GetNNodes());
    for (uint32_t i = 0; i < ChannelList::GetNChannels(); ++i)
    {
        const auto channel = DynamicCast<RdmaChannel>(ChannelList::GetChannel(i));
        if (!channel || channel->GetNDevices() < 2)
        {
            continue;
        }
        const Ptr<RdmaNetDevice> a = channel->GetEnd(0);
        const Ptr<RdmaNetDevice> b = channel->GetEnd(1);
        if (a->GetDataRate() != b->GetDataRate())
        {
            throw ScenarioError("the link between " + NameOf(a->GetNode()) + " and " +
                                NameOf(b->GetNode()) + " has a DataRate at each end, and not one");
        }
        const uint32_t from = Place(a);
        m_links.push_back({from,
                           Place(b),
                           static_cast<double>(a->GetDataRate().GetBitRate()),
                           channel->GetDelay().GetTimeStep()});
    }
}

/// Gives a device the next port of its node; a host's first card is the host's node, each further one has its own.
/// \returns the engine's node
uint32_t
ScriptScenario::Place(const Ptr<RdmaNetDevice>& device)
{
    uint32_t node = device->GetNode()->GetId();
    if (IsHost(node))
    {
        node = static_cast<uint32_t>(m_devices.size());
        m_devices.emplace_back();
    }
    m_places[PeekPointer(device)] = {node, static_cast<uint32_t>(m_devices[node].size())};
    m_devices[node].push_back(device);
    return node;
}

void
ScriptScenario::FindCards()
{
    for (uint32_t id = 0; id < NodeList::GetNNodes(); ++id)
    {
        const Ptr<Node> node = NodeList::GetNode(id);
        for (uint32_t i = 0; i < node->GetNDevices(); ++i)
        {
            const auto device = DynamicCast<RdmaNetDevice>(node->GetDevice(i));
            if (device && !device->IsLinkUp())
            {
                throw ScenarioError("device " + std::to_string(i) + " of " + NameOf(node) +
                                    " is not connected to another");
            }
        }
    }
    for (uint32_t id = 0; id < m_devices.size(); ++id)
    {
        if (IsHost(id))
        {
            m_cards[m_devices[id].front()->GetAddress()] = id;
        }
    }
}

bool
ScriptScenario::IsHost(uint32_t node) const
{
    return node < m_devices.size() && !m_devices[node].empty() &&
           !m_settings.switches.contains(node);
}

double
ScriptScenario::FastestBps() const
{
    double fastest = 0;
    for (const LinkSpec& link : m_links)
    {
        fastest = std::max(fastest, link.rateBps);
    }
    return fastest;
}

/// Buffer in bytes; by default as for rdma-sim (ns3_env/scenario/derived.py).
uint64_t
ScriptScenario::Buffer() const
{
    if (m_settings.bufferBytes > 0)
    {
        return m_settings.bufferBytes;
    }
    constexpr double FAST = 100e9;
    const uint64_t usual = (FastestBps() >= FAST ? 32 : 16) * MIB;
    const double frames = m_settings.headroomFrames * (m_settings.payloadBytes + LARGEST_HEADERS);
    std::map<uint32_t, double> needed;
    for (const LinkSpec& link : m_links)
    {
        const double delay = static_cast<double>(link.delay) / PS_PER_SECOND;
        const double headroom = m_settings.pfc ? 3 * link.rateBps * delay / 8 + frames : 0;
        for (const uint32_t node : {link.a, link.b})
        {
            needed[node] += headroom + m_settings.reserveBytes;
        }
    }
    double most = 0;
    for (const uint32_t node : m_settings.switches)
    {
        most = std::max(most, needed[node]);
    }
    return most < static_cast<double>(usual)
               ? usual
               : std::min(static_cast<uint64_t>(std::ceil(2 * most / MIB)) * MIB,
                          bounds::BUFFER_BYTES);
}

void
ScriptScenario::AddEcn(Json& content) const
{
    Json& sw = content["switch"];
    if (m_settings.ecn != "auto" && m_settings.ecn != "off")
    {
        std::istringstream words(m_settings.ecn);
        EcnConfig ecn{.enabled = true};
        std::string rate;
        std::string rest;
        if (!(words >> ecn.kminBytes >> ecn.kmaxBytes >> ecn.pmax >> rate) || words >> rest)
        {
            throw ScenarioError("attribute Ecn is '" + Shown(m_settings.ecn) +
                                "': it takes auto, off or \"KMIN KMAX PMAX RATE\"");
        }
        ecn.atRateBps = static_cast<double>(DataRate(rate).GetBitRate());
        sw["ecn"] = rdma::ToJson(ecn);
        return;
    }
    for (const Ptr<RdmaApplication>& flow : m_flows)
    {
        const Ptr<CongestionControl> control =
            CreateController(ControllerOf(flow->GetController()));
        const EcnConfig ecn = control->GetEcnConfig();
        if (ecn.enabled && m_settings.ecn == "auto" && !sw.contains("ecn"))
        {
            sw["ecn"] = rdma::ToJson(ecn);
            const double half = static_cast<double>(sw["buffer_bytes"].get<uint64_t>()) / 2;
            if (ecn.kmaxBytes * FastestBps() / ecn.atRateBps > half)
            {
                sw["ecn"]["most_kmax_bytes"] = half;
            }
        }
        const CongestionPointConfig points = control->GetCongestionPointConfig();
        if (points.enabled && !sw.contains("congestion_points"))
        {
            sw["congestion_points"] = rdma::ToJson(points);
        }
        if (control->GetScheduling() == Scheduling::LeastRemaining)
        {
            sw["scheduling"] = "least_remaining";
        }
        break; // the cards of one network agree, or the script decides
    }
}

/// A hundredth of a card's rate is too much if more than a hundred flows come to one host.
double
ScriptScenario::MinRate() const
{
    if (m_settings.minRateBps > 0)
    {
        return m_settings.minRateBps;
    }
    std::map<Address, uint32_t> senders;
    for (const Ptr<RdmaApplication>& flow : m_flows)
    {
        ++senders[flow->GetRemote()];
    }
    double least = 0;
    for (const auto& [remote, count] : senders)
    {
        const auto host = m_cards.find(remote);
        constexpr uint32_t MANY = 100;
        if (host != m_cards.end() && count > MANY)
        {
            const auto rate = m_devices[host->second].front()->GetDataRate().GetBitRate();
            const double share = static_cast<double>(rate) / count / 10;
            least = least == 0 ? share : std::min(least, share);
        }
    }
    return least;
}

Json
ScriptScenario::SettingsJson() const
{
    Json content{{"seed", RngSeedManager::GetRun()},
                 {"time_limit_ns", bounds::TIME_NS},
                 {"timing", "exact"},
                 {"payload_bytes", m_settings.payloadBytes},
                 {"priority_group", 3},
                 {"retransmission_timeout_ns", m_settings.retransmissionTimeout / PS_PER_NS},
                 {"switch",
                  {{"buffer_bytes", Buffer()},
                   {"pfc", m_settings.pfc},
                   {"pfc_alpha_shift", m_settings.alphaShift},
                   {"reserve_bytes", m_settings.reserveBytes},
                   {"resume_offset_bytes", m_settings.resumeOffsetBytes},
                   {"headroom_frames", m_settings.headroomFrames},
                   {"scheduling", "fifo"},
                   {"flow_counter", "exact"},
                   {"flow_timeout_ns", 1'000'000}}},
                 {"clock", {{"name", "per_flow_rtt"}, {"rtt_fraction", 0.5}}},
                 {"decision_quantum_ns", 0}};
    if (const double least = MinRate(); least > 0)
    {
        content["min_rate_bps"] = least;
    }
    if (m_settings.balancing != "ecmp")
    {
        content["load_balancing"] = {{"by", m_settings.balancing}};
    }
    AddEcn(content);
    for (const std::string& more :
         {m_settings.more, m_task.value("settings", Json::object()).dump()})
    {
        if (!more.empty())
        {
            const Json patch = ParseJson(more);
            if (!patch.is_object())
            {
                throw ScenarioError("attribute Settings is no JSON object");
            }
            content.merge_patch(patch);
        }
    }
    for (const char* key :
         {"nodes", "links", "flows", "controllers", "streams", "dependencies", "threads"})
    {
        if (content.contains(key))
        {
            throw ScenarioError("attribute Settings has '" + std::string(key) +
                                "', which a script's own objects say");
        }
    }
    content["links"] = Json::array(); // and flows: exact to the picosecond, they are not read
    return content;
}

Scenario
ScriptScenario::Make(rdma::RdmaTransport& transport)
{
    for (auto each = NodeList::Begin(); each != NodeList::End(); ++each)
    {
        const Ptr<Node>& node = *each;
        for (uint32_t i = 0; i < node->GetNApplications(); ++i)
        {
            if (const auto application = DynamicCast<RdmaApplication>(node->GetApplication(i)))
            {
                const bool isStream = application->GetStreamRate().GetBitRate() > 0;
                (isStream ? m_streams : m_flows).push_back(application);
            }
        }
    }
    const auto madeBefore = [](const auto& x, const auto& y)
    { return x->GetSerial() < y->GetSerial(); };
    std::ranges::sort(m_flows, madeBefore);
    std::ranges::sort(m_streams, madeBefore);
    Json content = SettingsJson();
    content["nodes"] = Json::array();
    for (uint32_t id = 0; id < m_devices.size(); ++id)
    {
        content["nodes"].push_back(IsHost(id) ? "host" : "switch");
    }
    Scenario scenario = transport.Read(content.dump(), false);
    scenario.links = m_links;
    if (m_settings.retransmissionTimeout > 0)
    {
        scenario.retransmissionTimeout = m_settings.retransmissionTimeout;
    }
    for (const Ptr<RdmaApplication>& application : m_flows)
    {
        scenario.flows.push_back(EntryOf(*application, scenario));
    }
    for (const Ptr<RdmaApplication>& application : m_streams)
    {
        AddStream(*application, scenario);
    }
    return scenario;
}

uint32_t
ScriptScenario::SourceOf(const RdmaApplication& application) const
{
    const Ptr<Node> node = application.GetNode();
    if (!IsHost(node->GetId()))
    {
        throw ScenarioError("RdmaApplication: " + NameOf(node) + " is no host of the RDMA network");
    }
    if (application.GetLocal().IsInvalid())
    {
        return node->GetId();
    }
    const auto source = m_cards.find(application.GetLocal());
    if (source == m_cards.end() || m_devices[source->second].front()->GetNode() != node)
    {
        throw ScenarioError("RdmaApplication of " + NameOf(node) +
                            ": Local is the address of none of its RdmaNetDevices");
    }
    return source->second;
}

FlowSpec
ScriptScenario::SpecOf(const RdmaApplication& application) const
{
    const Ptr<Node> node = application.GetNode();
    const uint32_t source = SourceOf(application);
    const auto destination = m_cards.find(application.GetRemote());
    if (destination == m_cards.end())
    {
        throw ScenarioError("RdmaApplication of " + NameOf(node) +
                            ": Remote is the address of no host's RdmaNetDevice");
    }
    if (m_devices[destination->second].front()->GetNode() == node)
    {
        throw ScenarioError("RdmaApplication: a flow from " + NameOf(node) + " to itself");
    }
    return {.source = source,
            .destination = destination->second,
            .sizeBytes = application.GetSize() == 0 ? ENDLESS_BYTES : application.GetSize(),
            .start = application.GetStartTime().GetTimeStep(),
            .trafficClass = application.GetTrafficClass()};
}

uint32_t
ScriptScenario::ControllerIndex(const std::string& text, Scenario& scenario)
{
    const auto [known, isNew] =
        m_controllers.emplace(text, static_cast<uint32_t>(scenario.controllers.size()));
    if (isNew)
    {
        ControllerSpec spec = ControllerOf(text);
        if (spec.name == AGENT)
        {
            const Json attributes = m_task.value("attributes", Json::object());
            for (const auto& [name, value] : attributes.items())
            {
                spec.attributes.emplace_back(name, value.get<std::string>());
            }
        }
        CreateController(spec); // or it reports the error
        scenario.controllers.push_back(std::move(spec));
    }
    return known->second;
}

std::vector<Ptr<RdmaNetDevice>>
ScriptScenario::Cards() const
{
    std::vector<Ptr<RdmaNetDevice>> cards(m_devices.size());
    for (const auto& [address, node] : m_cards)
    {
        cards[node] = m_devices[node].front();
    }
    return cards;
}

/// An environment may put only one of the flows under "agent", and name the controller of the rest.
std::string
ScriptScenario::ControllerOfFlow(const RdmaApplication& application)
{
    const std::string own = application.GetController();
    if (ControllerOf(own).name != AGENT || !m_task.contains("flow"))
    {
        return own;
    }
    return m_asked++ == m_task["flow"].get<int32_t>() ? own : m_task["others"].get<std::string>();
}

FlowEntry
ScriptScenario::EntryOf(const RdmaApplication& application, Scenario& scenario)
{
    FlowEntry entry{SpecOf(application),
                    ControllerIndex(ControllerOfFlow(application), scenario),
                    -1,
                    -1};
    entry.flow.id = static_cast<uint32_t>(scenario.flows.size());
    const size_t classes = std::max<size_t>(scenario.classes.size(), 1);
    if (entry.flow.trafficClass >= classes)
    {
        throw ScenarioError("RdmaApplication: TrafficClass " +
                            std::to_string(entry.flow.trafficClass) + " of a network with " +
                            std::to_string(classes));
    }
    if (scenario.controllers[entry.controller].name == AGENT)
    {
        entry.slot = m_slots++;
    }
    return entry;
}

void
ScriptScenario::AddStream(const RdmaApplication& application, Scenario& scenario)
{
    FlowSpec spec = SpecOf(application);
    spec.id = static_cast<uint32_t>(scenario.flows.size() + scenario.streams.size());
    spec.sizeBytes = ENDLESS_BYTES;
    const Picos stop = application.GetStopTime().GetTimeStep();
    scenario.streams.push_back({spec,
                                static_cast<double>(application.GetStreamRate().GetBitRate()),
                                stop > 0 ? stop : NEVER});
}

} // namespace ns3::env
