// SPDX-License-Identifier: GPL-2.0-or-later
// Queue of an egress: a FIFO with a limit, which may mark, or ns-3's RED.
#pragma once

#include "segment.h"
#include "tcp-settings.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>

namespace ns3::env::tcp
{

/// Facts that a queue may depend on.
struct EgressFacts
{
    double rateBps{0};
    Picos delay{0};          ///< of the link
    double bdpBytes{0};      ///< of the port's rate and the longest base RTT of two hosts
    uint32_t packetBytes{0}; ///< of a full segment with its IP header
    int64_t stream{0};       ///< of random numbers
};

/// A number of packets, or of bytes of IP packets.
struct QueueSpan
{
    uint32_t amount{std::numeric_limits<uint32_t>::max()};
    bool inBytes{false};
};

/// Outcome of a packet's arrival.
struct Arrival
{
    bool taken{false};
    bool marked{false};
};

/// Packets in the order of arrival.
class PacketQueue
{
  public:
    PacketQueue() = default;
    virtual ~PacketQueue() = default;
    PacketQueue(PacketQueue&&) = delete;

    virtual Arrival Enqueue(Segment* segment) = 0;
    /// Removes the next segment; null if there is none.
    virtual Segment* Dequeue() = 0;
    /// Reports whether Dequeue() is also called on an empty queue, as soon as the port is free.
    virtual bool CountsIdleTime() const { return false; }
    virtual QueueSpan Limit() const = 0;

    uint32_t Packets() const { return m_packets; }
    uint64_t Bytes() const { return m_bytes; }

  protected:
    void Came(const Segment& segment)
    {
        ++m_packets;
        m_bytes += segment.ipBytes;
    }

    void Went(const Segment& segment)
    {
        --m_packets;
        m_bytes -= segment.ipBytes;
    }

  private:
    uint32_t m_packets{0};
    uint64_t m_bytes{0};
};

/// First in, first out. An ECN-capable packet is marked if it leaves the queue longer than the threshold; another (a
/// SYN, a pure ACK) is dropped only at the limit.
class Fifo final : public PacketQueue
{
  public:
    /// \param threshold infinite by default
    explicit Fifo(QueueSpan limit, QueueSpan threshold = {});

    Arrival Enqueue(Segment* segment) override;
    Segment* Dequeue() override;

    QueueSpan Limit() const override { return m_limit; }
    QueueSpan Threshold() const { return m_threshold; }

  private:
    bool IsExceeded(const QueueSpan& span, const Segment& segment) const;

    QueueSpan m_limit;
    QueueSpan m_threshold;
    Segment* m_first{nullptr};
    Segment* m_last{nullptr};
};

/// \throws ScenarioError if the queue has no room for a full packet, or RED's thresholds are out of order
std::unique_ptr<PacketQueue> MakeQueue(const QueueSettings& settings, const EgressFacts& facts);

/// Makes a queue that never drops.
std::unique_ptr<PacketQueue> MakeEndlessQueue();

} // namespace ns3::env::tcp
