// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of packet trimming: headers go ahead, and each trimmed packet is sent again once.
#include "ns3_env/cpp/contract/traffic-class.h"
#include "ns3_env/cpp/rdma/recovery/selective-repeat.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <algorithm>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-trimming");

constexpr Picos PACKET = PACKET_BYTES * 80; // at 100 Gb/s
constexpr Picos HEADER = 60 * 80;           // also an ACK, and the answer to a trimmed packet

/// An incast of flows without windows into a buffer; reserves keep room for ACKs.
Scenario
Incast(uint32_t senders, uint64_t packets, uint64_t bufferBytes, uint32_t reserveBytes = 4096)
{
    Scenario s = Exact(senders);
    s.buffer.pfc = false;
    s.buffer.reserveBytes = reserveBytes;
    s.buffer.bufferBytes = bufferBytes;
    s.selectiveRepeat = SelectiveRepeatConfig{.bdpCap = {}};
    s.trimming = true;
    AddIncast(s, senders, packets * 1000);
    return s;
}

/// Packets that this port has trimmed.
uint64_t
Trimmed(const SwitchPort& port)
{
    return port.Lost().By(LossCause::Trimmed).packets;
}

/// Three packets meet where there is room for one on the link and one behind it. The third one's header waits for the
/// first packet twice, at either switch, and its answer returns without waiting.
TEST("a trimmed packet costs the way of its header, of its answer, and its own")
{
    Played net(Incast(3, 1, 1500, 0));
    const Picos header = PACKET + US + 2 * PACKET + HEADER + 2 * US; // there
    const Picos answer = 3 * (HEADER + US);
    const Picos again = 3 * (PACKET + US) + 3 * (HEADER + US);
    ASSERT_EQ(std::ranges::max(net.Ends()), header + answer + again, "the end of the last");
    ASSERT_EQ(Trimmed(net.PortTo(4, 5)), 1, "trimmed");
    ASSERT_EQ(net->Context().droppedPackets, 1, "nothing else is lost");
    ASSERT_EQ(net->Context().droppedPayload, 1000, "its payload");
}

/// A full buffer lasts longer than a round trip, so that the link to the receiver never idles: it carries all data once
/// and a header for each trimmed packet.
TEST("an incast keeps its link busy, without a timeout, and repeats each trimmed packet once")
{
    for (const uint32_t senders : {2U, 4U})
    {
        constexpr uint64_t PACKETS = 500;
        const Case about(std::to_string(senders) + " senders");
        Played net(Incast(senders, PACKETS, 130 * PACKET_BYTES));
        const uint64_t trimmed = Trimmed(net.PortTo(senders + 1, senders + 2));
        const uint64_t sent = net->Context().packetsSent;
        EXPECT_GT(trimmed, PACKETS / 2, "trimmed");
        EXPECT_EQ(sent - senders * PACKETS, trimmed, "again");
        EXPECT_EQ(net->Context().droppedPackets, trimmed, "no other losses");
        for (uint32_t i = 0; i < senders; ++i)
        {
            EXPECT_EQ(Row(net.Of(i).timeouts, net.Of(i).duplicateBytes), Row(0, 0), "flow " << i);
        }
        const auto data = static_cast<Picos>(senders * PACKETS) * PACKET;
        const Picos end = PACKET + US + data + static_cast<Picos>(trimmed) * HEADER + // on the link
                          US + PACKET + US + 3 * (HEADER + US);
        EXPECT_EQ(std::ranges::max(net.Ends()), end, "the end of the last");
    }
}

TEST("a class that may lose packets is trimmed, and one with pauses is not")
{
    Scenario s = Incast(4, 200, 400'000);
    for (const bool pfc : {true, false})
    {
        s.classes.emplace_back();
        s.classes.back().name = pfc ? "lossless" : "lossy";
        s.classes.back().pfc = pfc;
    }
    s.buffer.pfc = true;
    for (FlowEntry& entry : s.flows)
    {
        entry.flow.trafficClass = entry.flow.id % 2;
    }
    Played net(std::move(s));
    const uint64_t trimmed = Trimmed(net.PortTo(5, 6));
    EXPECT_GT(trimmed, 0, "trimmed");
    EXPECT_EQ(Row(net.Of(0).retransmittedBytes, net.Of(2).retransmittedBytes),
              Row(0, 0),
              "lossless");
    EXPECT_EQ(net.Of(1).retransmittedBytes + net.Of(3).retransmittedBytes, 1000 * trimmed, "lossy");
}

/// Sender without a network.
TEST("trimmed packets are repeated lowest first, each time that a header says so")
{
    SelectiveSender sender(SelectiveRepeatConfig::ANY_ORDER);
    EXPECT(sender.OnTrimmed(12, 10, 100), "a recovery begins");
    EXPECT(!sender.OnTrimmed(11, 10, 100), "the same recovery");
    EXPECT(!sender.OnSelectivelyAcked(13, 10, 100, 0), "the same");
    EXPECT_EQ(sender.TakeLost(100), 11, "the lowest");
    EXPECT_EQ(sender.TakeLost(100), 12, "the next");
    EXPECT(!sender.HasLost(), "10 may be under way");
    sender.OnTrimmed(12, 10, 100);
    EXPECT_EQ(sender.TakeLost(100), 12, "trimmed again");
    sender.OnTrimmed(13, 10, 100);
    EXPECT(!sender.HasLost(), "13 has arrived");
    sender.OnTrimmed(10, 10, 100);
    sender.OnTimeout(10, 100, 50 * US);
    EXPECT_EQ(sender.TakeLost(100), 10, "trimmed and timed out");
    EXPECT(!sender.HasLost(), "is one reason");
}

} // namespace

} // namespace ns3::env::rdma::test
