// SPDX-License-Identifier: GPL-2.0-or-later
// Round-trip times of segments by their ACKs, without those that were sent twice.
#include "round-trips.h"

#include "ns3_env/cpp/tcp/network/ns3-time.h"

#include <algorithm>

namespace ns3::env::tcp
{

namespace
{

// A simulated host's clock is exact; ns-3's is given in whole milliseconds.
constexpr Picos CLOCK = PS_PER_NS;

} // namespace

RoundTrips::RoundTrips(Picos initial)
    : m_estimator(CreateObject<RttMeanDeviation>())
{
    m_estimator->SetAttribute("InitialEstimation", TimeValue(ToTime(initial)));
    m_estimator->Reset();
}

void
RoundTrips::OnSentAgain(SequenceNumber32 first, uint32_t bytes)
{
    auto sent = std::partition_point(m_sent.begin(),
                                     m_sent.end(),
                                     [&](const Sent& s) { return s.first <= first; });
    while (sent != m_sent.begin() && std::prev(sent)->End() > first)
    {
        --sent; // the first that has the byte: one that grew may overlap the next
    }
    if (sent != m_sent.end() && sent->first <= first)
    {
        sent->again = true;
        sent->bytes = static_cast<uint32_t>(first + SequenceNumber32(bytes) - sent->first);
    }
}

RttOfAck
RoundTrips::OnAck(SequenceNumber32 ack, Picos now)
{
    m_lastSample = 0;
    if (m_sent.empty())
    {
        return {};
    }
    RttOfAck rtt;
    rtt.first = SampleOf(m_sent.front(), ack, now);
    Sent last = m_sent.front();
    while (!m_sent.empty() && m_sent.front().End() <= ack)
    {
        last = m_sent.front();
        m_sent.pop_front();
    }
    rtt.last = SampleOf(last, ack, now);
    m_lastSample = rtt.last;
    if (rtt.first != 0)
    {
        m_estimator->Measurement(ToTime(rtt.first));
    }
    return rtt;
}

Picos
RoundTrips::Timeout() const
{
    const Picos deviation = m_estimator->GetVariation().GetTimeStep();
    return m_estimator->GetEstimate().GetTimeStep() + std::max(CLOCK, 4 * deviation);
}

} // namespace ns3::env::tcp
