// SPDX-License-Identifier: GPL-2.0-or-later
// Observation of one flow by its agent: feedback of its ACKs since the last decision.
#pragma once

#include "ns3_env/cpp/channel/channel-layout.h"
#include "ns3_env/cpp/channel/observation-fields.h"
#include "ns3_env/cpp/contract/bottleneck-hop.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/engine/flow.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>

namespace ns3::env
{

/// Follows one flow's ACKs and writes its ObservationRecord at each decision.
class AgentObservation
{
  public:
    void OnAck(const AckSample& ack);
    /// An ACK whose packet carried no telemetry, though other packets do.
    void OnBareAck(const AckSample& ack);
    void OnNotification(const CongestionNotification& frame);

    /// The record at `now`; `lastAction` is the agent's own last one, and `rule` selects the hop of the state's fields.
    /// Starts a new interval.
    ObservationRecord Take(const Flow& flow, Picos now, double lastAction, Bottleneck rule);

    /// Makes the interval in progress the flow's first, as the last record preceded the first packet.
    void ForgetTaking() { m_since = -1; }

  private:
    struct Congestion
    {
        double queue{0};      ///< as a share of the hop's BDP
        double switchRate{0}; ///< of its bandwidth
        double rateBps{0};
        double flows{0};
    };

    Congestion MostCongested(const FlowState& flow) const;
    /// Minimum over hops of rate / flows, over the rate of the sender's link; 0 before the first record.
    double FairShare(const FlowState& flow) const;
    /// The share of retransmissions in the bytes sent since the last decision.
    double TakeRepeated(const Flow& flow);
    void WriteNotified(ObservationRecord& record, const PathFacts& path, Picos now) const;

    using HopRecords = std::array<IntRecord, MAX_INT_HOPS>;

    /// Selects the path: its records are only compared with earlier ones of that path.
    void ChangeWay(uint32_t way);

    HopRecords m_hops{};
    HopRecords m_hopsBefore{};                  ///< at the last decision
    uint32_t m_way{0};                          ///< path of both
    std::map<uint32_t, HopRecords> m_otherWays; ///< of each its m_hopsBefore
    Picos m_shorterBacklog{0};
    uint8_t m_hopCount{0};
    bool m_haveBefore{false};
    Picos m_rtt{0};
    uint64_t m_acks{0};
    uint64_t m_marks{0};
    uint64_t m_acked{0};
    std::optional<CongestionNotification> m_notified; ///< the last frame
    uint64_t m_notifications{0};

    // at the last decision
    Picos m_since{-1};
    uint64_t m_sent{0};
    uint64_t m_repeated{0};
    double m_rttBefore{0};
    double m_queueBefore{0};
    bool m_first{true};
};

} // namespace ns3::env
