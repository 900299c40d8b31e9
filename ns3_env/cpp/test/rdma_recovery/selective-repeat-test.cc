// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of selective repeat: which packets are retransmitted and when, timeouts, the cap of a BDP.
#include "ns3_env/cpp/rdma/recovery/selective-repeat.h"
#include "ns3_env/cpp/test/rdma/test-network.h"

#include <functional>
#include <random>
#include <set>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-selective-repeat");

constexpr uint64_t PACKETS = 500;
constexpr Picos PACKET = 83'840;                            // 1048 B at 100 Gb/s
constexpr Picos ACK = 4'800;                                // 60 B
constexpr Picos ROUND_TRIP = 6 * US + 3 * PACKET + 3 * ACK; // of a packet, to its ACK
const SelectiveRepeatConfig NO_CAP{.bdpCap = {}};

/// A flow of PACKETS packets on idle links of 100 Gb/s and 1 us, which loses packets by a filter.
struct Alone
{
    explicit Alone(std::function<bool(const Packet&)> loses,
                   std::optional<SelectiveRepeatConfig> recovery = SelectiveRepeatConfig{},
                   uint64_t bytes = PACKETS * 1000)
    {
        Scenario s = Exact(1, {{0, 1, bytes}});
        s.selectiveRepeat = recovery;
        TestNetwork net(std::move(s));
        Drop(*net->Nics()[0],
             [&](const Packet& packet)
             { return packet.kind == PacketKind::Data && loses(packet); });
        net->Run();
        record = net.Of(0);
        late = record.end - record.standalone;
        again = net->Context().packetsSent - bytes / 1000;
        EXPECT_EQ(net->Context().pool.LiveCount(), 0, "nothing is left on the network");
    }

    /// Checks how long after its standalone end it ended, what was sent again, and timeouts.
    void Is(Picos lateness, uint64_t packetsAgain, uint64_t timeouts) const
    {
        EXPECT_EQ(Row(late, again, record.timeouts),
                  Row(lateness, packetsAgain, timeouts),
                  "lateness, packets again, timeouts");
        EXPECT_EQ(record.retransmittedBytes, 1000 * packetsAgain, "bytes again");
        EXPECT_EQ(record.duplicateBytes, 0, "nothing twice");
    }

    FlowRecord record;
    Picos late;
    uint64_t again;
};

/// Loses these packets, by number, the first time that they are sent.
auto
Once(std::set<uint64_t> numbers)
{
    return [numbers = std::move(numbers)](const Packet& packet) mutable
    { return numbers.erase(packet.sequence / 1000) > 0; };
}

bool
None(const Packet&)
{
    return false;
}

TEST("without losses a flow takes as long as by go-back-N, a cap of one BDP or not")
{
    EXPECT_EQ(Alone(None, std::nullopt).late, 0, "alone");
    EXPECT_EQ(Alone(None).late, 0, "a BDP");
    EXPECT_EQ(Alone(None, NO_CAP).late, 0, "no cap");
    EXPECT_GT(Alone(None, SelectiveRepeatConfig{.bdpCap = 0.5}).late, US, "half a BDP");
}

/// The sender is busy until its last packet; the retransmission adds one packet's time.
TEST("one packet lost costs one packet's time, and go-back-N all that followed it")
{
    for (const uint64_t number : {uint64_t{0}, uint64_t{100}, uint64_t{300}})
    {
        const Case about("packet " + std::to_string(number));
        Alone(Once({number}), NO_CAP).Is(PACKET, 1, 0);
        const Alone goBackN(Once({number}), std::nullopt);
        // from the loss to its NACK: the next packet, 6 propagations, 2 hops of it and 3 of its NACK
        const auto again = static_cast<uint64_t>((ROUND_TRIP + PACKET) / PACKET) + 1;
        EXPECT_EQ(goBackN.again, again, "all that had left");
        EXPECT_EQ(goBackN.record.retransmittedBytes, again * 1000, "likewise");
        EXPECT_EQ(goBackN.record.outOfOrderPackets, again - 1, "came for nothing");
    }
}

TEST("under the cap of a BDP a gap costs no more than a round trip")
{
    const Alone selective(Once({100}));
    EXPECT_EQ(selective.again, 1, "exactly one again");
    EXPECT_GE(selective.late, PACKET, "the packet");
    EXPECT_LE(selective.late, 7 * US, "and what the cap held back while the gap was open");
}

TEST("a loss after a recovery starts another one")
{
    constexpr uint64_t SENT = 20;
    SelectiveSender sender(0);
    for (const uint64_t lost :
         {1, 11}) // all before it is acknowledged: the recovery before has ended
    {
        const Case about(std::to_string(lost));
        sender.OnAcked(lost, SENT, 0);
        EXPECT(sender.OnSelectivelyAcked(lost + 1, lost, lost + 9, 0), "a recovery starts");
        EXPECT_EQ(sender.TakeLost(lost + 9), lost, "what is sent again");
        EXPECT(!sender.OnSelectivelyAcked(lost + 3, lost, lost + 9, 0),
               "and contains a second loss");
    }
}

TEST("an answer to a packet that left after a timeout says that all in flight then is lost")
{
    SelectiveSender sender(0);
    sender.OnTimeout(0, 5, 100);
    EXPECT_EQ(sender.TakeLost(5), 0, "the first at once");
    sender.OnAcked(1, 5, 99);
    EXPECT(!sender.HasLost(), "an answer to one that left before says nothing");
    sender.OnAcked(1, 5, 100);
    EXPECT(sender.HasLost(), "one that left after it does");
    EXPECT_EQ(sender.TakeLost(5), 1, "the next of them");
}

TEST("many gaps are one recovery, and each is sent again once")
{
    std::set<uint64_t> gaps;
    for (uint64_t number = 7; number < 400; number += 5) // all known before the last packet leaves
    {
        gaps.insert(number);
    }
    Alone(Once(gaps), NO_CAP).Is(static_cast<Picos>(gaps.size()) * PACKET, gaps.size(), 0);
}

/// The last ACK before it comes at `standalone - packet`; RTO_low later it is sent again, with nothing else in flight.
TEST("the last packet lost is sent again RTO_low after the ACK before it")
{
    for (const int64_t rto : {100, 250})
    {
        const Alone selective(Once({PACKETS - 1}), SelectiveRepeatConfig{.rtoLow = rto * US});
        selective.Is(rto * US + ROUND_TRIP - PACKET, 1, 1);
    }
}

/// The first is retransmitted by itself, and its ACK reveals that the other packets are also lost: they follow in one
/// direction, a packet time apart.
TEST("a timeout sends all again that is missing, and with more than N in flight it is RTO_high")
{
    // 32 MiB at 100 Gb/s, and a base RTT: two directions of 3 us, three times 1000 B
    const Picos high = (32LL << 20) * 80 + 6 * US + 3 * 80'000;
    for (const Picos lost : {3, 4, 30})
    {
        const Case about(std::to_string(lost) + " lost");
        std::set<uint64_t> tail;
        for (uint64_t i = 1; i <= static_cast<uint64_t>(lost); ++i)
        {
            tail.insert(PACKETS - i);
        }
        const Picos others = (lost - 1) * PACKET; // the first of which leaves at once
        const Picos rto = lost == 3 ? 100 * US : high;
        Alone(Once(tail))
            .Is(-lost * PACKET + rto + 2 * ROUND_TRIP + others - PACKET, tail.size(), 1);
    }
}

/// The receiver's link delays its packets by more than RTO_low, and drops none.
TEST("a timeout of what was only late sends one packet again, whatever is in flight")
{
    SelectiveSender sender(0);
    sender.OnAcked(10, 100, 5 * US);
    sender.OnTimeout(10, 100, 50 * US);
    EXPECT_EQ(sender.TakeLost(100), 10, "the first");
    EXPECT(!sender.HasLost(), "and no other yet");
    for (uint64_t late = 11; late < 60; ++late)
    {
        sender.OnAcked(late, 100, 10 * US);
        EXPECT(!sender.HasLost(), "what left before the timeout has come: " << late);
    }
    sender.OnAcked(60, 100, 51 * US);
    EXPECT_EQ(sender.TakeLost(100), 60, "what left after it came before this one");
    EXPECT_EQ(sender.TakeLost(100), 61, "and before all others that were in flight");
}

TEST("a flow of one packet that is lost waits for RTO_low, and twice as long again")
{
    int left = 2;
    Alone([&](const Packet&) { return left-- > 0; }, SelectiveRepeatConfig{}, 1000)
        .Is(300 * US, 2, 2);
}

/// The loss of packet 100 is reported a round trip after packet 101 left, and its retransmission is the 176th packet.
/// That is lost also: 178 packets have left when the cap of 78 stops the flow, until the timeout RTO_low later.
TEST("a retransmission that is lost waits for the timeout, and comes a third time")
{
    int left = 2;
    const Alone selective([&](const Packet& packet)
                          { return packet.sequence == 100'000 && left-- > 0; });
    const Picos end =
        176 * PACKET + 100 * US + ROUND_TRIP + (PACKETS - 178 - 1) * PACKET + ROUND_TRIP;
    selective.Is(end - selective.record.standalone, 2, 1);
}

/// Sender without a network: packet 10 arrives late.
TEST("a packet counts as lost when more than the reorder window have overtaken it")
{
    for (const uint32_t window : {0U, 1U, 5U})
    {
        SelectiveSender sender(window);
        sender.OnAcked(10, 100, 0);
        for (uint64_t overtaker = 11; overtaker <= 10 + window; ++overtaker)
        {
            EXPECT(!sender.OnSelectivelyAcked(overtaker, 10, 100, 0), "tolerated: " << overtaker);
            EXPECT(!sender.HasLost(), "tolerated: " << overtaker);
        }
        EXPECT(sender.OnSelectivelyAcked(11 + window, 10, 100, 0), "a recovery begins");
        EXPECT_EQ(sender.TakeLost(100), 10, "that packet");
        EXPECT(!sender.HasLost(), "and no other");
        EXPECT(!sender.OnSelectivelyAcked(13 + window, 10, 100, 0), "the same recovery");
        sender.OnAcked(100, 100, 0);
        EXPECT_EQ(sender.SelectivelyAcked(), 0, "all is acknowledged");
    }
}

/// Against a set of numbers.
TEST("a ring of bits is a set, however far it goes")
{
    std::mt19937_64 random(7);
    SequenceBits bits;
    std::set<uint64_t> truth;
    uint64_t base = 0;
    for (int step = 0; step < 20'000; ++step)
    {
        const uint64_t number = base + random() % (step % 1000 == 0 ? 5000 : 200);
        ASSERT_EQ(bits.Set(number), truth.insert(number).second, "step " << step);
        if (random() % 3 == 0)
        {
            base += random() % (step % 100 == 0 ? 2000 : 40);
            bits.DropBelow(base);
            truth.erase(truth.begin(), truth.lower_bound(base));
        }
        const uint64_t from = base + random() % 100;
        uint64_t missing = from;
        while (truth.contains(missing))
        {
            ++missing;
        }
        ASSERT_EQ(bits.FirstMissing(from), missing, "step " << step);
        ASSERT_EQ(bits.Count(), truth.size(), "step " << step);
    }
}

} // namespace

} // namespace ns3::env::rdma::test
