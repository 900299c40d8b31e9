// SPDX-License-Identifier: GPL-2.0-or-later
// Segments that a sender counts as lost, by SACKs, guesses and time-outs, and queries of them.
#include "scoreboard.h"

#include <algorithm>

namespace ns3::env::tcp
{

/// Marks pieces below the third SACKed one, counted down from the highest, as lost.
void
Scoreboard::LoseBelowSacked()
{
    size_t index = IndexFrom(m_highest);
    uint32_t sacked = 0;
    while (index > 0)
    {
        if (m_pieces[index].sacked)
        {
            if (++sacked == DUPLICATES)
            {
                break;
            }
            --index;
            continue;
        }
        const auto above = m_runs.upper_bound(m_pieces[index].first);
        if (above == m_runs.begin())
        {
            return;
        }
        index = IndexOf(std::prev(above)->second - 1); // there is nothing to count in the gap
    }
    if (sacked < DUPLICATES)
    {
        return;
    }
    const auto lose = [this](SentPiece& piece)
    {
        if (!piece.sacked && !piece.lost)
        {
            m_lost += piece.bytes;
            Edit(piece, [](SentPiece& p) { p.lost = true; });
        }
    };
    const SequenceNumber32 decided = m_pieces[index].first;
    while (--index > 0 && m_pieces[index].first >= m_decided)
    {
        lose(m_pieces[index]);
    }
    lose(m_pieces.front());
    m_decided = std::max(m_decided, decided);
}

bool
Scoreboard::IsLost(SequenceNumber32 first) const
{
    const size_t index = first < m_highest ? IndexOf(first) : m_pieces.size();
    return index < m_pieces.size() && m_pieces[index].first <= first && m_pieces[index].lost;
}

bool
Scoreboard::IsSentAgainUpTo(SequenceNumber32 end) const
{
    const size_t index = IndexOf(end - 1);
    return index < m_pieces.size() && m_pieces[index].End() == end && !m_pieces[index].sacked &&
           m_pieces[index].again;
}

// --- guesses -------------------------------------------------------------------------------------

void
Scoreboard::LoseHead()
{
    if (m_pieces.empty())
    {
        return;
    }
    SentPiece& head = m_pieces.front();
    if (head.sacked)
    {
        m_sacked -= head.bytes;
        ForgetRunsFrom(head.first);
    }
    m_again -= head.again ? head.bytes : 0;
    m_lost += head.lost ? 0 : head.bytes;
    Edit(head,
         [](SentPiece& p)
         {
             p.sacked = false;
             p.again = false;
             p.lost = true;
         });
}

void
Scoreboard::GuessSack()
{
    if (m_pieces.size() < 2)
    {
        return;
    }
    const auto run = m_runs.find(m_pieces[1].first);
    const size_t index = run == m_runs.end() ? 1 : IndexFrom(run->second);
    if (index < m_pieces.size())
    {
        MarkSacked(m_pieces[index]);
        m_sackSeen = true;
        m_highest = m_pieces[index].first;
    }
}

void
Scoreboard::ForgetGuesses()
{
    m_sacked = 0;
    m_runs.clear();
    for (SentPiece& piece : m_pieces)
    {
        Edit(piece, [](SentPiece& p) { p.sacked = false; });
    }
    m_decided = m_head;
    ResetHighest();
}

void
Scoreboard::LoseAll(bool forgetSacks)
{
    if (forgetSacks)
    {
        ForgetGuesses();
    }
    m_again = 0;
    m_lost = 0;
    for (SentPiece& piece : m_pieces)
    {
        Edit(piece,
             [](SentPiece& p)
             {
                 p.again = false;
                 p.lost = p.lost || !p.sacked;
             });
        m_lost += piece.lost ? piece.bytes : 0;
    }
}

} // namespace ns3::env::tcp
