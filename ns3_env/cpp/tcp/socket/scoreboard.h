// SPDX-License-Identifier: GPL-2.0-or-later
// A sender's segments and their state: SACKed, lost, retransmitted, counted as in ns-3.
#pragma once

#include "delivery-rate.h"

#include "ns3_env/cpp/tcp/network/segment.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>

namespace ns3::env::tcp
{

/// An unacknowledged piece of data that was sent as one.
struct SentPiece
{
    SequenceNumber32 first;
    uint32_t bytes{0};
    bool sacked{false};
    bool lost{false};
    bool again{false}; ///< retransmitted since it last counted as lost
    SentStamp stamp;

    SequenceNumber32 End() const { return first + SequenceNumber32(bytes); }
    /// Reports whether it is neither SACKed nor retransmitted.
    bool IsIdle() const { return !sacked && !again; }
    /// Reports whether it is lost and waits for retransmission.
    bool IsWaiting() const { return lost && IsIdle(); }
};

/// The send buffer of one connection (RFC 6675). It answers as ns-3's TcpTxBuffer does, to the byte, and none of its answers costs
/// time in proportion to the data in flight: pieces are found by bisection, SACKed ones are stored as runs, and the
/// search for the next range continues where the last one ended.
class Scoreboard
{
  public:
    /// Repeated ACKs, or SACKed pieces above, that tell of a loss.
    static constexpr uint32_t DUPLICATES = 3;

    explicit Scoreboard(uint32_t segmentBytes)
        : m_segmentBytes(segmentBytes)
    {
    }

    /// SACKs are guessed from repeated ACKs if the connection has none.
    void SetSack(bool enabled) { m_sackEnabled = enabled; }
    /// Sets the number of the first byte; call before anything is sent.
    void Begin(SequenceNumber32 first) { m_head = m_waitFrom = m_idleFrom = m_decided = first; }
    /// The application writes this number of bytes.
    void Add(uint32_t bytes) { m_size += bytes; }

    // --- Counts, bytes
    SequenceNumber32 Head() const { return m_head; } ///< the first that is not acknowledged
    SequenceNumber32 Tail() const { return m_head + SequenceNumber32(m_size); }
    uint32_t Size() const { return m_size; }
    uint32_t SizeFrom(SequenceNumber32 first) const
    {
        return Tail() >= first ? static_cast<uint32_t>(Tail() - first) : 0;
    }
    uint32_t SentBytes() const { return m_sent; } ///< unacknowledged bytes sent
    uint32_t Lost() const { return m_lost; }
    uint32_t SentAgain() const { return m_again; }
    uint32_t InFlight() const { return m_sent - m_sacked - m_lost + m_again; }

    bool IsLost(SequenceNumber32 first) const;
    /// Reports whether a piece that ends before `end` was sent again and not SACKed.
    bool IsSentAgainUpTo(SequenceNumber32 end) const;
    bool IsHeadSentAgain() const { return !m_pieces.empty() && m_pieces.front().again; }

    /// Range from a first number up to another one.
    struct Range
    {
        SequenceNumber32 first;
        SequenceNumber32 end;
    };

    /// Range to be sent next (RFC 6675, NextSeg); none if nothing may be sent.
    /// \param rescue if there is no lost and no new data, data not SACKed may be retransmitted (rule 3)
    std::optional<Range> Next(bool rescue, uint32_t receiverWindow);
    /// Notes that up to `most` bytes from `first` on are sent now; the piece is valid until the next change.
    SentPiece& Send(SequenceNumber32 first, uint32_t most);
    /// Everything before `ack` is acknowledged.
    void Acknowledge(SequenceNumber32 ack, DeliveryRate& rate);
    /// \returns bytes that are SACKed for the first time
    uint32_t Sack(std::span<const SackBlock> blocks, DeliveryRate& rate);

    // --- Guesses
    void LoseHead();
    /// Notes that one more unknown segment behind the head has arrived.
    void GuessSack();
    void ForgetGuesses();
    /// Marks all as lost after a time-out.
    void LoseAll(bool forgetSacks);

  private:
    size_t IndexFrom(SequenceNumber32 first) const;
    size_t IndexOf(SequenceNumber32 within) const;
    /// Makes `change`, and recounts the bytes that wait for retransmission.
    template <class Change>
    void Edit(SentPiece& piece, Change change);
    size_t Carve(size_t index, SequenceNumber32 first, uint32_t bytes);
    void Split(size_t index, uint32_t bytes);
    void MergeWithNext(size_t index);
    void MarkSacked(SentPiece& piece);
    void ForgetRunsFrom(SequenceNumber32 first);
    void LoseBelowSacked();
    void ResetHighest();

    uint32_t m_segmentBytes;
    bool m_sackEnabled{true};
    SequenceNumber32 m_head{0};
    uint32_t m_size{0}; ///< unacknowledged bytes, sent or not
    uint32_t m_sent{0};
    uint32_t m_sacked{0};
    uint32_t m_lost{0};
    uint32_t m_again{0};
    std::deque<SentPiece> m_pieces;
    std::map<SequenceNumber32, SequenceNumber32> m_runs; ///< of SACKed bytes, by their first
    bool m_sackSeen{false};
    SequenceNumber32 m_highest{0}; ///< first byte of the highest piece that was SACKed, or 0

    size_t m_waiting{0};            ///< pieces that wait to be sent again
    SequenceNumber32 m_waitFrom{0}; ///< no such piece starts before
    SequenceNumber32 m_idleFrom{0}; ///< no idle piece starts before
    SequenceNumber32 m_decided{0};  ///< every piece behind the head and before is SACKed or lost
};

template <class Change>
void
Scoreboard::Edit(SentPiece& piece, Change change)
{
    m_waiting -= piece.IsWaiting() ? 1 : 0;
    change(piece);
    if (piece.IsWaiting())
    {
        ++m_waiting;
        m_waitFrom = std::min(m_waitFrom, piece.first);
    }
    if (piece.IsIdle())
    {
        m_idleFrom = std::min(m_idleFrom, piece.first);
    }
}

} // namespace ns3::env::tcp
