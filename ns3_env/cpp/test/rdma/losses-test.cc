// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of losses: in switches without PFC to the packet, on links by the port that sends.
#include "test-network.h"

#include "ns3/test.h"
#include "ns3_env/cpp/rdma/network/shared-buffer.h"
#include "ns3_env/cpp/rdma/published/rules.h"

namespace ns3::env::rdma::test
{

namespace
{

constexpr Picos NS = PS_PER_NS;
constexpr uint32_t PACKET = 1048; // on the wire, of fixed-window's flows

/// Without PFC every byte but others' reserves is for whoever comes first.
class CompleteSharingTest : public TestCase
{
  public:
    CompleteSharingTest()
        : TestCase("without PFC the whole pool is one port's, if no other wants it")
    {
    }

  private:
    void DoRun() override
    {
        SharedBufferConfig config;
        config.bufferBytes = 20'000;
        config.pfc = false;
        config.sharing = PoolSharing::Complete;
        SharedBuffer buffer(config);
        buffer.AddPort(0, 3);
        buffer.AddPort(0, 3);
        NS_TEST_ASSERT_MSG_EQ(buffer.CommittedBytes(), 2 * 4096, "no headroom");
        int packets = 0;
        for (; buffer.Admits(0, 1000); ++packets)
        {
            buffer.Add(0, 1000);
        }
        // Own reserve and pool: 20000 - 4096 = 15904 B, whatever alpha is.
        NS_TEST_ASSERT_MSG_EQ(packets, 15, "all but the other port's reserve");
        NS_TEST_ASSERT_MSG_EQ(buffer.ShouldPause(0), false, "no pause");
        NS_TEST_ASSERT_MSG_EQ(buffer.Admits(0, 904), true, "what is left of the pool");
        NS_TEST_ASSERT_MSG_EQ(buffer.Admits(1, 4096 + 904), true, "its reserve, and the same rest");
        NS_TEST_ASSERT_MSG_EQ(buffer.Admits(1, 4096 + 905), false, "a byte too many");
        for (; packets > 0; --packets)
        {
            buffer.Remove(0, 1000);
        }
        NS_TEST_ASSERT_MSG_EQ(buffer.UsedBytes(), 0, "all given back");
        NS_TEST_ASSERT_MSG_EQ(buffer.FreeBytes(), 20'000 - 2 * 4096, "to the pool as well");
    }
};

/// Who shares how is a rule of the network: the published simulator keeps its headroom without PFC.
class SharingRuleTest : public TestCase
{
  public:
    SharingRuleTest()
        : TestCase("PFC and the preset say how a pool is shared")
    {
    }

  private:
    void DoRun() override
    {
        const NetworkRules ours;
        const published::Rules publishedRules;
        const auto is = [&](const NetworkRules& rules, bool pfc, PoolSharing sharing)
        { NS_TEST_EXPECT_MSG_EQ((rules.GetPoolSharing(pfc) == sharing), true, "pfc " << pfc); };
        is(ours, true, PoolSharing::Thresholds);
        is(ours, false, PoolSharing::Complete);
        is(publishedRules, true, PoolSharing::Thresholds);
        is(publishedRules, false, PoolSharing::Thresholds);
    }
};

/// Bursts that meet before a link on which nothing moves: what does not fit is lost, packet for packet.
class OverfullTest : public TestCase
{
  public:
    OverfullTest(uint64_t bufferBytes, uint32_t reserveBytes)
        : TestCase("what does not fit is lost: " + std::to_string(bufferBytes) +
                   " B, reserves of " + std::to_string(reserveBytes)),
          m_bufferBytes(bufferBytes),
          m_reserveBytes(reserveBytes)
    {
    }

  private:
    static constexpr uint32_t SENDERS = 4;
    static constexpr uint32_t PACKETS = 50; // of each

    void DoRun() override
    {
        Scenario s = Dumbbell(SENDERS, 100e9);
        s.published = false;
        s.buffer.pfc = false;
        s.buffer.bufferBytes = m_bufferBytes;
        s.buffer.reserveBytes = m_reserveBytes;
        s.links[SENDERS].rateBps = 100e6; // a packet takes 84 us, longer than all of this
        s.timeLimit = 50'000 * NS;
        s.controllers[0].attributes = {{"Window", "1000000"}};
        for (uint32_t i = 0; i < SENDERS; ++i)
        {
            AddFlow(s, i, SENDERS, PACKETS * 1000);
        }
        TestNetwork net(std::move(s));
        net->Run();
        // One is on the link; the reserve of the port whose peer sends nothing stays empty.
        const uint64_t fit = 1 + (m_bufferBytes - m_reserveBytes) / PACKET;
        const SwitchPort& uplink = net.PortTo(SENDERS + 1, SENDERS + 2);
        const Losses& lost = uplink.Lost().By(LossCause::BufferFull);
        NS_TEST_ASSERT_MSG_EQ(lost.packets, SENDERS * PACKETS - fit, "lost");
        NS_TEST_ASSERT_MSG_EQ(lost.payloadBytes, 1000 * lost.packets, "payload");
        NS_TEST_ASSERT_MSG_EQ(uplink.Lost().By(LossCause::Link).packets, 0, "no other cause");
        NS_TEST_ASSERT_MSG_EQ(net->Context().droppedPackets, lost.packets, "nowhere else");
        NS_TEST_ASSERT_MSG_EQ(net->Context().pool.LiveCount(), fit, "the others are there");
    }

    uint64_t m_bufferBytes;
    uint32_t m_reserveBytes;
};

/// Whatever the buffer, flows finish, and no byte is unaccounted for.
class LossyIncastTest : public TestCase
{
  public:
    LossyIncastTest()
        : TestCase("an incast over a shallow buffer ends, losses at its bottleneck alone")
    {
    }

  private:
    void DoRun() override
    {
        Scenario s = Dumbbell(8, 100e9);
        s.published = false;
        s.buffer.pfc = false;
        s.buffer.bufferBytes = 100'000;
        s.controllers[0].attributes = {{"Window", "50000"}};
        for (uint32_t i = 0; i < 8; ++i)
        {
            AddFlow(s, i, 8, 200'000);
        }
        TestNetwork net(std::move(s));
        net->Run();
        NS_TEST_ASSERT_MSG_EQ(net->Unfinished(), 0, "every flow ends");
        NS_TEST_ASSERT_MSG_EQ(net->Context().pfcFrames, 0, "without a pause");
        uint64_t payload = 0;
        for (const Port* port : net->Ports())
        {
            const bool bottleneck = port == &net.PortTo(9, 10);
            const Losses& lost = port->Lost().By(LossCause::BufferFull);
            NS_TEST_ASSERT_MSG_EQ((lost.packets > 0), bottleneck, "at node " << port->NodeId());
            payload += lost.payloadBytes;
        }
        NS_TEST_ASSERT_MSG_EQ(net->Context().droppedPayload, payload, "the sum is the total");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(net->DeliveredPayload() + payload,
                                    net->TransmittedPayload(),
                                    "sent = received + lost + on the way");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(net->DeliveredPayload() + payload +
                                        1000 * net->Context().pool.LiveCount(),
                                    net->TransmittedPayload(),
                                    "sent = received + lost + on the way");
    }
};

/// What an injected fault takes counts at the port that sent it, a host's as well.
class LinkLossTest : public TestCase
{
  public:
    LinkLossTest()
        : TestCase("a packet lost on a link counts at its sender's port")
    {
    }

  private:
    bool Drops(const Packet& packet)
    {
        return packet.kind == PacketKind::Data && packet.sequence == 3000 && m_left-- > 0;
    }

    void DoRun() override
    {
        Scenario s = Dumbbell(1, 100e9);
        AddFlow(s, 0, 1, 50'000);
        TestNetwork net(std::move(s));
        net->Nics()[0]->SetDropFilter(MakeCallback(&LinkLossTest::Drops, this));
        net->Run();
        for (const Port* port : net->Ports())
        {
            const uint64_t lost = port->Lost().By(LossCause::Link).packets;
            NS_TEST_ASSERT_MSG_EQ(lost, (port->NodeId() == 0 ? 2 : 0), "node " << port->NodeId());
            NS_TEST_ASSERT_MSG_EQ(port->Lost().By(LossCause::BufferFull).packets, 0, "no other");
        }
    }

    int m_left{2};
};

class LossesTestSuite : public TestSuite
{
  public:
    LossesTestSuite()
        : TestSuite("rdma-losses", Type::UNIT)
    {
        AddTestCase(new CompleteSharingTest, Duration::QUICK);
        AddTestCase(new SharingRuleTest, Duration::QUICK);
        AddTestCase(new OverfullTest(60'000, 0), Duration::QUICK);
        AddTestCase(new OverfullTest(60'000, 4096), Duration::QUICK);
        AddTestCase(new OverfullTest(1090, 0), Duration::QUICK);
        AddTestCase(new LossyIncastTest, Duration::QUICK);
        AddTestCase(new LinkLossTest, Duration::QUICK);
    }
};

LossesTestSuite g_lossesTestSuite;

} // namespace

} // namespace ns3::env::rdma::test
