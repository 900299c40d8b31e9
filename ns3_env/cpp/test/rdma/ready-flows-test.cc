// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of a host's flows: turns, the fewest bytes left, window, pacing and their reports.
#include "test-network.h"

#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/contract/pacing.h"
#include "ns3_env/cpp/engine/constant-rate.h"
#include "ns3_env/cpp/rdma/host/ready-flows.h"
#include "ns3_env/cpp/rdma/host/shortest-flows.h"

#include <algorithm>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-ready-flows");

/// The same flows in a plain list, searched linearly.
class PlainList
{
  public:
    void Add(QueuePair& flow) { m_flows.push_back(&flow); }

    void Remove(QueuePair& flow)
    {
        const auto at = std::find(m_flows.begin(), m_flows.end(), &flow);
        m_next -= at - m_flows.begin() < static_cast<ptrdiff_t>(m_next) ? 1 : 0;
        m_flows.erase(at);
    }

    QueuePair* TakeTurn(Picos now)
    {
        for (size_t i = 0; i < m_flows.size(); ++i)
        {
            const size_t first = m_next < m_flows.size() ? m_next : 0;
            const size_t place = (first + i) % m_flows.size();
            if (m_flows[place]->ReadyAt() <= now)
            {
                m_next = place + 1;
                return m_flows[place];
            }
        }
        return nullptr;
    }

    QueuePair* Shortest(Picos now) const
    {
        const auto key = [](const QueuePair* x)
        { return std::tuple(x->RemainingFrom(x->SentBytes()), x->NextAvailable()); };
        QueuePair* best = nullptr;
        for (QueuePair* flow : m_flows)
        {
            const bool ready = flow->ReadyAt() <= now;
            best = ready && (best == nullptr || key(flow) < key(best)) ? flow : best;
        }
        return best;
    }

    Picos NextReady() const
    {
        Picos next = NEVER;
        for (const QueuePair* flow : m_flows)
        {
            next = std::min(next, flow->ReadyAt());
        }
        return next;
    }

    const std::vector<QueuePair*>& Flows() const { return m_flows; }

  private:
    std::vector<QueuePair*> m_flows;
    size_t m_next{0};
};

/// Flows come and go, up to `most` at a time; windows close and open, and packets wait for their times.
template <class Flows, class Compare>
void
PlayAtRandom(size_t most, const Compare& compare)
{
    constexpr int STEPS = 20'000;
    std::mt19937 random(static_cast<uint32_t>(most));
    std::vector<std::unique_ptr<QueuePair>> all;
    Flows flows;
    PlainList plain;
    bool grows = true;
    Picos now = 0;
    for (uint32_t step = 0; step < STEPS; ++step)
    {
        now += random() % 1000;
        const auto& live = plain.Flows();
        grows = live.size() >= most ? false : live.empty() ? true : grows;
        if (live.empty() || random() % 4 == 0)
        {
            if (grows || live.empty())
            {
                all.push_back(std::make_unique<QueuePair>(
                    FlowSpec{.id = step, .sizeBytes = 1000 * (1 + random() % 8)},
                    DumbbellFacts(1048),
                    CreateObject<Uncontrolled>()));
                plain.Add(*all.back());
                flows.Add(*all.back());
            }
            else
            {
                QueuePair& gone = *live[random() % live.size()];
                plain.Remove(gone);
                flows.Remove(gone);
            }
            continue;
        }
        QueuePair& flow = *live[random() % live.size()];
        flow.WindowAndRate().SetWindow(random() % 3 == 0 ? 0 : Pacing::NO_WINDOW);
        flow.WindowAndRate().HoldUntil(now + random() % 2000);
        flows.OnChange(flow);
        compare(flows, plain, now);
    }
}

TEST("flows take the same turns whether they are few or many")
{
    size_t wrong = 0;
    const auto compare = [&](ReadyFlows& flows, PlainList& plain, Picos now)
    {
        wrong += flows.NextReady() != plain.NextReady() ? 1 : 0;
        wrong += flows.TakeTurn(now) != plain.TakeTurn(now) ? 1 : 0;
    };
    for (const size_t most : {3, 40, 200})
    {
        PlayAtRandom<ReadyFlows>(most, compare);
        EXPECT_EQ(wrong, 0, "of up to " << most);
    }
}

TEST("the flow with the least bytes left is found among few and many")
{
    size_t wrong = 0;
    const auto compare = [&](ShortestFlows& flows, const PlainList& plain, Picos now)
    {
        wrong += flows.First(now) != plain.Shortest(now) ? 1 : 0;
        wrong += std::max(flows.NextReady(now), now) != std::max(plain.NextReady(), now) ? 1 : 0;
    };
    for (const size_t most : {3, 200})
    {
        PlayAtRandom<ShortestFlows>(most, compare);
        EXPECT_EQ(wrong, 0, "of up to " << most);
    }
}

/// Packets of 1048 B on the wire and 1000 B of payload; 100 Gb/s, base RTT 6240 ns.
TEST("window and clock both have to let a packet go")
{
    PathFacts facts = DumbbellFacts(1048);
    facts.rounding = Rounding::Exact;
    Pacing pacing;
    pacing.SetPath(facts, 100e9);
    pacing.HoldUntil(10 * NS);
    EXPECT_EQ(pacing.ReadyAt(0), 10 * NS, "at the start");
    pacing.OnSent(1048, 10 * NS);
    EXPECT_EQ(pacing.ReadyAt(1000), 10 * NS + 83'840, "1048 B at 100 Gb/s later");
    pacing.SetRateAndRepace(50e9);
    EXPECT_EQ(pacing.ReadyAt(1000), 10 * NS + 167'680, "moved by the difference");
    EXPECT(pacing.TakeRepaced(), "the waiting packet was moved");
    EXPECT_EQ(pacing.TakeRepaced(), false, "reported once");
    pacing.SetRate(100e9);
    EXPECT_EQ(pacing.ReadyAt(1000), 10 * NS + 167'680, "from the next packet on");
    pacing.SetWindow(1000);
    EXPECT_EQ(pacing.ReadyAt(1000), NEVER, "a packet fills a window of one");
    EXPECT_EQ(pacing.PacedUntil(1000), 10 * NS + 167'680, "for the window alone");
    pacing.SetWindow(1001);
    EXPECT_EQ(pacing.ReadyAt(1000), 10 * NS + 167'680, "overshoots by a packet");
}

TEST("a window below one packet is one packet in so many base RTTs")
{
    const PathFacts facts = DumbbellFacts(1048);
    Pacing pacing;
    pacing.SetPath(facts, 100e9);
    pacing.SetWindow(262);
    EXPECT_EQ(pacing.ReadyAt(0), 0, "the first packet waits for nothing");
    pacing.OnSent(1048, 0);
    EXPECT_EQ(pacing.ReadyAt(1000), NEVER, "its ACK has to come first");
    EXPECT_EQ(pacing.ReadyAt(0), 4 * 6240 * NS, "four base RTTs for a quarter");
    pacing.SetWindow(WindowOfOnePacketPer(facts, 0.5, 20'000 * NS));
    EXPECT_NEAR(pacing.ReadyAt(0), 40'000 * NS, 1, "rtt / packets");
    EXPECT_NEAR(WindowOfOnePacketPer(facts, 0.5, 1), 524, 1e-9, "no RTT is less");
    EXPECT_LT(WindowOfOnePacketPer(facts, 0.99, 1), 1000, "always below a payload");
}

/// A change of window or rate is reported once, however often they were written.
TEST("a change of window or rate is reported once, one at a timeout included")
{
    Pacing pacing;
    EXPECT(pacing.TakeChange(), "the flow starts");
    EXPECT_EQ(pacing.TakeChange(), false, "nothing since");
    pacing.SetWindow(1000);
    pacing.SetWindow(Pacing::NO_WINDOW);
    EXPECT_EQ(pacing.TakeChange(), false, "it stands where it stood");
    pacing.SetRate(1e9);
    EXPECT(pacing.TakeChange(), "a rate");

    // A link that loses everything: Swift halves its window at each timeout.
    Scenario s = Exact(1, {{0, 1, 100'000}}, "swift");
    s.lossProbability = 1.0;
    s.retransmissionTimeout = 100'000 * NS;
    s.timeLimit = 150'000 * NS;
    TestNetwork net(std::move(s));
    std::vector<double> windows;
    net->Nics()[0]->TraceConnectWithoutContext(
        "WindowAndRate",
        Callback<void, const FlowState&, Picos>([&](const FlowState& flow, Picos)
                                                { windows.push_back(flow.WindowBytes()); }));
    net->Run();
    ASSERT_EQ(windows.size(), 2, "the start and the timeout");
    EXPECT_EQ(windows[1], windows[0] / 2, "max_mdf");
}

} // namespace

} // namespace ns3::env::rdma::test
