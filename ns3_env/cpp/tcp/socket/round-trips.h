// SPDX-License-Identifier: GPL-2.0-or-later
// Round-trip times of segments by their ACKs, without those that were sent twice.
#pragma once

#include "ns3/rtt-estimator.h"
#include "ns3/sequence-number.h"
#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/tcp/network/ns3-time.h"

#include <algorithm>
#include <cstdint>
#include <deque>

namespace ns3::env::tcp
{

/// RTTs that an ACK measures; 0: none.
struct RttOfAck
{
    Picos first{0}; ///< of the first segment that it acknowledges
    Picos last{0};  ///< of the last one
};

/// RTTs of one connection (RFC 6298), measured as in ns-3.
class RoundTrips
{
  public:
    /// \param initial the estimate before the first measurement
    explicit RoundTrips(Picos initial)
        : m_estimator(CreateObject<RttMeanDeviation>())
    {
        m_estimator->SetAttribute("InitialEstimation", TimeValue(ToTime(initial)));
        m_estimator->Reset();
    }

    void OnSent(SequenceNumber32 first, uint32_t bytes, Picos now)
    {
        m_sent.push_back({first, bytes, now, false});
    }
    void OnSentAgain(SequenceNumber32 first, uint32_t bytes)
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

    /// Forgets all sent segments: a time-out.
    void Forget() { m_sent.clear(); }
    /// Adds the samples of an ACK to the estimate.
    RttOfAck OnAck(SequenceNumber32 ack, Picos now)
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

    void ForgetSample() { m_lastSample = 0; }

    /// The last sample; 0 if the last ACK gave none.
    Picos LastSample() const { return m_lastSample; }
    Time Estimate() const { return m_estimator->GetEstimate(); }
    /// Estimate and four deviations, the latter no less than a nanosecond.
    Picos Timeout() const
    {
        const Picos deviation = m_estimator->GetVariation().GetTimeStep();
        return m_estimator->GetEstimate().GetTimeStep() + std::max(CLOCK, 4 * deviation);
    }

  private:
    // A simulated host's clock is exact; ns-3's is given in whole milliseconds.
    static constexpr Picos CLOCK = PS_PER_NS;

    struct Sent
    {
        SequenceNumber32 first;
        uint32_t bytes;
        Picos time;
        bool again;

        SequenceNumber32 End() const { return first + SequenceNumber32(bytes); }
    };

    static Picos SampleOf(const Sent& sent, SequenceNumber32 ack, Picos now)
    {
        return ack >= sent.End() && !sent.again ? now - sent.time : 0;
    }

    Ptr<RttEstimator> m_estimator;
    std::deque<Sent> m_sent;
    Picos m_lastSample{0};
};

} // namespace ns3::env::tcp
