// SPDX-License-Identifier: GPL-2.0-or-later
// Selective repeat (IRN, Mittal 2018): what a receiver stores, and which packets a sender retransmits.
#pragma once

#include "sequence-bits.h"

#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/events/now.h"

#include <cstdint>
#include <set>

namespace ns3::env::rdma
{

/// A sender's account of one flow, in packet numbers. A packet counts as lost if one sent more than `reorderPackets`
/// after it was acknowledged selectively. So does the first one at a timeout, and with the first answer to a packet that
/// left after the timeout, all packets that were in flight at it and are not acknowledged: late ones would have arrived
/// before. A recovery starts with the first packet that counts as lost, retransmits each such packet once, lowest first,
/// and ends when all is acknowledged that was sent before its last retransmission. A lost retransmission waits for the
/// timeout. A packet that a switch has trimmed is lost, and is sent again, each time that its header says so.
class SelectiveSender
{
  public:
    explicit SelectiveSender(uint32_t reorderPackets)
        : m_reorderPackets(reorderPackets)
    {
    }

    /// All below `acked` is acknowledged, of `sent` packets, by the answer to one that left at `leftAt`.
    void OnAcked(uint64_t acked, uint64_t sent, Picos leftAt);
    /// `number` is acknowledged, though there are gaps before it. Returns whether a recovery starts. After OnAcked().
    bool OnSelectivelyAcked(uint64_t number, uint64_t acked, uint64_t sent, Picos leftAt);
    /// `number` was trimmed on its way. Returns whether a recovery starts.
    bool OnTrimmed(uint64_t number, uint64_t acked, uint64_t sent);
    void OnTimeout(uint64_t acked, uint64_t sent, Picos now);

    bool HasLost() const { return m_lost != NONE; }
    /// The packet to send again, which counts as sent; of a flow that HasLost().
    uint64_t TakeLost(uint64_t sent);

    /// Packets beyond a gap that the receiver has reported.
    uint64_t SelectivelyAcked() const { return m_received.Count(); }
    /// Packets that are trimmed, and not sent again yet.
    uint64_t Trimmed() const { return m_trimmed.size(); }

  private:
    static constexpr uint64_t NONE = UINT64_MAX;

    /// Learns that a packet that left at `leftAt` has arrived.
    void Learn(Picos leftAt);
    /// Finds the lowest packet that is lost and was not sent again in this recovery.
    bool Look(uint64_t acked, uint64_t sent);

    SequenceBits m_received;      ///< selectively acknowledged
    std::set<uint64_t> m_trimmed; ///< and not sent again yet
    uint64_t m_silent{NONE};      ///< the lowest that is lost without being trimmed
    uint64_t m_lost{NONE};        ///< to be sent again next
    uint64_t m_repeatedTo{0}; ///< packets below were retransmitted in this recovery, or need not be
    uint64_t m_recoverTo{0};  ///< the recovery ends when all below is acknowledged
    uint64_t m_timedOutTo{0}; ///< packets below count as lost by a timeout of this recovery
    uint64_t m_inFlightTo{0}; ///< packets below were in flight at that timeout
    Picos m_timedOutAt{NEVER}; ///< NEVER once a packet that left later was answered
    uint32_t m_reorderPackets;
    bool m_recovering{false};
};

/// Packets of one flow that a receiver has beyond those in order, by number.
class SelectiveReceiver
{
  public:
    enum class Arrival : uint8_t
    {
        Expected,   ///< packets behind it may have arrived already
        OutOfOrder, ///< beyond a gap
        Duplicate,
    };

    /// Packet `number` has arrived, and `expected` was the first that is missing; moves it on.
    Arrival OnData(uint64_t number, uint64_t& expected);
    /// Reports whether packet `number` has arrived.
    bool Has(uint64_t number, uint64_t expected) const
    {
        return number < expected || m_here.FirstMissing(number) != number;
    }

  private:
    SequenceBits m_here;
};

} // namespace ns3::env::rdma
