// SPDX-License-Identifier: GPL-2.0-or-later
// NSCC controller, by the delay and the mark of each packet, for flows spread over many paths.
#pragma once

#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env::rdma
{

/// Network signalled congestion control after Ultra Ethernet 1.0 (sec. 3.6.13): a window, no pacing. A mark
/// without delay is one path's, which spraying evens out; delay without a mark is a queue that empties; both together
/// cut the window, once per round trip. If the network is far from the window, the window is set to the data that
/// arrived in a round trip (quick adaptation).
///
/// Left out: credits of the receiver, trimmed packets (switches here trim none), and the choice of paths, which is the switches'.
class Nscc : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    IntRequest GetIntRequest() const override { return {.wireBytes = 8}; } // the sender's timestamp
    EcnConfig GetEcnConfig() const override;
    void OnFlowStart(FlowState& flow) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;
    void OnNack(FlowState& flow, Picos) override { OnLoss(flow); }
    void OnTimeout(FlowState& flow, Picos) override { OnLoss(flow); }
    std::vector<std::pair<std::string, double>> GetCounters() const override;

    /// The average delay beyond the base RTT.
    double AverageDelay() const { return m_averageDelayNs * PS_PER_NS; }

  private:
    /// Payload that this ACK reports as arrived, in order or not.
    double Arrived(const PathFacts& path, const AckSample& ack);
    void Average(const PathFacts& path, double delay, Picos now);
    /// Returns whether it has decided on this ACK.
    bool AdaptQuickly(const FlowState& flow, bool marked, double delay, Picos now);
    void Increase(double bytes, double delay);
    void Decrease(const PathFacts& path, Picos now);
    void AddIncreases(const PathFacts& path, Picos now);
    void OnLoss(FlowState& flow);
    void Apply(FlowState& flow);

    double m_targetBaseRtts;  ///< attribute TargetDelay
    double m_maxBdps;         ///< attribute MaxWindow
    double m_proportional;    ///< attribute ProportionalIncrease
    double m_fair;            ///< attribute FairIncrease
    double m_fast;            ///< attribute FastIncrease
    double m_eta;             ///< attribute PeriodicIncrease
    double m_gamma;           ///< attribute Gamma
    double m_maxDecrease;     ///< attribute MaxDecrease
    double m_adaptTargets;    ///< attribute QuickAdaptDelay
    double m_adaptShare;      ///< attribute QuickAdaptShare
    uint32_t m_adjustPackets; ///< attribute AdjustPackets

    double m_target{0}; ///< of the delay, ps
    double m_largest{0};
    double m_payload{0};
    double m_scale{0}; ///< of this network's BDP to the specification's
    double m_window{0};
    TracedValue<double> m_averageDelayNs{0};
    Picos m_lastSample{0};

    double m_increase{0}; ///< byte times byte, not added yet
    double m_sinceAdjust{0};
    Picos m_lastAdjust{0};
    Picos m_lastDecrease{0};
    double m_clear{0}; ///< bytes in a row that met no queue
    bool m_fastIncrease{false};

    double m_achieved{0}; ///< bytes that arrived in this period of quick adaptation
    Picos m_periodEnd{0};
    bool m_lost{false};
    double m_ignore{0}; ///< bytes with marks caused by the previous window
    double m_early{0};  ///< bytes counted ahead of the acknowledged sequence

    uint64_t m_adaptations{0};
    uint64_t m_decreases{0};
};

} // namespace ns3::env::rdma
