// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of losses: in switches without PFC to the packet, on links by the port that sends.
#include "test-network.h"

#include "ns3_env/cpp/rdma/published/rules.h"
#include "ns3_env/cpp/rdma/switch/shared-buffer.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-losses");

/// Without PFC every byte outside other ports' reserves is first come, first served.
TEST("without PFC the whole pool is one port's, if no other wants it")
{
    SharedBufferConfig config;
    config.bufferBytes = 20'000;
    config.pfc = false;
    config.sharing = PoolSharing::Complete;
    SharedBuffer buffer(config);
    buffer.AddPort(0, 3);
    buffer.AddPort(0, 3);
    ASSERT_EQ(buffer.CommittedBytes(), 2 * 4096, "no headroom");
    int packets = 0;
    for (; buffer.Admits(0, 1000); ++packets)
    {
        buffer.Add(0, 1000);
    }
    // Own reserve and pool: 20000 - 4096 = 15904 B, whatever alpha is.
    ASSERT_EQ(packets, 15, "all but the other port's reserve");
    ASSERT_EQ(buffer.TakePause(0), false, "no pause");
    ASSERT(buffer.Admits(0, 904), "what is left of the pool");
    ASSERT(buffer.Admits(1, 4096 + 904), "its reserve, and the same rest");
    ASSERT_EQ(buffer.Admits(1, 4096 + 905), false, "a byte too many");
    for (; packets > 0; --packets)
    {
        buffer.Remove(0, 1000);
    }
    ASSERT_EQ(buffer.UsedBytes(), 0, "all given back");
    ASSERT_EQ(buffer.FreeBytes(), 20'000 - 2 * 4096, "to the pool as well");
}

/// Sharing is a rule of the network: the published simulator keeps its headroom without PFC.
TEST("PFC and the preset say how a pool is shared")
{
    for (const bool pfc : {true, false})
    {
        const auto ours = pfc ? PoolSharing::Thresholds : PoolSharing::Complete;
        EXPECT(NetworkRules().GetPoolSharing(pfc) == ours, "pfc " << pfc);
        const auto published = published::Rules().GetPoolSharing(pfc);
        EXPECT(published == PoolSharing::Thresholds, "published, pfc " << pfc);
    }
}

/// Bursts that meet at a blocked link: packets that do not fit are lost, one by one.
TEST("what does not fit is lost, packet for packet")
{
    constexpr uint32_t SENDERS = 4;
    constexpr uint32_t PACKETS = 50;
    for (const auto& [bufferBytes, reserveBytes] :
         {std::pair{60'000, 0}, {60'000, 4096}, {1090, 0}})
    {
        const Case about(Shown(bufferBytes) + " B, reserves of " + Shown(reserveBytes));
        Scenario s = Exact(SENDERS);
        s.buffer.pfc = false;
        s.buffer.bufferBytes = static_cast<uint64_t>(bufferBytes);
        s.buffer.reserveBytes = static_cast<uint32_t>(reserveBytes);
        s.links[SENDERS].rateBps = 100e6; // a packet lasts 84 us, longer than the test
        s.timeLimit = 50 * US;
        SetWindow(s, 1'000'000);
        AddIncast(s, SENDERS, PACKETS * 1000);
        TestNetwork net(std::move(s));
        net->Run();
        // One is on the link; the reserve of the port with an idle peer stays empty.
        const uint64_t fit = 1 + static_cast<uint64_t>(bufferBytes - reserveBytes) / PACKET_BYTES;
        const SwitchPort& uplink = net.PortTo(SENDERS + 1, SENDERS + 2);
        const Losses lost = uplink.Lost().By(LossCause::BufferFull);
        ASSERT_EQ(lost.packets, SENDERS * PACKETS - fit, "lost");
        ASSERT_EQ(lost.payloadBytes, 1000 * lost.packets, "payload");
        ASSERT_EQ(uplink.Lost().By(LossCause::Link).packets, 0, "no other cause");
        ASSERT_EQ(net->Context().droppedPackets, lost.packets, "nowhere else");
        ASSERT_EQ(net->Context().pool.LiveCount(), fit, "the others are there");
    }
}

/// Packets lost to an injected fault count at the port that sent them, a host's as well.
TEST("a packet lost on a link counts at its sender's port")
{
    int left{2};
    TestNetwork net(Exact(1, {{0, 1, 50'000}}));
    Drop(*net->Nics()[0],
         [&](const Packet& packet)
         { return packet.kind == PacketKind::Data && packet.sequence == 3000 && left-- > 0; });
    net->Run();
    for (const Port* port : net->Ports())
    {
        const uint64_t lost = port->Lost().By(LossCause::Link).packets;
        ASSERT_EQ(lost, port->NodeId() == 0 ? 2 : 0, "node " << port->NodeId());
        ASSERT_EQ(port->Lost().By(LossCause::BufferFull).packets, 0, "no other");
    }
}

} // namespace

} // namespace ns3::env::rdma::test
