// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of both ends' buffers: the answers of ns-3's, in no time that grows with the window.
#include "ns3/packet.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-rx-buffer.h"
#include "ns3/tcp-tx-buffer.h"
#include "ns3_env/cpp/tcp/socket/reassembly.h"
#include "ns3_env/cpp/tcp/socket/scoreboard.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <ctime>
#include <deque>
#include <limits>
#include <random>
#include <vector>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-scoreboard");

using env::test::Row;

constexpr uint32_t SEGMENT = 1000;
constexpr uint32_t WINDOW = 1 << 20;

/// The project's scoreboard and ns-3's buffer, with the same events.
class BothSenders
{
  public:
    explicit BothSenders(bool sack)
        : m_sack(sack)
    {
        m_own.SetSack(sack);
        m_own.Begin(SequenceNumber32(1));
        m_buffer->SetMaxBufferSize(WINDOW);
        m_buffer->SetSegmentSize(SEGMENT);
        m_buffer->SetSackEnabled(sack);
        m_buffer->SetDupAckThresh(Scoreboard::DUPLICATES);
        m_buffer->SetRWndCallback(Callback<uint32_t>([] { return WINDOW; }));
        m_buffer->SetHeadSequence(SequenceNumber32(1));
    }

    void Add(uint32_t bytes)
    {
        m_own.Add(bytes);
        m_buffer->Add(Create<Packet>(bytes));
    }

    /// Sends the next range, up to `most` bytes of it. \returns the bytes sent, nothing if there is no next range
    SackBlock SendNext(bool rescue, uint32_t most)
    {
        const auto next = m_own.Next(rescue, WINDOW);
        SequenceNumber32 first;
        SequenceNumber32 end;
        const bool any = m_buffer->NextSeg(&first, &end, rescue);
        EXPECT_EQ(next.has_value(), any, "whether something is next");
        if (!any || !next)
        {
            return {};
        }
        EXPECT_EQ(next->first, first, "the first byte that is next");
        EXPECT_EQ(next->end, end, "how much is next");
        most = std::min(most, static_cast<uint32_t>(end - first));
        const uint32_t bytes = m_own.Send(first, most).bytes;
        EXPECT_EQ(bytes, m_buffer->CopyFromSequence(most, first)->GetSeqSize(), "sent bytes");
        return {first, first + SequenceNumber32(bytes)};
    }

    void Sack(const std::vector<SackBlock>& blocks)
    {
        const uint32_t fresh = m_own.Sack(blocks, m_rate);
        EXPECT_EQ(fresh, m_buffer->Update({blocks.begin(), blocks.end()}), "SACKed bytes");
    }

    void Acknowledge(SequenceNumber32 ack)
    {
        m_own.Acknowledge(ack, m_rate);
        m_buffer->DiscardUpTo(ack);
    }

    void TimeOut()
    {
        m_own.LoseAll(!m_sack);
        if (!m_sack)
        {
            m_buffer->ResetRenoSack();
        }
        m_buffer->SetSentListLost(!m_sack);
    }

    void LoseHead()
    {
        m_own.LoseHead();
        m_buffer->MarkHeadAsLost();
    }

    void GuessSack()
    {
        m_own.GuessSack();
        m_buffer->AddRenoSack();
    }

    void Compare(SequenceNumber32 some) const
    {
        EXPECT_EQ(Row(m_own.Head().GetValue(), m_own.Tail().GetValue(), m_own.Size()),
                  Row(m_buffer->HeadSequence().GetValue(),
                      m_buffer->TailSequence().GetValue(),
                      m_buffer->Size()),
                  "the head, the tail, bytes");
        EXPECT_EQ(
            Row(m_own.Lost(), m_own.SentAgain(), m_own.InFlight()),
            Row(m_buffer->GetLost(), m_buffer->GetRetransmitsCount(), m_buffer->BytesInFlight()),
            "lost, sent again, in flight");
        EXPECT_EQ(
            Row(m_own.IsHeadSentAgain(), m_own.IsLost(some), m_own.IsSentAgainUpTo(some)),
            Row(m_buffer->IsHeadRetransmitted(),
                m_buffer->IsLost(some),
                m_buffer->IsRetransmittedDataAcked(some)),
            "whether the head was sent again, a byte is lost, what ends there was sent again");
    }

    const Scoreboard& Own() const { return m_own; }

  private:
    bool m_sack;
    Scoreboard m_own{SEGMENT};
    DeliveryRate m_rate;
    Ptr<TcpTxBuffer> m_buffer{CreateObject<TcpTxBuffer>(1)};
};

/// The project's reassembly and ns-3's buffer, with the same arrivals.
class BothReceivers
{
  public:
    BothReceivers()
    {
        m_buffer->SetMaxBufferSize(WINDOW);
        m_buffer->SetNextRxSequence(m_next);
    }

    void Take(const SackBlock& piece)
    {
        const auto bytes = static_cast<uint32_t>(piece.second - piece.first);
        TcpHeader header;
        header.SetSequenceNumber(piece.first);
        const bool isNew = m_own.Add(piece.first, bytes, m_next);
        EXPECT_EQ(isNew, m_buffer->Add(Create<Packet>(bytes), header), "whether it is new");
        m_buffer->Extract(std::numeric_limits<uint32_t>::max());
        EXPECT_EQ(m_next, m_buffer->NextRxSequence(), "the first byte that is missing");
        EXPECT_EQ(m_own.HasGap(), m_buffer->Size() > 0, "whether something waits");
        const auto blocks = m_buffer->GetSackList();
        EXPECT(std::equal(blocks.begin(), blocks.end(), Blocks().begin(), Blocks().end()),
               "blocks");
    }

    SequenceNumber32 Next() const { return m_next; }
    bool HasGap() const { return m_own.HasGap(); }
    const std::vector<SackBlock>& Blocks() const { return m_own.Blocks(); }

  private:
    SequenceNumber32 m_next{1};
    Reassembly m_own{WINDOW};
    Ptr<TcpRxBuffer> m_buffer{CreateObject<TcpRxBuffer>()};
};

/// A connection with segments of all sizes, some of them lost.
class LossyConnection
{
  public:
    LossyConnection(uint32_t seed, bool sack)
        : m_random(seed),
          m_sack(sack),
          m_sender(sack)
    {
    }

    void Step()
    {
        const uint32_t kind = Draw(20);
        if (kind < 2 && m_sender.Own().Size() + 16 * SEGMENT < WINDOW)
        {
            m_sender.Add(16 * SEGMENT - (Draw(4) == 0 ? 300 : 0));
        }
        else if (kind < 11)
        {
            const SackBlock sent = m_sender.SendNext(m_sack && Draw(2) == 0,
                                                     Draw(20) == 0 ? 1 + Draw(SEGMENT) : SEGMENT);
            if (sent.first != sent.second && Draw(10) > 0)
            {
                m_onTheWay.push_back(sent);
            }
        }
        else if (kind < 19 && !m_onTheWay.empty())
        {
            Arrive();
        }
        else if (kind == 19 && Draw(20) == 0 && m_sender.Own().Size() > 0)
        {
            m_sender.TimeOut();
            m_timedOut = true;
        }
        m_sender.Compare(m_sender.Own().Head() + SequenceNumber32(Draw(64) * SEGMENT));
    }

  private:
    uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(m_random() % below); }

    void Arrive()
    {
        const SequenceNumber32 before = m_receiver.Next();
        m_receiver.Take(m_onTheWay.front());
        m_onTheWay.pop_front();
        if (Draw(10) == 0)
        {
            return; // the ACK is lost
        }
        if (m_sack && m_receiver.HasGap())
        {
            m_sender.Sack(m_receiver.Blocks());
        }
        else if (!m_sack && m_receiver.Next() == before && !m_timedOut)
        {
            Guess();
        }
        m_sender.Acknowledge(m_receiver.Next());
        m_timedOut = m_timedOut && m_sender.Own().SentBytes() > 0;
    }

    /// Reacts as a sender does to repeated ACKs.
    void Guess()
    {
        if (m_sender.Own().InFlight() > 2 * SEGMENT && m_sender.Own().SentBytes() > 4 * SEGMENT)
        {
            m_sender.GuessSack();
        }
        else if (m_sender.Own().SentBytes() > 0)
        {
            m_sender.LoseHead();
        }
    }

    std::mt19937 m_random;
    bool m_sack;
    BothSenders m_sender;
    BothReceivers m_receiver;
    std::deque<SackBlock> m_onTheWay;
    bool m_timedOut{false};
};

TEST("whatever is sent, lost, SACKed and sent again, both ends answer as ns-3's buffers do")
{
    for (uint32_t seed = 1; seed <= 100; ++seed)
    {
        LossyConnection connection(seed, seed % 2 == 0);
        for (uint32_t step = 0; step < 1000; ++step)
        {
            connection.Step();
        }
    }
}

TEST("losses in a window of 40 MB take less than a second, each third segment")
{
    constexpr uint32_t SEGMENTS = 40'000;
    Scoreboard board(SEGMENT);
    DeliveryRate rate;
    board.Begin(SequenceNumber32(1));
    board.Add(2 * SEGMENTS * SEGMENT);
    const auto at = [](uint32_t segment) { return SequenceNumber32(1 + segment * SEGMENT); };
    const std::clock_t began = std::clock();
    for (uint32_t i = 0; i < SEGMENTS; ++i)
    {
        board.Send(board.Next(false, UINT32_MAX)->first, SEGMENT);
    }
    uint32_t again = 0;
    for (uint32_t i = 1; i + 2 < SEGMENTS; i += 3) // the other segments arrive
    {
        const std::vector<SackBlock> block{{at(i), at(i + 2)}};
        board.Sack(block, rate);
        for (int sent = 0; sent < 2; ++sent)
        {
            const auto next = board.Next(true, UINT32_MAX);
            again += next->first < at(SEGMENTS) ? 1 : 0;
            board.Send(next->first, SEGMENT);
        }
    }
    const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    EXPECT_GT(again, SEGMENTS / 3 - 10, "what was lost is sent again");
    EXPECT_LT(seconds, 1, "seconds");
}

} // namespace

} // namespace ns3::env::tcp::test
