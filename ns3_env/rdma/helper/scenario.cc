// SPDX-License-Identifier: GPL-2.0-or-later
#include "scenario.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace ns3::rdma
{

namespace
{

using Json = nlohmann::json;

/// One JSON object whose every key must be asked for.
class Section
{
  public:
    Section(const Json& json, std::string name)
        : m_json(json),
          m_name(std::move(name))
    {
        if (!json.is_object())
        {
            throw ScenarioError("'" + m_name + "' must be an object");
        }
    }

    bool Has(const std::string& key)
    {
        m_known.insert(key);
        return m_json.contains(key) && !m_json.at(key).is_null();
    }

    const Json& At(const std::string& key)
    {
        if (!Has(key))
        {
            throw ScenarioError("'" + Path(key) + "' is missing");
        }
        return m_json.at(key);
    }

    template <typename T>
    T Get(const std::string& key)
    {
        try
        {
            return At(key).get<T>();
        }
        catch (const Json::exception& e)
        {
            throw ScenarioError("'" + Path(key) + "': " + e.what());
        }
    }

    template <typename T>
    T Get(const std::string& key, T otherwise)
    {
        return Has(key) ? Get<T>(key) : otherwise;
    }

    /// A number in [low, high].
    template <typename T>
    T Within(const std::string& key, T low, T high)
    {
        const T value = Get<T>(key);
        if (!(value >= low && value <= high))
        {
            throw ScenarioError("'" + Path(key) + "' is " + At(key).dump() + ", must be in [" +
                                Json(low).dump() + ", " + Json(high).dump() + "]");
        }
        return value;
    }

    Section Sub(const std::string& key) { return {At(key), Path(key)}; }

    std::string Path(const std::string& key) const
    {
        return m_name.empty() ? key : m_name + "." + key;
    }

    /// \throws ScenarioError for a key that nobody asked for.
    void RefuseOthers() const
    {
        for (const auto& item : m_json.items())
        {
            if (!m_known.contains(item.key()))
            {
                throw ScenarioError("unknown key '" + Path(item.key()) + "'");
            }
        }
    }

  private:
    const Json& m_json;
    std::string m_name;
    std::set<std::string> m_known;
};

constexpr int64_t MAX_NS = 4'000'000'000'000; // an hour and more: no overflow in picoseconds
constexpr double MAX_RATE = 1e14;

void
ReadNodes(Section& root, Scenario& s)
{
    for (const auto& kind : root.Get<std::vector<std::string>>("nodes"))
    {
        if (kind != "host" && kind != "switch")
        {
            throw ScenarioError("'nodes' has '" + kind + "': a node is a 'host' or a 'switch'");
        }
        s.isSwitch.push_back(kind == "switch");
    }
    for (const auto& json : root.At("links"))
    {
        Section link(json, "links[" + std::to_string(s.links.size()) + "]");
        const auto last = static_cast<uint32_t>(s.isSwitch.size()) - 1;
        s.links.push_back({link.Within<uint32_t>("a", 0, last),
                           link.Within<uint32_t>("b", 0, last),
                           link.Within<double>("rate_bps", 1.0, MAX_RATE),
                           link.Within<int64_t>("delay_ns", 0, MAX_NS) * PS_PER_NS});
        link.RefuseOthers();
    }
}

void
ReadSwitch(Section section, Scenario& s)
{
    s.buffer.bufferBytes = section.Get<uint64_t>("buffer_bytes");
    s.buffer.pfc = section.Get<bool>("pfc");
    s.buffer.alphaShift = section.Within<uint32_t>("pfc_alpha_shift", 0, 30);
    s.buffer.reserveBytes = section.Get<uint32_t>("reserve_bytes");
    s.buffer.resumeOffsetBytes = section.Get<uint32_t>("resume_offset_bytes");
    s.buffer.headroomFrames = section.Within<uint32_t>("headroom_frames", 0, 1000);
    if (section.Has("ecn"))
    {
        Section ecn = section.Sub("ecn");
        s.ecn.enabled = true;
        s.ecn.kminBytes = ecn.Within<double>("kmin_bytes", 0.0, 1e12);
        s.ecn.kmaxBytes = ecn.Within<double>("kmax_bytes", s.ecn.kminBytes, 1e12);
        s.ecn.pmax = ecn.Within<double>("pmax", 0.0, 1.0);
        s.ecn.atRateBps = ecn.Within<double>("at_rate_bps", 1.0, MAX_RATE);
        ecn.RefuseOthers();
    }
    const auto counter = section.Get<std::string>("flow_counter");
    const Picos timeout = section.Within<int64_t>("flow_timeout_ns", 1, MAX_NS) * PS_PER_NS;
    if (counter == "timeout")
    {
        s.flowTimeout = timeout;
    }
    else if (counter != "exact")
    {
        throw ScenarioError("'switch.flow_counter' is '" + counter +
                            "', must be 'exact' or 'timeout'");
    }
    section.RefuseOthers();
}

void
ReadControllers(Section& root, Scenario& s)
{
    for (const auto& json : root.At("controllers"))
    {
        Section section(json, "controllers[" + std::to_string(s.controllers.size()) + "]");
        ControllerSpec spec{section.Get<std::string>("name"), {}};
        if (section.Has("attributes"))
        {
            for (const auto& item : section.At("attributes").items())
            {
                spec.attributes.emplace_back(item.key(),
                                             item.value().is_string()
                                                 ? item.value().get<std::string>()
                                                 : item.value().dump());
            }
        }
        section.RefuseOthers();
        s.controllers.push_back(std::move(spec));
    }
}

void
ReadClock(Section& root, Scenario& s)
{
    Section clock = root.Sub("clock");
    const auto name = clock.Get<std::string>("name");
    if (name == "per_flow_rtt")
    {
        s.clock.rttFraction = clock.Within<double>("rtt_fraction", 0.0, 1e6);
    }
    else if (name == "per_ack")
    {
        s.clock.rttFraction = 0.0;
    }
    else if (name == "synchronous")
    {
        s.clock.interval = clock.Within<int64_t>("interval_ns", 1, MAX_NS) * PS_PER_NS;
    }
    else
    {
        throw ScenarioError("'clock.name' is '" + name +
                            "', must be 'per_flow_rtt', 'per_ack' or 'synchronous'");
    }
    clock.RefuseOthers();
    const Picos quantum = root.Get<int64_t>("decision_quantum_ns", 0) * PS_PER_NS;
    if (name != "per_ack" || quantum > 0)
    {
        s.clock.quantum = quantum;
    }
}

void
ReadFlows(Section section, Scenario& s)
{
    const auto src = section.Get<std::vector<uint32_t>>("src");
    const auto dst = section.Get<std::vector<uint32_t>>("dst");
    const auto size = section.Get<std::vector<int64_t>>("size_bytes");
    const auto start = section.Get<std::vector<int64_t>>("start_ns");
    const auto controller = section.Get<std::vector<uint32_t>>("controller");
    const auto slot = section.Get<std::vector<int32_t>>("slot");
    section.RefuseOthers();
    const size_t n = src.size();
    if (n == 0)
    {
        throw ScenarioError("'flows' is empty: an episode needs at least one flow");
    }
    for (size_t other : {dst.size(), size.size(), start.size(), controller.size(), slot.size()})
    {
        if (other != n)
        {
            throw ScenarioError("'flows' has columns of different lengths");
        }
    }
    auto refuse = [](size_t i, const std::string& why)
    { throw ScenarioError("'flows' row " + std::to_string(i) + ": " + why); };
    for (size_t i = 0; i < n; ++i)
    {
        for (uint32_t node : {src[i], dst[i]})
        {
            if (node >= s.isSwitch.size() || s.isSwitch[node])
            {
                refuse(i, "node " + std::to_string(node) + " is no host");
            }
        }
        if (src[i] == dst[i])
        {
            refuse(i, "a flow from host " + std::to_string(src[i]) + " to itself");
        }
        if (size[i] <= 0)
        {
            refuse(i, "size_bytes is " + std::to_string(size[i]) + ", must be positive");
        }
        if (start[i] < 0 || start[i] > MAX_NS)
        {
            refuse(i,
                   "start_ns is " + std::to_string(start[i]) + ", must be in [0, " +
                       std::to_string(MAX_NS) + "]");
        }
        if (controller[i] >= s.controllers.size())
        {
            refuse(i,
                   "controller " + std::to_string(controller[i]) + " of " +
                       std::to_string(s.controllers.size()));
        }
        s.flows.push_back({{static_cast<uint32_t>(i),
                            src[i],
                            dst[i],
                            static_cast<uint64_t>(size[i]),
                            start[i] * PS_PER_NS},
                           controller[i],
                           slot[i]});
    }
}

void
ReadRecord(Section section, Scenario& s)
{
    s.recordQueues = section.Get<bool>("queues", true);
    s.recordWindows = section.Get<bool>("windows", false);
    s.recordEvents = section.Get<bool>("events", false);
    s.recordControllerState = section.Get<bool>("controller_state", false);
    s.recordControllerCounters = section.Get<bool>("controller_counters", false);
    s.queueSeriesInterval = section.Get<int64_t>("queue_series_ns", 0) * PS_PER_NS;
    PcapSpec pcap;
    if (section.Has("pcap_ports"))
    {
        pcap.ports = section.Get<std::vector<std::pair<uint32_t, uint32_t>>>("pcap_ports");
    }
    if (section.Has("pcap_snaplen"))
    {
        pcap.snapLength = section.Within<uint32_t>("pcap_snaplen", 1, PcapSpec::LONGEST_FRAME);
    }
    if (section.Has("pcap"))
    {
        pcap.prefix = section.Get<std::string>("pcap");
        s.pcap = std::move(pcap);
    }
    else if (pcap.ports)
    {
        throw ScenarioError("'record.pcap_ports' needs 'record.pcap', the prefix of the files");
    }
    section.RefuseOthers();
}

} // namespace

Scenario
Scenario::FromJson(const std::string& text)
{
    Json json;
    try
    {
        json = Json::parse(text);
    }
    catch (const Json::parse_error& e)
    {
        throw ScenarioError(std::string("the scenario is not JSON: ") + e.what());
    }
    Scenario s;
    Section root(json, "");
    s.seed = root.Within<uint64_t>("seed", 0, UINT64_MAX);
    s.timeLimit = root.Within<int64_t>("time_limit_ns", 1, MAX_NS) * PS_PER_NS;
    const auto timing = root.Get<std::string>("timing");
    if (timing != "exact" && timing != "published")
    {
        throw ScenarioError("'timing' is '" + timing + "', must be 'exact' or 'published'");
    }
    s.published = timing == "published";
    s.payloadBytes = root.Within<uint32_t>("payload_bytes", 1, 65000);
    if (root.Has("min_rate_bps"))
    {
        s.minRateBps = root.Within<double>("min_rate_bps", 1.0, MAX_RATE);
    }
    ReadNodes(root, s);
    ReadSwitch(root.Sub("switch"), s);
    if (root.Has("loss"))
    {
        Section loss = root.Sub("loss");
        s.lossProbability = loss.Within<double>("probability", 0.0, 1.0);
        loss.RefuseOthers();
    }
    if (const auto rto = root.Get<int64_t>("retransmission_timeout_ns", 0); rto > 0)
    {
        s.retransmissionTimeout = std::min(rto, MAX_NS) * PS_PER_NS;
    }
    ReadControllers(root, s);
    ReadClock(root, s);
    ReadFlows(root.Sub("flows"), s);
    if (root.Has("record"))
    {
        ReadRecord(root.Sub("record"), s);
    }
    root.RefuseOthers();
    return s;
}

} // namespace ns3::rdma
