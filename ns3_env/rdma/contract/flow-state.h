// SPDX-License-Identifier: GPL-2.0-or-later
// What does a controller know and steer? The facts of one flow's path, its counters, its window and rate.
#ifndef RDMA_FLOW_STATE_H
#define RDMA_FLOW_STATE_H

#include "units.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace ns3::rdma
{

/// One switch port of a flow's path, sender's side first.
struct PathHop
{
    double rateBps; ///< link rate of the egress port
    Picos
        inputDelay; ///< sender's NIC to this port's queue, without queueing: tau_1 (Zheng 2024, sec. 3.3)
    Picos
        feedbackDelay; ///< this port's queue, by the receiver, back to the sender, without queueing: tau_2
};

/// Facts of a flow's path; they never change while the flow lives.
struct PathFacts
{
    double hostRateBps{0}; ///< R_in,max: rate of the sender's link
    Picos baseRtt{0};      ///< RTT of one full packet alone on this path (Zheng 2024, eq. 2.2)
    double slowestBps{0};  ///< least link rate on the path that baseRtt is of
    Picos maxBaseRtt{0};   ///< the largest such RTT between any two hosts
    double bdpBytes{0};    ///< baseRtt * hostRateBps / 8 (Zheng 2024, eq. 2.3)
    double maxBdpBytes{0}; ///< maxBaseRtt * hostRateBps / 8
    double minRateBps{0};  ///< least pacing rate
    uint32_t payloadBytes{1000}; ///< of a full packet
    uint32_t packetBytes{1048};  ///< a full packet on the wire, telemetry included
    Rounding rounding{Rounding::Exact};
    std::vector<PathHop> hops;
};

/// A flow as its controller sees it: facts to read, two knobs to write.
class FlowState
{
  public:
    virtual ~FlowState() = default;

    const PathFacts& Path() const { return *m_path; }
    uint32_t Id() const { return m_id; }
    uint64_t SizeBytes() const { return m_sizeBytes; }
    Picos StartTime() const { return m_startTime; }
    /// Payload bytes handed to the wire (the next sequence number).
    uint64_t SentBytes() const { return m_sentBytes; }
    /// Payload bytes acknowledged in order.
    uint64_t AckedBytes() const { return m_ackedBytes; }
    uint64_t InflightBytes() const { return m_sentBytes - m_ackedBytes; }

    /// Pacing: no packet leaves before.
    Picos NextAvailable() const { return m_nextAvailable; }
    double WindowBytes() const { return m_windowBytes; }
    double RateBps() const { return m_rateBps; }

    static constexpr double NO_WINDOW = std::numeric_limits<double>::infinity();

    /// A flow may send while inflight < window. Below one packet it sends one packet every
    /// packet/window base RTTs (SYSTEMS.md, section 1), and waits for its ACK.
    void SetWindow(double bytes) { m_windowBytes = bytes; }
    /// The next packet may leave wire bytes * 8 / rate after the last one left.
    void SetRate(double bps) { m_rateBps = bps; }
    /// As SetRate, and the packet already waiting for its turn is moved by the difference (HPCC).
    void SetRateAndRepace(double bps)
    {
        m_nextAvailable += SerialisationTime(m_lastWireBytes, bps, m_path->rounding) -
                           SerialisationTime(m_lastWireBytes, m_rateBps, m_path->rounding);
        m_rateBps = bps;
        m_repaced = true;
    }
    /// Whether SetRateAndRepace was called since this was last asked.
    bool TakeRepaced() { return std::exchange(m_repaced, false); }

    /// The knobs were written outside a hook of the controller: the flow may now be free to send.
    virtual void KnobsWritten() {}

  protected:
    const PathFacts* m_path{nullptr};
    uint32_t m_id{0};
    uint32_t m_lastWireBytes{0};
    uint64_t m_sizeBytes{0};
    Picos m_startTime{0};
    uint64_t m_sentBytes{0};
    uint64_t m_ackedBytes{0};
    double m_windowBytes{NO_WINDOW};
    double m_rateBps{0};
    bool m_repaced{false};
    Picos m_nextAvailable{0}; ///< pacing: no packet leaves before
};

} // namespace ns3::rdma

#endif // RDMA_FLOW_STATE_H
