// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of selective repeat: which packets are retransmitted and when, timeouts, the cap of a BDP.
#include "ns3_env/cpp/rdma/recovery/selective-repeat.h"
#include "ns3_env/cpp/test/rdma/test-network.h"
#include "ns3_env/cpp/test/suite.h"

#include <functional>
#include <random>
#include <set>
#include <vector>

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-selective-repeat");

constexpr Picos US = 1000 * PS_PER_NS;
constexpr uint64_t PACKETS = 500;
constexpr Picos PACKET = 83'840; // 1048 B at 100 Gb/s
constexpr Picos ACK = 4'800;     // 60 B

/// A flow of PACKETS packets on idle links of 100 Gb/s and 1 us, which loses packets by a filter.
struct Alone
{
    explicit Alone(std::function<bool(const Packet&)> loses,
                   std::optional<SelectiveRepeatConfig> recovery = SelectiveRepeatConfig{},
                   uint64_t bytes = PACKETS * 1000)
    {
        Scenario s = Dumbbell(1, 100e9);
        s.published = false;
        s.selectiveRepeat = recovery;
        AddFlow(s, 0, 1, bytes);
        TestNetwork net(std::move(s));
        net->Nics()[0]->SetDropFilter(Callback<bool, const Packet&>(
            [&](const Packet& packet)
            { return packet.kind == PacketKind::Data && loses(packet); }));
        net->Run();
        record = net->Records()[0];
        packetsSent = net->Context().packetsSent;
        left = net->Context().pool.LiveCount();
    }

    FlowRecord record;
    uint64_t packetsSent;
    uint64_t left;
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
    const Alone goBackN(None, std::nullopt);
    EXPECT_EQ(goBackN.record.end, goBackN.record.standalone, "alone");
    EXPECT_EQ(Alone(None).record.end, goBackN.record.end, "a BDP");
    EXPECT_EQ(Alone(None, SelectiveRepeatConfig{.bdpCap = {}}).record.end,
              goBackN.record.end,
              "no cap");
    EXPECT_GT(Alone(None, SelectiveRepeatConfig{.bdpCap = 0.5}).record.end,
              goBackN.record.end + US,
              "half a BDP");
}

/// The sender is busy until its last packet; the retransmission adds one packet's time.
TEST("one packet lost costs one packet's time, and go-back-N all that followed it")
{
    for (const uint64_t number : {uint64_t{0}, uint64_t{100}, uint64_t{300}})
    {
        const Case about("packet " + std::to_string(number));
        const Alone selective(Once({number}), SelectiveRepeatConfig{.bdpCap = {}});
        EXPECT_EQ(selective.record.end - selective.record.standalone, PACKET, "one more");
        EXPECT_EQ(selective.packetsSent, PACKETS + 1, "exactly one again");
        EXPECT_EQ(selective.record.retransmittedBytes, 1000, "likewise");
        EXPECT_EQ(selective.record.duplicateBytes, 0, "nothing twice");
        EXPECT_EQ(selective.record.timeouts, 0, "no timeout");
        const Alone goBackN(Once({number}), std::nullopt);
        // from the loss to its NACK: the next packet, 6 propagations, 2 hops of it and 3 of its NACK
        const Picos roundTrip = 6 * US + 3 * PACKET + 3 * ACK;
        const auto again = static_cast<uint64_t>((roundTrip + PACKET) / PACKET) + 1;
        EXPECT_EQ(goBackN.packetsSent, PACKETS + again, "all that had left");
        EXPECT_EQ(goBackN.record.retransmittedBytes, again * 1000, "likewise");
        EXPECT_EQ(goBackN.record.outOfOrderPackets,
                  again - 1,
                  "all but the one lost came for nothing");
    }
}

TEST("under the cap of a BDP a gap costs no more than a round trip")
{
    const Alone selective(Once({100}));
    EXPECT_EQ(selective.packetsSent, PACKETS + 1, "exactly one again");
    const Picos more = selective.record.end - selective.record.standalone;
    EXPECT_GE(more, PACKET, "the packet");
    EXPECT_LE(more, 7 * US, "and what the cap held back while the gap was open");
}

TEST("many gaps are one recovery, and each is sent again once")
{
    std::set<uint64_t> gaps;
    for (uint64_t number = 7; number < 400;
         number += 5) // all are known before the last packet leaves
    {
        gaps.insert(number);
    }
    const uint64_t count = gaps.size();
    const Alone selective(Once(gaps), SelectiveRepeatConfig{.bdpCap = {}});
    EXPECT_EQ(selective.packetsSent, PACKETS + count, "each once");
    EXPECT_EQ(selective.record.timeouts, 0, "no timeout");
    EXPECT_EQ(selective.record.duplicateBytes, 0, "nothing twice");
    EXPECT_EQ(selective.left, 0, "nothing is left on the network");
    EXPECT_EQ(selective.record.end - selective.record.standalone,
              static_cast<Picos>(count) * PACKET,
              "a packet's time each");
}

/// The last ACK before it comes at `standalone - packet`; RTO_low later it is sent again, with nothing else in flight.
TEST("the last packet lost is sent again RTO_low after the ACK before it")
{
    for (const int64_t rto : {100, 250})
    {
        const Alone selective(Once({PACKETS - 1}), SelectiveRepeatConfig{.rtoLow = rto * US});
        const Picos alone = 6 * US + 3 * PACKET + 3 * ACK;
        EXPECT_EQ(selective.record.end,
                  selective.record.standalone - PACKET + rto * US + alone,
                  rto << " us");
        EXPECT_EQ(selective.record.timeouts, 1, "one");
        EXPECT_EQ(selective.packetsSent, PACKETS + 1, "it alone");
    }
}

/// The first is retransmitted by itself, and its ACK reveals that the other packets are also lost: they follow in one
/// direction, a packet time apart.
TEST("a timeout sends all again that is missing, and with more than N in flight it is RTO_high")
{
    const Picos alone = 6 * US + 3 * PACKET + 3 * ACK; // of a packet, to its ACK
    for (const uint64_t lost : {3, 4, 30})
    {
        const Case about(std::to_string(lost) + " lost");
        std::set<uint64_t> tail;
        for (uint64_t i = 1; i <= lost; ++i)
        {
            tail.insert(PACKETS - i);
        }
        const Alone selective(Once(tail));
        // 32 MiB at 100 Gb/s, and a base RTT: two directions of 3 us, three times 1000 B
        const Picos high = (32LL << 20) * 80 + 6 * US + 3 * 80'000;
        const auto lastAck = selective.record.standalone - static_cast<Picos>(lost) * PACKET;
        const auto others =
            static_cast<Picos>(lost - 1) * PACKET; // the first of which leaves at once
        EXPECT_EQ(selective.record.end,
                  lastAck + (lost == 3 ? 100 * US : high) + alone + alone + others - PACKET,
                  "the end");
        EXPECT_EQ(selective.record.timeouts, 1, "one for all");
        EXPECT_EQ(selective.packetsSent, PACKETS + lost, "each once");
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
    const Alone selective([&](const Packet&) { return left-- > 0; }, SelectiveRepeatConfig{}, 1000);
    EXPECT_EQ(selective.record.end, selective.record.standalone + 300 * US, "100 us + 200 us");
    EXPECT_EQ(selective.record.timeouts, 2, "both lost");
}

/// The loss of packet 100 is reported a round trip after packet 101 left, and its retransmission is the 176th packet.
/// That is lost also: 178 packets have left when the cap of 78 stops the flow, until the timeout RTO_low later.
TEST("a retransmission that is lost waits for the timeout, and comes a third time")
{
    int left = 2;
    const Alone selective([&](const Packet& packet)
                          { return packet.sequence == 100'000 && left-- > 0; });
    EXPECT_EQ(selective.record.timeouts, 1, "one");
    EXPECT_EQ(selective.packetsSent, PACKETS + 2, "that packet alone");
    const Picos alone = 6 * US + 3 * PACKET + 3 * ACK; // of a packet, to its ACK
    EXPECT_EQ(selective.record.end,
              176 * PACKET + 100 * US + alone + (PACKETS - 178 - 1) * PACKET + alone,
              "RTO_low after it left");
    EXPECT_EQ(selective.record.duplicateBytes, 0, "nothing twice");
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
        const uint64_t span = step % 1000 == 0 ? 5000 : 200;
        const uint64_t number = base + random() % span;
        ASSERT_EQ(bits.Set(number), truth.insert(number).second, "step " << step);
        if (random() % 3 == 0)
        {
            base += random() % (step % 100 == 0 ? 2000 : 40);
            bits.DropBelow(base);
            truth.erase(truth.begin(), truth.lower_bound(base));
        }
        uint64_t missing = base + random() % 100;
        const uint64_t from = missing;
        while (truth.contains(missing))
        {
            ++missing;
        }
        ASSERT_EQ(bits.FirstMissing(from), missing, "step " << step);
        ASSERT_EQ(bits.Count(), truth.size(), "step " << step);
    }
}

/// Every kind of loss there is, small buffers included: each packet sent is either delivered or lost.
TEST("every byte is delivered once, and each byte sent is delivered, lost or a duplicate")
{
    std::mt19937 random(11);
    for (int seed = 1; seed <= 40; ++seed)
    {
        const Case about("seed " + std::to_string(seed));
        Scenario s = Dumbbell(4, 25e9);
        s.seed = static_cast<uint64_t>(seed);
        s.published = seed % 4 == 0;
        s.selectiveRepeat =
            SelectiveRepeatConfig{.reorderPackets = static_cast<uint32_t>(seed % 3)};
        s.retransmissionTimeout = 200 * US;
        s.buffer.pfc = false;
        s.buffer.bufferBytes = s.published ? 60'000 : 15'000 + random() % 40'000;
        s.buffer.reserveBytes = 1000;
        s.buffer.headroomFrames = 0;
        s.lossProbability = seed % 3 == 0 ? 0.0 : 0.01 * (seed % 5);
        s.corruption[{5, 6}] = {.bitErrorRate = 1e-6 * (seed % 4)};
        s.nic.ackEvery = static_cast<uint32_t>(1 + seed % 4);
        uint64_t bytes = 0;
        for (uint32_t sender = 0; sender < 4; ++sender)
        {
            const uint64_t size = 1 + random() % 150'000;
            AddFlow(s, sender, 4, size, static_cast<Picos>(random() % 20) * US);
            bytes += size;
        }
        TestNetwork net(std::move(s));
        net->Run();
        ASSERT_EQ(net->Unfinished(), 0, "all end");
        uint64_t duplicates = 0;
        for (const FlowRecord& record : net->Records())
        {
            duplicates += record.duplicateBytes;
        }
        const NetworkContext& context = net->Context();
        const uint64_t arrived = bytes + duplicates;
        ASSERT_LE(arrived, net->DeliveredPayload(), "each byte once");
        ASSERT_LE(net->DeliveredPayload() + context.droppedPayload,
                  net->TransmittedPayload(),
                  "sent = delivered + lost + on the way");
        ASSERT_GE(net->DeliveredPayload() + context.droppedPayload +
                      1000 * context.pool.LiveCount(),
                  net->TransmittedPayload(),
                  "sent = delivered + lost + on the way");
    }
}

} // namespace

} // namespace ns3::env::rdma::test
