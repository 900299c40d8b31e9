// SPDX-License-Identifier: GPL-2.0-or-later
// Packet as a pooled plain struct; real headers exist only in a pcap.
#pragma once

#include "ns3_env/cpp/contract/int-record.h"
#include "ns3_env/cpp/contract/units.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ns3::env::rdma
{

class WireFlow;
class SwitchPort;

/// Bytes of Ethernet, IPv4, UDP and RoCE headers of a data packet (docs/sources/published-simulator.md, "Bytes on the wire").
inline constexpr uint32_t DATA_HEADER_BYTES = 48;
/// Maximum of these headers with a controller's telemetry (HPCC's 42 B).
inline constexpr uint32_t MAX_HEADER_BYTES = DATA_HEADER_BYTES + 42;
/// The same of an ACK or NACK, before telemetry; frames are padded to MIN_FRAME_BYTES.
inline constexpr uint32_t ACK_HEADER_BYTES = 46;
inline constexpr uint32_t MIN_FRAME_BYTES = 60;
/// An ACK or NACK on the wire.
inline constexpr uint32_t
AckBytes(uint32_t telemetryBytes)
{
    return std::max(MIN_FRAME_BYTES, ACK_HEADER_BYTES + telemetryBytes);
}

/// A priority flow control frame.
inline constexpr uint32_t PFC_FRAME_BYTES = 43;
/// A congestion notification message: Ethernet's header, 24 B, and the first 64 B of the packet that it is about (IEEE
/// 802.1Q, 33.4).
inline constexpr uint32_t NOTIFICATION_BYTES = 14 + 24 + 64;

enum class PacketKind : uint8_t
{
    Data,
    Ack,
    Nack,
    Pause,        ///< PFC: stop sending data-class packets on this link
    Resume,       ///< PFC: resume
    Notification, ///< a switch's feedback to the source of a data packet, by the reverse path
    Trimmed,      ///< a data packet that a switch has cut to its header
    TrimNack,     ///< the answer to it; these three precede data at switches
};

/// Data that switches write into a data packet.
enum class Telemetry : uint8_t
{
    None,
    Exact,     ///< an IntRecord per hop
    Quantised, ///< the same, rounded to HPCC's header units
    OneByte,   ///< the largest utilisation of all hops (UtilisationMeter)
};

inline constexpr size_t CACHE_LINE = 64;

/// A hop reads and writes the first cache line; the second and later ones contain telemetry.
struct alignas(CACHE_LINE) Packet
{
    Packet* next;              ///< link of the queue that contains the packet
    WireFlow* flow;            ///< null for PFC frames
    SwitchPort* const* egress; ///< egress ports at the switches of its path: Data, Ack, Nack
    Picos arrival;             ///< its last one; on a link that of the packet behind it (Flight)
    Picos sentAt; ///< when the sender began to transmit the data packet; echoed by its ACK
    uint64_t
        sequence; ///< Data: offset of the first payload byte; Ack, Nack: next byte expected; PFC: class
    uint32_t payloadBytes;
    uint32_t wireBytes;
    uint16_t ingressPort; ///< ingress port of the switch that has it
    PacketKind kind;
    bool ecnCapable : 1; ///< Data: may be marked (RFC 3168, "ECT")
    bool ecnMarked : 1;
    bool last
        : 1; ///< carries the flow's last byte, or is sent again after that: switches forget the flow
    bool ackRequested : 1;   ///< Data, of flows whose ACKs are coalesced (RoCE "AckReq")
    bool tellsRemaining : 1; ///< Data: switches write `shorterBacklogNs`, if they write telemetry
    Telemetry telemetry;
    uint8_t
        hop; ///< switches passed in this direction; Notification: those still between it and the source
    uint8_t intHops; ///< records written
    union
    {
        std::array<IntRecord, MAX_INT_HOPS> intRecords;
        QueueFeedback feedback; ///< Notification
    };
    uint32_t way;     ///< path of the data if switches choose per packet (Steering); ACKs keep it
    uint16_t entropy; ///< that switches hash, of data and its ACK, if senders choose it (REPS)

    uint32_t
        shorterBacklogNs; ///< Data that reports its flow's remaining bytes, and its ACK: the largest of all hops

    uint64_t
        answered; ///< Nack under selective repeat, TrimNack: the sequence of the packet that it answers

    uint64_t
        placeBehind; ///< on a link under LinkEvents::PerFrame: number of the place of the arrival of the packet behind it

    std::span<const IntRecord> IntRecords() const { return {intRecords.data(), intHops}; }
};

static_assert(offsetof(Packet, intRecords) == CACHE_LINE);

/// Reports whether it is on its way to the flow's receiver.
inline bool
IsForReceiver(const Packet& packet)
{
    return packet.kind == PacketKind::Data || packet.kind == PacketKind::Trimmed;
}

/// Recycles packets; memory grows with packets in flight, never with packets sent.
class PacketPool
{
  public:
    Packet* Allocate()
    {
        ++m_live;
        Packet* p = m_free;
        if (p == nullptr) [[unlikely]]
        {
            return Fresh();
        }
        m_free = p->next;
        return p;
    }

    void Release(Packet* p)
    {
        p->next = m_free;
        m_free = p;
        --m_live;
    }

    /// Packets handed out and not yet returned.
    uint64_t LiveCount() const { return static_cast<uint64_t>(m_live); }
    /// The same for one of several pools: negative if more packets came from other pools.
    int64_t Balance() const { return m_live; }
    /// Moves `count` packets here from another pool, which has at least that number.
    void Take(PacketPool& other, int64_t count)
    {
        for (int64_t i = 0; i < count; ++i)
        {
            Release(other.Allocate());
        }
    }

  private:
    static constexpr size_t CHUNK = 64; ///< 16 kB

    Packet* Fresh()
    {
        if (m_fresh == CHUNK)
        {
            m_chunks.push_back(std::make_unique_for_overwrite<Packet[]>(CHUNK));
            m_fresh = 0;
        }
        return &m_chunks.back()[m_fresh++];
    }

    std::vector<std::unique_ptr<Packet[]>> m_chunks;
    size_t m_fresh{CHUNK}; ///< packets of the last chunk that were handed out before
    Packet* m_free{nullptr};
    int64_t m_live{0};
};

/// First in, first out, linked through the packets themselves.
class PacketFifo
{
  public:
    bool IsEmpty() const { return m_head == nullptr; }
    Packet* Front() const { return m_head; }

    void Push(Packet* p)
    {
        p->next = nullptr;
        if (m_head == nullptr)
        {
            m_head = p;
        }
        else
        {
            m_tail->next = p;
        }
        m_tail = p;
    }

    /// Inserts it before the first packet of this kind or a later one.
    void PushAhead(Packet* p, PacketKind kind)
    {
        Packet* before = nullptr;
        Packet* at = m_head;
        while (at != nullptr && at->kind < kind)
        {
            before = at;
            at = at->next;
        }
        if (at == nullptr)
        {
            Push(p);
            return;
        }
        p->next = at;
        (before == nullptr ? m_head : before->next) = p;
    }

    Packet* Pop()
    {
        Packet* p = m_head;
        if (p != nullptr)
        {
            m_head = p->next;
        }
        return p;
    }

  private:
    Packet* m_head{nullptr};
    Packet* m_tail{nullptr};
};

/// Packets on a link, in order. Each carries the arrival of the one behind it, which so is not touched before it arrives.
class Flight
{
  public:
    bool IsEmpty() const { return m_first == nullptr; }
    const Packet* Front() const { return m_first; }
    /// \returns the packet before it, or null
    Packet* Push(Packet* p, Picos arrival)
    {
        Packet* before = m_first == nullptr ? nullptr : m_last;
        p->next = nullptr;
        if (before == nullptr)
        {
            m_first = p;
        }
        else
        {
            before->next = p;
            before->arrival = arrival;
        }
        m_last = p;
        return before;
    }

    uint64_t Count() const
    {
        uint64_t count = 0;
        for (const Packet* p = m_first; p != nullptr; p = p->next)
        {
            ++count;
        }
        return count;
    }

    /// Removes the first, and prefetches the second.
    Packet* Pop()
    {
        Packet* p = m_first;
        m_first = p->next;
        __builtin_prefetch(m_first);
        return p;
    }

  private:
    Packet* m_first{nullptr};
    Packet* m_last{nullptr};
};

} // namespace ns3::env::rdma
