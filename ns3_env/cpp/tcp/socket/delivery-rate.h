// SPDX-License-Identifier: GPL-2.0-or-later
// How fast data is delivered, seen from its sender, as ns-3 has it.
#pragma once

#include "ns3/nstime.h"
#include "ns3/tcp-rate-ops.h"
#include "ns3_env/cpp/contract/units.h"

#include <cstdint>

namespace ns3::env::tcp
{

/// Record, in a piece, of the instant at which it was sent.
struct SentStamp
{
    Picos lastSent{0};
    bool counts{false}; ///< not yet counted as delivered
    bool appLimited{false};
    uint64_t delivered{0};
    Picos deliveredTime{0};
    Picos firstSent{0};
};

/// Delivery rate of a connection (draft-cheng-iccrg-delivery-rate-estimation), in ns-3's records for its controllers.
class DeliveryRate
{
  public:
    using Connection = TcpRateOps::TcpRateConnection;
    using Sample = TcpRateOps::TcpRateSample;

    void OnSent(SentStamp& stamp, bool nothingInFlight, Picos now);
    /// A piece of `bytes` was acknowledged or SACKed.
    void OnDelivered(SentStamp& stamp, uint32_t bytes, Picos now);
    /// Notes that the application has no more data to send.
    void LimitByApplication(uint32_t inFlight);
    /// The sample of an ACK.
    const Sample& Take(uint32_t delivered, uint32_t lost, uint32_t inFlightBefore, Time leastRtt);

    uint64_t Delivered() const { return m_connection.m_delivered; }
    const Connection& Record() const { return m_connection; }

  private:
    Connection m_connection;
    Sample m_sample;
};

} // namespace ns3::env::tcp
