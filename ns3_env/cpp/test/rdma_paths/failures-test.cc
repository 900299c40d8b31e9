// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of links that fail: losses to the packet, and resumption of flows to the picosecond.
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <optional>
#include <utility>
#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-failures");

constexpr Picos US = 1000 * PS_PER_NS;
constexpr Picos PACKET = 83'840; ///< 1048 B at 100 Gb/s
constexpr Picos ACK = 4'800;
constexpr Picos LINK = US;
constexpr Picos ONE_WAY = 3 * (PACKET + LINK); ///< over a dumbbell
constexpr Picos BACK = 3 * (ACK + LINK);
constexpr Picos PATIENCE = 200 * US;
constexpr Picos FAILS = 20 * US;
constexpr uint64_t PACKETS = 1000;

/// Time at which the last of `packets` is acknowledged if the first leaves now.
Picos
TimeOf(uint64_t packets)
{
    return static_cast<Picos>(packets - 1) * PACKET + ONE_WAY + BACK;
}

/// One flow over a dumbbell, which sends as fast as it can; a link is down for `duration`.
Picos
EndOf(uint32_t a, uint32_t b, Picos duration, uint64_t timeouts)
{
    Scenario s = Dumbbell(1, 100e9);
    s.published = false;
    s.retransmissionTimeout = PATIENCE;
    s.paths = PathSpec{.outages = {{a, b, FAILS, FAILS + duration}}};
    AddFlow(s, 0, 1, PACKETS * 1000);
    TestNetwork net(std::move(s));
    net->Run();
    ASSERT_EQ(net->Unfinished(), 0, "it ends");
    EXPECT_EQ(net->Records()[0].timeouts, timeouts, "timeouts");
    const RunTotals totals = net->Totals();
    EXPECT_EQ(totals.transmittedPayload,
              totals.deliveredPayload + totals.droppedPayload,
              "each byte");
    return net->Records()[0].end;
}

TEST("a host that is cut off for less than a timeout sends on when its link is back, and goes back "
     "to the gap")
{
    // Packets at the switch when the link fails arrive; the first packet behind the gap triggers a NACK.
    const auto arrived = static_cast<uint64_t>((FAILS - PACKET - LINK) / PACKET + 1);
    for (const Picos duration : {10 * US, 100 * US, 150 * US})
    {
        const Picos wait = ONE_WAY + BACK;
        const Picos inTransmission =
            (wait + PACKET - 1) / PACKET * PACKET; // the packet in transmission leaves first
        EXPECT_EQ(EndOf(0, 2, duration, 0),
                  FAILS + duration + inTransmission + TimeOf(PACKETS - arrived),
                  "down for " << duration / US << " us");
    }
}

TEST("a host that is cut off for longer than a timeout sends all that is not acknowledged when its "
     "link is back")
{
    const auto acked = static_cast<uint64_t>((FAILS - ONE_WAY - BACK) / PACKET + 1);
    for (const Picos duration : {250 * US, 700 * US})
    {
        EXPECT_EQ(EndOf(0, 2, duration, 1),
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
    const auto acked = static_cast<uint64_t>((FAILS - there) / PACKET + 1);
    const Picos lastAck = static_cast<Picos>(acked - 1) * PACKET + ONE_WAY + BACK;
    for (const auto& [duration, timeouts] :
         {std::pair{150 * US, 1}, std::pair{500 * US, 2}, std::pair{700 * US, 3}})
    {
        const Picos patience = ((1 << timeouts) - 1) * PATIENCE;
        EXPECT_EQ(EndOf(2, 3, duration, static_cast<uint64_t>(timeouts)),
                  lastAck + patience + TimeOf(PACKETS - acked),
                  "down for " << duration / US << " us");
    }
}

/// Two hosts, two leaves (2, 3), two spines (4, 5); a stream at line rate on a path that fails.
StreamCounts
LostOf(std::optional<Picos> convergence)
{
    Scenario s;
    s.timeLimit = PS_PER_SECOND;
    s.isSwitch = {false, false, true, true, true, true};
    for (const auto& [a, b] : {std::pair{0, 2}, {1, 3}, {2, 4}, {2, 5}, {3, 4}, {3, 5}})
    {
        s.links.push_back({static_cast<uint32_t>(a), static_cast<uint32_t>(b), 100e9, LINK});
    }
    s.controllers.push_back({"fixed-window", {}});
    s.paths = PathSpec{};
    AddFlow(s, 1, 0, 1, 300 * US);
    s.streams.push_back({{1, 0, 1, ENDLESS_BYTES, 0}, 100e9, 200 * US});
    uint32_t used = 4;
    {
        TestNetwork net(s);
        net->Run();
        used = net.PortTo(2, 4).TxBytes() > 10'000 ? 4 : 5;
    }
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
    return counts;
}

TEST("until routes converge what is sent to a dead link is lost, and then nothing more")
{
    ASSERT_EQ(LostOf(std::nullopt).lost, 0, "without a failure");
    // On the wire: transmissions started within a packet's time and the link's delay, 12.9 packets.
    const uint64_t wire = LostOf(0).lost / 1000;
    ASSERT_GE(wire, 12, "on the wire");
    ASSERT_LE(wire, 14, "on the wire");
    for (const Picos packets : {1, 50, 500})
    {
        EXPECT_EQ(LostOf(packets * PACKET).lost / 1000,
                  wire + static_cast<uint64_t>(packets),
                  "each packet that came before switches knew");
    }
}

/// Hosts 0 to 3 send to 4 over a buffer that pauses them; links fail and come back in the middle of it.
TEST("a pause does not outlive the link that it came by")
{
    for (const auto& [other, classes] : {std::pair{0U, 0}, {6U, 0}, {0U, 2}, {6U, 2}})
    {
        Scenario s = Dumbbell(4, 100e9);
        s.published = false;
        s.buffer.bufferBytes = classes == 0 ? 300'000 : 420'000;
        s.classes.resize(static_cast<size_t>(classes));
        s.retransmissionTimeout = 100 * US;
        s.links[4].rateBps = 10e9; // the hosts are paused nearly all the time
        s.paths = PathSpec{};
        for (int i = 0; i < 20; ++i)
        {
            const Picos at = (20 + 37 * i) * US;
            s.paths->outages.push_back(
                {5, other, at, at + (i % 7 + 1) * (classes == 0 ? 3 : 5) * US});
        }
        AddIncast(s, 4, 200'000);
        for (size_t i = 0; i < s.classes.size(); ++i)
        {
            s.flows[i].flow.trafficClass = static_cast<uint8_t>(i);
        }
        TestNetwork net(std::move(s));
        net->Run();
        ASSERT_EQ(net->Unfinished(), 0, "every flow ends");
        ASSERT_GT(net->Context().pfcFrames, 10, "there were pauses");
        const RunTotals totals = net->Totals();
        ASSERT_LE(totals.deliveredPayload + totals.droppedPayload,
                  totals.transmittedPayload,
                  "each byte");
        for (const auto& [id, sw] : net->Switches())
        {
            ASSERT_LE(sw->Buffer().UsedBytes(), 1100 * totals.packetsLeft, "memory is given back");
        }
    }
}

TEST("a link is down while one of its outages lasts, a failed switch's among them")
{
    const auto end = [](std::vector<LinkOutage> outages)
    {
        Scenario s = Dumbbell(1, 100e9);
        s.published = false;
        s.retransmissionTimeout = PATIENCE;
        s.paths = PathSpec{.outages = std::move(outages)};
        AddFlow(s, 0, 1, PACKETS * 1000);
        TestNetwork net(std::move(s));
        net->Run();
        return net->Records()[0].end;
    };
    const Picos whole = end({{0, 2, FAILS, FAILS + 100 * US}});
    EXPECT_EQ(end({{0, 2, FAILS, FAILS + 60 * US}, {2, 0, FAILS + 30 * US, FAILS + 100 * US}}),
              whole,
              "two that overlap");
    EXPECT_EQ(end({{0, 2, FAILS, FAILS + 100 * US}, {2, 0, FAILS + 30 * US, FAILS + 40 * US}}),
              whole,
              "one within another");
    EXPECT_EQ(end({{0, 2, FAILS, FAILS + 60 * US}, {2, 0, FAILS + 60 * US, FAILS + 100 * US}}),
              whole,
              "one after another, without a moment between");
}

TEST("a link that joins no two nodes cannot fail")
{
    Scenario s = Dumbbell(1, 100e9);
    s.published = false;
    s.paths = PathSpec{.outages = {{0, 3, 0, NEVER}}};
    AddFlow(s, 0, 1, 1000);
    const std::string text = env::test::Refusal([&] { TestNetwork net(std::move(s)); });
    ASSERT_NE(text.find("'failures.outages[0]': no link joins the nodes 0 and 3"),
              std::string::npos,
              text);
}

} // namespace

} // namespace ns3::env::rdma::test
