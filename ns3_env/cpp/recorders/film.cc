// SPDX-License-Identifier: GPL-2.0-or-later
// Film of a run: every port and every active flow, sampled together at a fixed interval.
#include "film.h"

#include "base64.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>

namespace ns3::env
{

static_assert(std::endian::native == std::endian::little, "rows are written as they lie in memory");

namespace
{

using Json = nlohmann::json;

uint32_t
Narrow(uint64_t value)
{
    return static_cast<uint32_t>(std::min<uint64_t>(value, std::numeric_limits<uint32_t>::max()));
}

} // namespace

Film::Film(Episode& episode, Picos interval)
    : m_episode(episode),
      m_interval(interval)
{
    if (!episode.GetScenario()
             .recordWindows) // TCP's flows know their windows only while they have a listener
    {
        episode.TraceWindowAndRate(Episode::WindowAndRateCallback([](const FlowState&, Picos) {}));
    }
    episode.Traces().begin.ConnectWithoutContext(MakeCallback(&Film::OnBegin, this));
    episode.Traces().created.ConnectWithoutContext(MakeCallback(&Film::OnCreated, this));
    episode.Traces().ended.ConnectWithoutContext(MakeCallback(&Film::Sample, this));
}

void
Film::OnBegin()
{
    Simulator::ScheduleNow(&Film::OnTick, this);
}

void
Film::OnTick()
{
    Sample();
    Simulator::Schedule(Time(m_interval), &Film::OnTick, this);
}

void
Film::Sample()
{
    if (!m_times.empty() && m_times.back() == NowPicos())
    {
        return;
    }
    m_times.push_back(NowPicos());
    m_episode.ForEachQueue([this](const EgressQueue& port) { SamplePort(port); });
    m_episode.ForEachHostPort([this](const EgressQueue& port) { SamplePort(port); });
    for (const Flow* flow : m_episode.LiveFlows())
    {
        SampleFlow(*flow);
    }
    SampleLosses();
}

void
Film::SamplePort(const EgressQueue& port)
{
    const auto [found, isNew] = m_states.try_emplace({port.node, port.port});
    PortState& last = found->second;
    if (isNew)
    {
        last.index = static_cast<uint32_t>(m_ports.size());
        m_ports.push_back(port);
    }
    const Picos paused = port.paused / PS_PER_NS;
    if (port.bytes == last.bytes && port.txBytes == last.txBytes && paused == last.paused)
    {
        return;
    }
    const auto sample = static_cast<uint32_t>(m_times.size() - 1);
    m_portRows.insert(m_portRows.end(),
                      {sample,
                       last.index,
                       Narrow(port.bytes),
                       Narrow(port.txBytes - last.txBytes),
                       Narrow(static_cast<uint64_t>(paused - last.paused))});
    last.bytes = port.bytes;
    last.txBytes = port.txBytes;
    last.paused = paused;
}

void
Film::SampleFlow(const Flow& flow)
{
    const RttSamples* rtts = flow.Rtts();
    const bool measured = rtts != nullptr && rtts->Count() > 0;
    m_flowRows.insert(m_flowRows.end(),
                      {static_cast<double>(m_times.size() - 1),
                       static_cast<double>(flow.Id()),
                       static_cast<double>(flow.AckedBytes()),
                       static_cast<double>(flow.SentBytes()),
                       flow.WindowBytes(),
                       flow.RateBps(),
                       measured ? static_cast<double>(rtts->Last()) / PS_PER_NS : -1.0});
}

void
Film::SampleLosses()
{
    for (const LossRecord& record : m_episode.LossRecords())
    {
        Losses& last = m_lost[{{record.node, record.port}, record.cause}];
        if (record.lost.packets > last.packets)
        {
            LossRecord since = record;
            since.lost.packets -= last.packets;
            since.lost.payloadBytes -= last.payloadBytes;
            m_losses.push_back({static_cast<uint32_t>(m_times.size() - 1), since});
        }
        last = record.lost;
    }
}

nlohmann::json
Film::ToJson() const
{
    Json ports{{"node", Json::array()},
               {"port", Json::array()},
               {"peer", Json::array()},
               {"rate_bps", Json::array()}};
    for (const EgressQueue& port : m_ports)
    {
        ports["node"].push_back(port.node);
        ports["port"].push_back(port.port);
        ports["peer"].push_back(port.peer);
        ports["rate_bps"].push_back(port.rateBps);
    }
    Json losses = Json::array();
    for (const LossRow& row : m_losses)
    {
        losses.push_back({row.sample,
                          row.lost.node,
                          row.lost.port,
                          NameOf(row.lost.cause),
                          row.lost.lost.packets});
    }
    Json routes = Json::array();
    for (const auto& [flow, route] : m_routes)
    {
        Json hops = Json::array();
        for (const auto& [node, port] : route)
        {
            hops.push_back({node, port});
        }
        routes.push_back({flow, std::move(hops)});
    }
    std::vector<double> times;
    times.reserve(m_times.size());
    for (const Picos time : m_times)
    {
        times.push_back(static_cast<double>(time) / PS_PER_NS);
    }
    return {{"interval_ns", static_cast<double>(m_interval) / PS_PER_NS},
            {"t_ns", std::move(times)},
            {"ports", std::move(ports)},
            {"port_rows", Base64(std::as_bytes(std::span(m_portRows)))},
            {"flow_rows", Base64(std::as_bytes(std::span(m_flowRows)))},
            {"losses", std::move(losses)},
            {"routes", std::move(routes)}};
}

} // namespace ns3::env
