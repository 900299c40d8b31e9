// SPDX-License-Identifier: GPL-2.0-or-later
// HPCC controller, by the utilisation of the busiest hop on a flow's path (Li 2019).
#include "hpcc.h"

#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>
#include <cmath>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Hpcc);

namespace
{

/// The whole part of a figure from 0 to 2^63.
uint64_t
Whole(double figure)
{
    return static_cast<uint64_t>(static_cast<int64_t>(figure));
}

} // namespace

TypeId
Hpcc::GetTypeId()
{
    static TypeId tid = Declaration<Hpcc>("rdma::hpcc")
                            .Number("Eta",
                                    "Target utilisation of the busiest hop.",
                                    &Hpcc::m_eta,
                                    {0.95, 0.01, 1.0})
                            .Number("MaxStage",
                                    "Additive steps below the target before a multiplicative one "
                                    "(0 in the reference presets, 5 in the paper).",
                                    &Hpcc::m_maxStage,
                                    {0, 0, 1'000'000})
                            .Number("AdditiveIncrease",
                                    "Rate added per update, as a fraction of the host's link rate "
                                    "(40 Mb/s at 100 Gb/s).",
                                    &Hpcc::m_increaseFraction,
                                    {4e-4, 0.0, 1.0})
                            .Flag("FastReact",
                                  "React to every ACK; otherwise once per window.",
                                  &Hpcc::m_fastReact,
                                  true)
                            .State("Utilisation",
                                   "u, smoothed utilisation of the busiest hop.",
                                   &Hpcc::m_utilisation)
                            .State("ReferenceRateBps",
                                   "The rate that commits once per window.",
                                   &Hpcc::m_referenceRateBps);
    return tid;
}

double
Hpcc::WindowFor(const PathFacts& path, double rateBps) const
{
    // W = maxBDP * rate / line rate, integer (docs/sources/published-simulator.md, "Sender"). Below one payload the reference
    // keeps one packet in flight, as a window of one payload does; its rate paces it.
    const uint64_t line = Whole(path.hostRateBps);
    uint64_t product = 0;
    const bool wraps = __builtin_mul_overflow(Whole(path.maxBdpBytes), Whole(rateBps), &product);
    uint64_t bytes = product / line;
    if (wraps && !path.windowsWrap) [[unlikely]]
    {
        __extension__ using Wide = unsigned __int128;
        bytes = static_cast<uint64_t>(Wide{Whole(path.maxBdpBytes)} * Whole(rateBps) / line);
    }
    return static_cast<double>(std::max<uint64_t>(bytes, path.payloadBytes));
}

void
Hpcc::OnFlowStart(FlowState& flow)
{
    m_referenceRateBps.Set(flow.Path().hostRateBps);
    m_increaseBps = std::round(m_increaseFraction * flow.Path().hostRateBps);
    flow.SetWindow(WindowFor(flow.Path(), m_referenceRateBps));
}

bool
Hpcc::MeasureInflight(const PathFacts& path, const AckSample& ack)
{
    const double baseRttNs = static_cast<double>(path.maxBaseRtt) / PS_PER_NS;
    double maxUtilisation = 0.0; // U
    double intervalNs = 0.0;     // tau of that hop
    bool measured = false;
    for (size_t i = 0; i < m_last.Count(); ++i)
    {
        const IntRecord& hop = ack.hops[i];
        const IntRecord& last = m_last[i];
        const int64_t tauNs = hop.timeNs - last.timeNs;
        // A reordered, repeated or empty record is no measurement.
        if (tauNs <= 0 || hop.rateBps == 0)
        {
            continue;
        }
        measured = true;
        const double rate = static_cast<double>(static_cast<int64_t>(hop.rateBps));
        const auto txBytes = static_cast<int64_t>(hop.txBytes - last.txBytes);
        const double txRate =
            static_cast<double>(txBytes) * 8.0 / (static_cast<double>(tauNs) * 1e-9);
        // u = txRate / B + min(q, q') * (nicRate / B) / maxBDP (docs/sources/published-simulator.md, "Controllers")
        const auto queueBytes = std::min(hop.queueBytes, last.queueBytes);
        double u = txRate / rate;
        if (queueBytes > 0) // rarely, and two divisions
        {
            u += queueBytes * path.hostRateBps / rate / path.maxBdpBytes;
        }
        if (u > maxUtilisation)
        {
            maxUtilisation = u;
            intervalNs = static_cast<double>(tauNs);
        }
    }
    if (!measured)
    {
        return false;
    }
    m_last.Store(ack);
    intervalNs = std::min(intervalNs, baseRttNs);
    m_utilisation.Set(
        (m_utilisation.Get() * (baseRttNs - intervalNs) + maxUtilisation * intervalNs) / baseRttNs);
    return true;
}

template <class Measure>
[[gnu::always_inline]] inline void
Hpcc::React(FlowState& flow, const Measure& measure)
{
    const PathFacts& path = flow.Path();
    const bool commits = flow.AckedBytes() > m_lastUpdateSeq;
    if (!commits && !m_fastReact)
    {
        return;
    }
    if (measure())
    {
        const double maxC = m_utilisation.Get() / m_eta;
        const bool multiplicative = maxC >= 1.0 || m_incStage >= m_maxStage;
        const double factor = multiplicative ? maxC : 1.0;
        // The reference counts rates in whole bits per second. An idle path (u = 0) allows any rate, clamped to
        // line rate.
        const double most = path.hostRateBps + 1;
        const uint64_t divided = Whole(std::min(m_referenceRateBps.Get() / factor, most));
        const double target = static_cast<double>(static_cast<int64_t>(divided)) + m_increaseBps;
        const double rate = std::min(std::max(target, path.minRateBps), path.hostRateBps);
        if (commits)
        {
            m_referenceRateBps.Set(rate);
            m_incStage = multiplicative ? 0 : m_incStage + 1;
        }
        flow.SetRateAndRepace(rate);
        flow.SetWindow(WindowFor(path, rate));
    }
    if (commits)
    {
        m_lastUpdateSeq = std::max(m_lastUpdateSeq, flow.SentBytes());
    }
}

[[gnu::flatten]] void // inlined as if React() were called only here
Hpcc::OnAck(FlowState& flow, const AckSample& ack)
{
    if (ack.hops.empty())
    {
        return;
    }
    if (!m_last.Matches(ack))
    {
        m_last.Store(ack);
        BeginWindow(flow);
        return;
    }
    React(flow, [&]() { return MeasureInflight(flow.Path(), ack); });
}

void
Hpcc::ReactTo(FlowState& flow, double utilisation)
{
    React(flow,
          [&]()
          {
              m_utilisation.Set(utilisation);
              return true;
          });
}

} // namespace ns3::env::rdma
