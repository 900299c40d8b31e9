// SPDX-License-Identifier: GPL-2.0-or-later
// How fast data is delivered, seen from its sender, as ns-3 has it.
#include "delivery-rate.h"

#include "ns3_env/cpp/tcp/network/ns3-time.h"

#include <algorithm>

namespace ns3::env::tcp
{

namespace
{

constexpr double BITS = 8;

/// Reports whether it is at least as fast as the record; bytes times picoseconds need more than 64 bits.
bool
IsFaster(const TcpRateOps::TcpRateSample& sample, const TcpRateOps::TcpRateConnection& record)
{
    __extension__ using Wide = __int128;
    return Wide{sample.m_delivered} * record.m_rateInterval.GetTimeStep() >=
           Wide{record.m_rateDelivered} * sample.m_interval.GetTimeStep();
}

} // namespace

void
DeliveryRate::OnSent(SentStamp& stamp, bool nothingInFlight, Picos now)
{
    if (nothingInFlight)
    {
        m_connection.m_firstSentTime = ToTime(now);
        m_connection.m_deliveredTime = ToTime(now);
    }
    stamp.counts = true;
    stamp.firstSent = m_connection.m_firstSentTime.GetTimeStep();
    stamp.deliveredTime = m_connection.m_deliveredTime.GetTimeStep();
    stamp.delivered = m_connection.m_delivered;
    stamp.appLimited = m_connection.m_appLimited != 0;
}

void
DeliveryRate::OnDelivered(SentStamp& stamp, uint32_t bytes, Picos now)
{
    if (!stamp.counts)
    {
        return;
    }
    stamp.counts = false;
    m_connection.m_delivered += bytes;
    m_connection.m_deliveredTime = ToTime(now);
    m_connection.m_txItemDelivered = static_cast<uint32_t>(stamp.delivered);
    if (m_sample.m_priorDelivered == 0 || stamp.delivered > m_sample.m_priorDelivered)
    {
        m_sample.m_priorDelivered = static_cast<uint32_t>(stamp.delivered);
        m_sample.m_priorTime = ToTime(stamp.deliveredTime);
        m_sample.m_isAppLimited = stamp.appLimited;
        m_sample.m_ackElapsed = ToTime(now - stamp.deliveredTime);
        m_sample.m_sendElapsed = ToTime(stamp.lastSent - stamp.firstSent);
        m_connection.m_firstSentTime = ToTime(stamp.lastSent);
    }
}

void
DeliveryRate::LimitByApplication(uint32_t inFlight)
{
    m_connection.m_appLimited =
        std::max(static_cast<uint32_t>(m_connection.m_delivered + inFlight), 1U);
}

const DeliveryRate::Sample&
DeliveryRate::Take(uint32_t delivered, uint32_t lost, uint32_t inFlightBefore, Time leastRtt)
{
    if (m_connection.m_appLimited != 0 && m_connection.m_delivered > m_connection.m_appLimited)
    {
        m_connection.m_appLimited = 0;
    }
    m_sample.m_ackedSacked = delivered;
    m_sample.m_bytesLoss = lost;
    m_sample.m_priorInFlight = inFlightBefore;
    if (m_sample.m_priorTime.IsZero()) // no piece with a time was delivered
    {
        m_sample.m_delivered = -1;
        m_sample.m_interval = Time(0);
        return m_sample;
    }
    m_sample.m_interval = std::max(m_sample.m_sendElapsed, m_sample.m_ackElapsed);
    m_sample.m_delivered =
        static_cast<int32_t>(m_connection.m_delivered - m_sample.m_priorDelivered);
    if (m_sample.m_interval < leastRtt) // shorter than is possible
    {
        m_sample.m_interval = Time(0);
        m_sample.m_priorTime = Time(0);
        return m_sample;
    }
    if (!m_sample.m_isAppLimited || IsFaster(m_sample, m_connection))
    {
        m_connection.m_rateDelivered = m_sample.m_delivered;
        m_connection.m_rateInterval = m_sample.m_interval;
        m_connection.m_rateAppLimited = m_sample.m_isAppLimited;
        m_sample.m_deliveryRate =
            DataRate(m_sample.m_delivered * BITS / m_sample.m_interval.GetSeconds());
    }
    return m_sample;
}

} // namespace ns3::env::tcp
