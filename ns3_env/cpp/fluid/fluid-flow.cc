// SPDX-License-Identifier: GPL-2.0-or-later
// A flow of fluid: a size that drains through its path at its assigned rate.
#include "fluid-flow.h"

#include "ns3_env/cpp/engine/constant-rate.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace ns3::env
{

namespace
{

constexpr double SAME_RATE =
    1e-12; ///< rates that differ by less, of one another, differ by rounding

double
SlowestBps(const Hops& path)
{
    double slowest = std::numeric_limits<double>::max();
    for (const auto& [node, link] : path)
    {
        slowest = std::min(slowest, link->rateBps);
    }
    return slowest;
}

/// Time of an ACK on an idle return path, over the same links.
Picos
AckTime(const Hops& path)
{
    constexpr double ACK_BYTES = 60; // RDMA's; TCP's are some bytes longer
    Picos time = 0;
    for (const auto& [node, link] : path)
    {
        const double transmission = ACK_BYTES * 8 / link->rateBps * PS_PER_SECOND;
        time += link->delay + static_cast<Picos>(std::llround(transmission));
    }
    return time;
}

/// Time from when a packet has left the link of this hop to its arrival at the path's end.
Picos
TimeBehind(const Hops& path, size_t hop, uint32_t packetBytes)
{
    Picos time = path[hop].second->delay;
    for (const auto& [node, link] : std::span(path).subspan(hop + 1))
    {
        const double transmission = packetBytes * 8.0 / link->rateBps * PS_PER_SECOND;
        time += link->delay + static_cast<Picos>(std::llround(transmission));
    }
    return time;
}

} // namespace

FluidFlow::FluidFlow(const FlowSpec& spec, FluidPath path, FluidRoute links, size_t changing)
    : m_facts(std::move(path.facts)),
      m_links(std::move(links)),
      m_controller(CreateObject<Uncontrolled>()),
      m_since(spec.start)
{
    m_path = &m_facts;
    m_id = spec.id;
    m_sizeBytes = spec.sizeBytes;
    m_startTime = spec.start;
    m_pacing.SetPath(m_facts, 0);
    if (!IsEndless())
    {
        SetStandalone(path.standalone);
        const double alone = static_cast<double>(m_sizeBytes) / SpeedAt(SlowestBps(path.hops));
        m_lag = path.standalone - static_cast<Picos>(std::llround(std::min(alone, LONGEST_PS)));
        if (changing < path.hops.size())
        {
            const Picos behind = TimeBehind(path.hops, changing, m_facts.packetBytes);
            m_lead = std::max<Picos>(m_lag - behind - AckTime(path.hops), 0);
            m_lag -= m_lead;
        }
        m_wayBack = std::min(AckTime(path.hops), m_lag);
    }
}

double
FluidFlow::PassedBy(Picos now) const
{
    const double passed = m_passed + Speed() * static_cast<double>(now - m_since);
    return std::min(passed, static_cast<double>(m_sizeBytes));
}

double
FluidFlow::LeftAt(Picos now) const
{
    return IsEndless() ? std::numeric_limits<double>::infinity()
                       : static_cast<double>(m_sizeBytes) - PassedBy(now);
}

void
FluidFlow::Allocate(double bps, Picos now)
{
    if (std::abs(bps - RateBps()) <= SAME_RATE * bps)
    {
        return;
    }
    m_passed = PassedBy(now);
    m_since = now;
    SetRate(bps);
    m_throughAt = NEVER;
    if (bps > 0 && !IsEndless())
    {
        const double wait = LeftAt(now) / Speed();
        m_throughAt = wait < LONGEST_PS ? now + static_cast<Picos>(std::llround(wait)) : NEVER;
    }
}

void
FluidFlow::StandAt(double passed, Picos now)
{
    m_passed = passed;
    m_since = now;
    m_throughAt = NEVER;
    SetRate(0);
    m_sentBytes = m_ackedBytes = ReceivedBytes();
}

void
FluidFlow::Abort()
{
    const Picos now = NowPicos();
    StandAt(PassedBy(now), now);
}

void
FluidFlow::Arrive()
{
    m_awaiting->OnDelivered(*this);
}

void
FluidFlow::Finish()
{
    m_end = NowPicos();
    ReportFinished();
}

} // namespace ns3::env
