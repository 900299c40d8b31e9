// SPDX-License-Identifier: GPL-2.0-or-later
// Streams of constant rate in a fluid: they get their share of links before any flow.
#include "fluid-streams.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3::env
{

FluidStreams::FluidStreams(const Scenario& scenario,
                           FluidLinks links,
                           std::vector<FluidRoute> routes,
                           uint32_t packetBytes)
    : m_links(std::move(links)),
      m_left(m_links.Rates()),
      m_payloadShare(static_cast<double>(scenario.payloadBytes) / packetBytes)
{
    for (size_t i = 0; i < routes.size(); ++i)
    {
        m_streams.push_back({&scenario.streams[i], std::move(routes[i])});
    }
}

void
FluidStreams::Schedule(const std::function<void()>& changed)
{
    const auto step = [this, changed]
    {
        Share();
        changed();
    };
    m_links.Schedule(step);
    for (const Stream& stream : m_streams)
    {
        Simulator::Schedule(Time(stream.entry->flow.start), step);
        if (stream.entry->stop != NEVER)
        {
            Simulator::Schedule(Time(stream.entry->stop), step);
        }
    }
}

void
FluidStreams::Share()
{
    const Picos now = NowPicos();
    const std::vector<double>& rates = m_links.Rates();
    std::vector<double> offered(rates.size(), 0);
    for (Stream& stream : m_streams)
    {
        stream.bits = BitsOf(stream);
        const bool on = stream.entry->flow.start <= now && now < stream.entry->stop;
        stream.rateBps = on ? stream.entry->rateBps : 0;
        for (const uint32_t link : stream.links)
        {
            offered[link] += stream.rateBps;
        }
    }
    m_since = now;
    m_left = rates;
    for (Stream& stream : m_streams)
    {
        double part = 1;
        for (const uint32_t link : stream.links)
        {
            part = std::min(part, rates[link] / std::max(offered[link], 1.0));
        }
        stream.rateBps *= part;
        for (const uint32_t link : stream.links)
        {
            m_left[link] = std::max(m_left[link] - stream.rateBps, 0.0);
        }
    }
}

StreamCounts
FluidStreams::Of(size_t stream) const
{
    const double bytes = BitsOf(m_streams[stream]) / 8 * m_payloadShare;
    const auto whole = static_cast<uint64_t>(std::llround(bytes));
    return {whole, whole, 0};
}

uint64_t
FluidStreams::Payload() const
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < m_streams.size(); ++i)
    {
        bytes += Of(i).sent;
    }
    return bytes;
}

void
FluidStreams::AddCarried(std::vector<double>& bytes) const
{
    for (const Stream& stream : m_streams)
    {
        for (const uint32_t link : stream.links)
        {
            bytes[link] += BitsOf(stream) / 8;
        }
    }
}

} // namespace ns3::env
