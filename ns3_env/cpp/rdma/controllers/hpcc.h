// SPDX-License-Identifier: GPL-2.0-or-later
// HPCC controller, by the utilisation of the busiest hop on a flow's path (Li 2019).
#pragma once

#include "ns3/traced-value.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/rdma/telemetry/hop-history.h"

namespace ns3::env::rdma
{

/// High Precision Congestion Control (Li et al., SIGCOMM 2019) as the reference simulator has it
/// (docs/sources/published-simulator.md, "Controllers"): one rate for all hops, a reaction on every ACK, a reference rate that
/// commits once per window. The defaults are those of its published presets.
class Hpcc : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    IntRequest GetIntRequest() const override
    {
        return {.wireBytes = 42, .hopRecords = true, .quantised = true};
    }
    double GetWindowFloor(const FlowState& flow) const override
    {
        return WindowFor(flow.Path(), flow.Path().minRateBps);
    }
    void OnFlowStart(FlowState& flow) override;
    void OnAck(FlowState& flow, const AckSample& ack) override;

    /// Smoothed utilisation u of the busiest hop (1 before the first measurement).
    double Utilisation() const { return m_utilisation; }

  protected:
    /// A window ends when all bytes sent until now are acknowledged.
    void BeginWindow(const FlowState& flow) { m_lastUpdateSeq = flow.SentBytes(); }
    /// Sets rate and window by a utilisation that the caller has averaged.
    void ReactTo(FlowState& flow, double utilisation);

  private:
    /// MeasureInflight (Li 2019, Algorithm 1): updates u by an ACK's records; false if they give no measurement.
    bool MeasureInflight(const PathFacts& path, const AckSample& ack);
    /// Sets rate and window if `measure`, called only when it is time to react, updates u.
    template <class Measure>
    void React(FlowState& flow, const Measure& measure);
    double WindowFor(const PathFacts& path, double rateBps) const;

    double m_eta;              ///< attribute Eta
    uint32_t m_maxStage;       ///< attribute MaxStage
    double m_increaseFraction; ///< attribute AdditiveIncrease
    bool m_fastReact;          ///< attribute FastReact

    double m_increaseBps{0}; ///< of AdditiveIncrease, in whole bit/s
    TracedValue<double> m_utilisation{1.0};
    TracedValue<double> m_referenceRateBps{0.0};
    uint32_t m_incStage{0};
    uint64_t m_lastUpdateSeq{0}; ///< the reference rate commits when this byte is acknowledged
    HopHistory m_last;           ///< the first ACK only stores
};

} // namespace ns3::env::rdma
