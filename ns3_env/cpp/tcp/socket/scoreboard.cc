// SPDX-License-Identifier: GPL-2.0-or-later
// A sender's segments and their state: SACKed, lost, retransmitted, counted as in ns-3.
#include "scoreboard.h"

#include "ns3/abort.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>

namespace ns3::env::tcp
{

// --- pieces --------------------------------------------------------------------------------------

/// Index of the first piece that starts at `first` or later.
size_t
Scoreboard::IndexFrom(SequenceNumber32 first) const
{
    const auto piece = std::partition_point(m_pieces.begin(),
                                            m_pieces.end(),
                                            [&](const SentPiece& p) { return p.first < first; });
    return static_cast<size_t>(piece - m_pieces.begin());
}

/// Index of the piece with the byte `within`, or the number of pieces.
size_t
Scoreboard::IndexOf(SequenceNumber32 within) const
{
    const auto piece = std::partition_point(m_pieces.begin(),
                                            m_pieces.end(),
                                            [&](const SentPiece& p) { return p.End() <= within; });
    return static_cast<size_t>(piece - m_pieces.begin());
}

/// Splits the piece in two, the first of `bytes`. Its delivery record stays with the second.
void
Scoreboard::Split(size_t index, uint32_t bytes)
{
    SentPiece front = m_pieces[index];
    front.bytes = bytes;
    front.stamp = SentStamp{.lastSent = front.stamp.lastSent};
    m_pieces[index].first += bytes;
    m_pieces[index].bytes -= bytes;
    m_waiting += front.IsWaiting() ? 1 : 0;
    m_pieces.insert(m_pieces.begin() + static_cast<std::ptrdiff_t>(index), front);
}

/// Merges two pieces that are both lost or both not lost, and not SACKed.
void
Scoreboard::MergeWithNext(size_t index)
{
    SentPiece& next = m_pieces[index + 1];
    SentPiece& piece = m_pieces[index];
    NS_ABORT_MSG_IF(piece.sacked != next.sacked || piece.lost != next.lost,
                    "pieces of different state cannot be sent as one");
    if (piece.again != next.again)
    {
        SentPiece& sentAgain = piece.again ? piece : next;
        m_again -= sentAgain.bytes;
        Edit(sentAgain, [](SentPiece& p) { p.again = false; });
    }
    m_waiting -= next.IsWaiting() ? 1 : 0;
    piece.bytes += next.bytes;
    piece.stamp.lastSent = std::max(piece.stamp.lastSent, next.stamp.lastSent);
    m_pieces.erase(m_pieces.begin() + static_cast<std::ptrdiff_t>(index + 1));
}

/// Splits off the bytes from `first` on, which is in the piece at `index`, into a separate piece, or fewer if no more
/// were sent. \returns its index
size_t
Scoreboard::Carve(size_t index, SequenceNumber32 first, uint32_t bytes)
{
    if (m_pieces[index].first < first)
    {
        Split(index, static_cast<uint32_t>(first - m_pieces[index].first));
        ++index;
    }
    while (m_pieces[index].bytes < bytes && index + 1 < m_pieces.size())
    {
        MergeWithNext(index);
    }
    if (m_pieces[index].bytes > bytes)
    {
        Split(index, bytes);
    }
    return index;
}

// --- sending -------------------------------------------------------------------------------------

SentPiece&
Scoreboard::Send(SequenceNumber32 first, uint32_t most)
{
    uint32_t bytes = std::min(most, SizeFrom(first));
    const SequenceNumber32 end = m_head + SequenceNumber32(m_sent);
    NS_ABORT_MSG_IF(bytes == 0 || first < m_head || first > end, "these bytes cannot be sent");
    if (first == end)
    {
        m_pieces.push_back({.first = first, .bytes = bytes, .stamp = {.lastSent = NowPicos()}});
        m_sent += bytes;
        return m_pieces.back();
    }
    bytes = std::min(bytes, static_cast<uint32_t>(end - first)); // new data is sent by itself
    const size_t within = IndexOf(first);
    const SentPiece& old = m_pieces[within];
    if (old.first == first)
    {
        const bool joins = within + 1 < m_pieces.size() && !m_pieces[within + 1].sacked &&
                           m_pieces[within + 1].lost == old.lost;
        bytes = std::min(bytes, old.bytes + (joins ? m_pieces[within + 1].bytes : 0));
    }
    SentPiece& piece = m_pieces[Carve(within, first, bytes)];
    if (!piece.again)
    {
        m_again += piece.bytes;
        Edit(piece, [](SentPiece& p) { p.again = true; });
    }
    piece.stamp.lastSent = NowPicos();
    return piece;
}

std::optional<Scoreboard::Range>
Scoreboard::Next(bool rescue, uint32_t receiverWindow)
{
    const auto mayGoAgain = [this](const SentPiece& piece)
    { return !m_sackSeen || piece.first < m_highest; };

    const auto segment = [this](SequenceNumber32 first) -> Range
    { return {first, first + SequenceNumber32(m_segmentBytes)}; };

    if (m_waiting > 0)
    {
        size_t index = IndexFrom(m_waitFrom);
        while (!m_pieces[index].IsWaiting())
        {
            ++index;
        }
        m_waitFrom = m_pieces[index].first;
        if (mayGoAgain(m_pieces[index]))
        {
            return segment(m_waitFrom);
        }
    }
    const SequenceNumber32 end = m_head + SequenceNumber32(m_sent);
    if (m_size > m_sent)
    {
        if (m_sent >= receiverWindow)
        {
            return {};
        }
        return Range{end,
                     end + SequenceNumber32(std::min(m_segmentBytes, receiverWindow - m_sent))};
    }
    if (rescue)
    {
        size_t index = IndexFrom(m_idleFrom);
        while (index < m_pieces.size() && !m_pieces[index].IsIdle())
        {
            ++index;
        }
        m_idleFrom = index < m_pieces.size() ? m_pieces[index].first : end;
        if (index < m_pieces.size() && mayGoAgain(m_pieces[index]))
        {
            return segment(m_idleFrom);
        }
    }
    return {};
}

// --- acknowledged --------------------------------------------------------------------------------

void
Scoreboard::Acknowledge(SequenceNumber32 ack, DeliveryRate& rate)
{
    if (m_head >= ack)
    {
        return;
    }
    while (!m_pieces.empty() && m_head < ack)
    {
        SentPiece& piece = m_pieces.front();
        const uint32_t bytes = std::min(piece.bytes, static_cast<uint32_t>(ack - m_head));
        m_size -= bytes;
        m_sent -= bytes;
        m_head += bytes;
        m_sacked -= piece.sacked ? bytes : 0;
        m_again -= piece.again ? bytes : 0;
        m_lost -= piece.lost ? bytes : 0;
        if (bytes < piece.bytes)
        {
            piece.first += bytes;
            piece.bytes -= bytes;
            break;
        }
        m_waiting -= piece.IsWaiting() ? 1 : 0;
        rate.OnDelivered(piece.stamp, piece.bytes, NowPicos());
        m_pieces.pop_front();
    }
    if (m_size == 0)
    {
        m_head = ack;
    }
    m_waitFrom = std::max(m_waitFrom, m_head);
    m_idleFrom = std::max(m_idleFrom, m_head);
    m_decided = std::max(m_decided, m_head);
    while (!m_runs.empty() && m_runs.begin()->first < m_head)
    {
        const SequenceNumber32 end = m_runs.begin()->second;
        m_runs.erase(m_runs.begin());
        if (end > m_head)
        {
            m_runs.emplace(m_head, end);
        }
    }
    if (!m_pieces.empty() && m_pieces.front().sacked) // the guess was wrong: the head was not there
    {
        SentPiece& head = m_pieces.front();
        m_sacked -= head.bytes;
        Edit(head, [](SentPiece& p) { p.sacked = false; });
        ForgetRunsFrom(head.first);
        GuessSack();
        LoseHead();
    }
    if (m_highest <= m_head)
    {
        ResetHighest();
    }
}

void
Scoreboard::ResetHighest()
{
    m_sackSeen = false;
    m_highest = SequenceNumber32(0);
}

void
Scoreboard::MarkSacked(SentPiece& piece)
{
    m_sacked += piece.bytes;
    Edit(piece, [](SentPiece& p) { p.sacked = true; });
    SequenceNumber32 first = piece.first;
    SequenceNumber32 end = piece.End();
    auto after = m_runs.lower_bound(first);
    if (after != m_runs.end() && after->first == end)
    {
        end = after->second;
        after = m_runs.erase(after);
    }
    if (after != m_runs.begin() && std::prev(after)->second == first)
    {
        std::prev(after)->second = end;
        return;
    }
    m_runs.emplace_hint(after, first, end);
}

/// Removes the head from the run that starts with it.
void
Scoreboard::ForgetRunsFrom(SequenceNumber32 first)
{
    const auto run = m_runs.find(first);
    if (run == m_runs.end())
    {
        return;
    }
    const SequenceNumber32 end = run->second;
    m_runs.erase(run);
    if (m_pieces.front().End() < end)
    {
        m_runs.emplace(m_pieces.front().End(), end);
    }
}

uint32_t
Scoreboard::Sack(std::span<const SackBlock> blocks, DeliveryRate& rate)
{
    uint32_t fresh = 0;
    for (const auto& [first, end] : blocks)
    {
        if (m_head + SequenceNumber32(m_sent) < first)
        {
            return fresh;
        }
        size_t index = IndexFrom(std::max(first, m_head));
        while (index < m_pieces.size() && m_pieces[index].End() <= end)
        {
            SentPiece& piece = m_pieces[index];
            if (piece.sacked)
            {
                const auto run = std::prev(m_runs.upper_bound(piece.first));
                index = IndexFrom(run->second);
                continue;
            }
            m_lost -= piece.lost ? piece.bytes : 0;
            Edit(piece, [](SentPiece& p) { p.lost = false; });
            MarkSacked(piece);
            fresh += piece.bytes;
            if (!m_sackSeen || m_highest <= piece.End())
            {
                m_sackSeen = true;
                m_highest = piece.first;
            }
            rate.OnDelivered(piece.stamp, piece.bytes, NowPicos());
            ++index;
        }
    }
    if (fresh > 0)
    {
        LoseBelowSacked();
    }
    return fresh;
}

} // namespace ns3::env::tcp
