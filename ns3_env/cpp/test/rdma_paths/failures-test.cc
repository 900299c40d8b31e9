// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of links that fail: losses to the packet, and resumption of flows to the picosecond.
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <optional>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-failures");

constexpr Picos PACKET = 83'840; ///< 1048 B at 100 Gb/s
constexpr Picos ACK = 4'800;
constexpr Picos LINK = US;
constexpr Picos ROUND_TRIP = 3 * (PACKET + LINK) + 3 * (ACK + LINK); ///< over a dumbbell
constexpr Picos PATIENCE = 200 * US;
constexpr Picos FAILS = 20 * US;
constexpr Picos PACKETS = 1000;

/// Time at which the last of `packets` is acknowledged if the first leaves now.
Picos
TimeOf(Picos packets)
{
    return (packets - 1) * PACKET + ROUND_TRIP;
}

/// End of one flow over a dumbbell, which sends as fast as it can while links are down at times.
Picos
EndOf(std::vector<LinkOutage> outages, int timeouts)
{
    Scenario s = Exact(1, {{0, 1, PACKETS * 1000}});
    s.retransmissionTimeout = PATIENCE;
    s.paths = PathSpec{.outages = std::move(outages)};
    Played net(std::move(s));
    EXPECT_EQ(net.Of(0).timeouts, timeouts, "timeouts");
    const RunTotals totals = net->Totals();
    EXPECT_EQ(totals.transmittedPayload,
              totals.deliveredPayload + totals.droppedPayload,
              "each byte");
    return net.Of(0).end;
}

TEST("a host that is cut off for less than a timeout sends on when its link is back, and goes back "
     "to the gap")
{
    // Packets at the switch when the link fails arrive; the first packet behind the gap triggers a NACK.
    const Picos arrived = (FAILS - PACKET - LINK) / PACKET + 1;
    for (const Picos duration : {10 * US, 100 * US, 150 * US})
    {
        const Picos inTransmission =
            (ROUND_TRIP + PACKET - 1) / PACKET * PACKET; // the packet in transmission leaves first
        EXPECT_EQ(EndOf({{0, 2, FAILS, FAILS + duration}}, 0),
                  FAILS + duration + inTransmission + TimeOf(PACKETS - arrived),
                  "down for " << duration / US << " us");
    }
}

TEST("a host that is cut off for longer than a timeout sends all that is not acknowledged when its "
     "link is back")
{
    const Picos acked = (FAILS - ROUND_TRIP) / PACKET + 1;
    for (const Picos duration : {250 * US, 700 * US})
    {
        EXPECT_EQ(EndOf({{0, 2, FAILS, FAILS + duration}}, 1),
                  FAILS + duration + TimeOf(PACKETS - acked),
                  "down for " << duration / US << " us");
    }
}

TEST("where a link in the network is back a flow's next timeout finds it, after 1, 3 or 7 of the "
     "first")
{
    // ACKs that are beyond the link when it fails arrive; the last of them starts the clock. Packets with an ACK at the
    // switch before the link by then: two links there and back.
    const Picos there = 3 * (PACKET + LINK) + 2 * (ACK + LINK);
    const Picos acked = (FAILS - there) / PACKET + 1;
    const Picos lastAck = (acked - 1) * PACKET + ROUND_TRIP;
    for (const auto& [duration, timeouts] : {std::pair{150 * US, 1}, {500 * US, 2}, {700 * US, 3}})
    {
        EXPECT_EQ(EndOf({{2, 3, FAILS, FAILS + duration}}, timeouts),
                  lastAck + ((1 << timeouts) - 1) * PATIENCE + TimeOf(PACKETS - acked),
                  "down for " << duration / US << " us");
    }
}

/// Two hosts, two leaves (2, 3), two spines (4, 5); packets lost of a stream at line rate on a path that fails.
TEST("until routes converge what is sent to a dead link is lost, and then nothing more")
{
    const auto lostOf = [](std::optional<Picos> convergence) -> uint64_t
    {
        Scenario s = LeafSpine(2, 1, 2);
        s.paths = PathSpec{};
        AddFlow(s, 1, 0, 1, 300 * US);
        AddStream(s, 0, 1, 100e9, 0, 200 * US);
        const uint32_t used = Played(s).PortTo(2, 4).TxBytes() > 10'000 ? 4 : 5;
        if (convergence)
        {
            s.paths->convergence = *convergence;
            s.paths->outages.push_back({used, 2, 100 * US, NEVER});
        }
        TestNetwork net(std::move(s));
        net->Run();
        const StreamCounts counts = net->CountsOf(0);
        EXPECT_EQ(counts.sent, counts.received + counts.lost, "each byte arrived or is lost");
        uint64_t here = 0;
        for (const Port* port : net->Ports())
        {
            here += port->Lost().By(LossCause::Failure).payloadBytes;
        }
        EXPECT_EQ(here, counts.lost, "by the failure");
        return counts.lost / 1000;
    };
    ASSERT_EQ(lostOf(std::nullopt), 0, "without a failure");
    // On the wire: transmissions started within a packet's time and the link's delay, 12.9 packets.
    const uint64_t wire = lostOf(0);
    ASSERT_NEAR(wire, 13, 1, "on the wire");
    for (const Picos packets : {1, 50, 500})
    {
        EXPECT_EQ(lostOf(packets * PACKET), wire + packets, "that came before switches knew");
    }
}

/// Hosts 0 to 3 send to 4 over a buffer that pauses them; links fail and come back in the middle of it.
TEST("a pause does not outlive the link that it came by")
{
    for (const auto& [other, classes] : {std::pair{0U, 0U}, {6U, 0U}, {0U, 2U}, {6U, 2U}})
    {
        Scenario s = Exact(4);
        s.buffer.bufferBytes = classes == 0 ? 300'000 : 420'000;
        s.classes.resize(classes);
        s.retransmissionTimeout = 100 * US;
        s.links[4].rateBps = 10e9; // the hosts are paused nearly all the time
        s.paths = PathSpec{};
        for (int i = 0; i < 20; ++i)
        {
            const Picos at = (20 + 37 * i) * US;
            const Picos until = at + (i % 7 + 1) * (classes == 0 ? 3 : 5) * US;
            s.paths->outages.push_back({5, other, at, until});
        }
        AddIncast(s, 4, 200'000);
        for (size_t i = 0; i < classes; ++i)
        {
            s.flows[i].flow.trafficClass = static_cast<uint8_t>(i);
        }
        Played net(std::move(s));
        ASSERT_GT(net->Context().pfcFrames, 10, "there were pauses");
        const RunTotals totals = net->Totals();
        const uint64_t known = totals.deliveredPayload + totals.droppedPayload;
        ASSERT_LE(known, totals.transmittedPayload, "each byte");
        ASSERT_GE(known + 1000 * totals.packetsLeft, totals.transmittedPayload, "each byte");
        for (const auto& [id, sw] : net->Switches())
        {
            ASSERT_LE(sw->Buffer().UsedBytes(), 1100 * totals.packetsLeft, "given back");
        }
    }
}

TEST("a link is down while one of its outages lasts, a failed switch's among them")
{
    const auto at = [](int us) { return FAILS + us * US; };
    const Picos whole = EndOf({{0, 2, FAILS, at(100)}}, 0);
    EXPECT_EQ(EndOf({{0, 2, FAILS, at(60)}, {2, 0, at(30), at(100)}}, 0), whole, "they overlap");
    EXPECT_EQ(EndOf({{0, 2, FAILS, at(100)}, {2, 0, at(30), at(40)}}, 0), whole, "one in another");
    EXPECT_EQ(EndOf({{0, 2, FAILS, at(60)}, {2, 0, at(60), at(100)}}, 0), whole, "in a row");
}

TEST("a link that joins no two nodes cannot fail")
{
    const std::string text = Refusal([&] { EndOf({{0, 3, 0, NEVER}}, 0); });
    ASSERT_NE(text.find("'failures.outages[0]': no link joins the nodes 0 and 3"),
              std::string::npos,
              text);
}

} // namespace

} // namespace ns3::env::rdma::test
