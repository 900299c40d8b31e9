// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of UDP streams, beside flows: their rate, start and stop, paths, and the fate of each byte.
#include "episodes.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/tcp/network/udp-streams.h"

#include <array>
#include <cmath>
#include <optional>
#include <set>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-streams");

constexpr uint32_t PAYLOAD = 1448;
constexpr uint32_t WIRE = PAYLOAD + 8 + 20 + 2;

/// Flows and streams on one network.
class Mixed
{
  public:
    Mixed(Scenario scenario, const TcpSettings& settings)
        : m_scenario(std::move(scenario)),
          m_episode(m_scenario, settings, {"cubic", {}})
    {
        m_scenario.payloadBytes = PAYLOAD;
        m_streams.emplace(m_scenario, m_episode.Net());
        m_streams->Schedule();
    }

    UdpStreams& Streams() { return *m_streams; }
    TestEpisode& Flows() { return m_episode; }
    Fabric& Net() { return m_episode.Net(); }

  private:
    Scenario m_scenario;
    TestEpisode m_episode;
    std::optional<UdpStreams> m_streams; ///< destroyed before the network
};

/// Departure times of datagrams at a port.
struct DepartureTimes final : PortObserver
{
    void OnSent(const Port&, const Segment& datagram) override
    {
        NS_ABORT_MSG_IF(datagram.FrameBytes() != WIRE, "a frame of other bytes");
        times.push_back(NowPicos());
    }

    std::vector<Picos> times;
};

/// Departure times of the datagrams of a stream over a dumbbell, at its host.
std::vector<Picos>
Departures(double linkBps,
           double rateBps,
           Picos start,
           Picos stop,
           const TcpSettings& settings = {})
{
    Scenario s = Dumbbell(1, linkBps);
    AddStream(s, 0, 1, rateBps, start, stop);
    DepartureTimes departures;
    Mixed mixed(s, settings);
    mixed.Net().EgressTo(0, 2).egress->Add(departures);
    mixed.Flows().RunUntil(2 * stop);
    return departures.times;
}

TEST("datagrams leave evenly, at their rate on the wire, from start to stop")
{
    constexpr double RATE = 0.7e9; // no whole picoseconds between two
    constexpr Picos START = 3 * US + 1;
    constexpr Picos STOP = 20 * MS;
    const double gap = WIRE * 8.0 * PS_PER_SECOND / RATE;
    const std::vector<Picos> times = Departures(10e9, RATE, START, STOP);
    const auto expected = static_cast<size_t>(std::ceil(static_cast<double>(STOP - START) / gap));
    ASSERT_EQ(times.size(), expected, "as many as the rate gives");
    for (size_t i = 0; i < times.size(); ++i)
    {
        const auto due = START + std::llround(static_cast<double>(i) * gap);
        ASSERT_EQ(times[i], due, "datagram " << i);
    }
    // The timetable does not drift: the millionth datagram is at the time of exact arithmetic.
    const OpenLoop table(3e9, 1000, 0, NEVER); // 8,000/3 ns
    EXPECT_EQ(table.DueAt(1'000'000), 2'666'666'666'667, "after 10^6");
}

TEST("a stream beyond its host's link has the whole of it, and no endless queue")
{
    constexpr Picos STOP = 10 * MS;
    TcpSettings settings;
    settings.socketBufferBytes = 64 * PAYLOAD;
    const std::vector<Picos> times = Departures(1e9, 3e9, 0, STOP, settings);
    const Picos each = IdealTime(WIRE, 1e9, Rounding::Exact);
    for (size_t i = 0; i < times.size(); ++i)
    {
        ASSERT_EQ(times[i], static_cast<Picos>(i) * each, "datagram " << i);
    }
    EXPECT_GT(times.back(), STOP, "what waited at the stop still leaves");
    EXPECT_LT(times.back(), STOP + 66 * each, "and that is a buffer's");
}

TEST("what flows and streams sent was received or lost, or is on the way")
{
    constexpr uint32_t SENDERS = 3;
    constexpr uint64_t BYTES = 500'000;
    constexpr Picos STOP = 40 * MS;
    Scenario s = SlowMiddle(SENDERS, 10e9, 1e9, 5 * US);
    s.lossProbability = 1e-3;
    AddIncast(s, SENDERS, BYTES);
    AddStream(s, 0, SENDERS, 0.4e9, 0, STOP);
    AddStream(s, 1, SENDERS, 0.5e9, 2 * MS, STOP);
    AddStream(s, 1, 2, 2e9, 2 * MS, STOP); // past the slow link
    TcpSettings settings = ShortTimeouts(2 * MS);
    settings.queue.limit = Packets(20);
    Mixed mixed(s, settings);
    TestEpisode& flows = mixed.Flows();
    const OnTheWay way(mixed.Net());
    std::array<uint64_t, 3> mostOnTheWay{};
    const auto check = [&](Picos time)
    {
        flows.RunUntil(time);
        for (size_t i = 0; i < 3; ++i)
        {
            const StreamCounts counts = mixed.Streams().Of(i);
            const auto onTheWay = static_cast<uint64_t>(way.BytesOf(mixed.Streams().Tuple(i)));
            const uint64_t known = counts.received + counts.lost + onTheWay;
            EXPECT_EQ(counts.sent, known, "stream " << i << " at " << time << " ps");
            mostOnTheWay[i] = std::max(mostOnTheWay[i], onTheWay);
        }
        EXPECT_EQ(flows.SentPayload() + mixed.Streams().TransmittedPayload(),
                  mixed.Net().DeliveredPayload() + mixed.Net().DroppedPayload() + way.Bytes(),
                  "flows and streams together, at " << time << " ps");
    };
    for (Picos time = MS; time <= 30 * MS; time += MS)
    {
        check(time);
    }
    check(STOP + 2000 * MS);
    EXPECT_EQ(way.Bytes(), 0, "nothing is on the way in the end");
    for (size_t i = 0; i < 3; ++i)
    {
        const StreamCounts counts = mixed.Streams().Of(i);
        EXPECT_GT(counts.lost, 0, "some of stream " << i);
        EXPECT_GT(mostOnTheWay[i], PAYLOAD, "stream " << i);
        const StreamEntry& entry = s.streams[i];
        const double seconds = static_cast<double>(entry.stop - entry.flow.start) / PS_PER_SECOND;
        const double all = entry.rateBps * seconds / 8 * PAYLOAD / WIRE;
        EXPECT_NEAR(counts.sent, all, PAYLOAD, "all that stream " << i << " had to send");
    }
    const StreamCounts past = mixed.Streams().Of(2);
    EXPECT_LT(past.lost * 50, past.sent, "the links' losses alone");
    uint64_t sent = 0;
    for (size_t i = 0; i < SENDERS; ++i)
    {
        EXPECT(flows.Flow(i).IsFinished(), "flow " << i);
        EXPECT_EQ(flows.Flow(i).ReceivedBytes(), BYTES, "flow " << i);
        sent += BYTES + flows.Flow(i).RetransmittedBytes();
    }
    EXPECT_EQ(flows.SentPayload(), sent, "of flows: first and again");
}

TEST("streams of a host have ports of their own, and spread over equal paths")
{
    Scenario s = FatTree16();
    for (uint32_t i = 0; i < 12; ++i)
    {
        AddStream(s, 0, 15 - i % 2, 1e9, 0, 50 * US);
    }
    const Routing routing(s);
    Mixed mixed(s, {});
    mixed.Flows().RunUntil(MS);
    std::set<uint16_t> ports;
    std::set<uint32_t> second;
    for (size_t i = 0; i < s.streams.size(); ++i)
    {
        const FiveTuple& tuple = mixed.Streams().Tuple(i);
        const StreamCounts counts = mixed.Streams().Of(i);
        EXPECT_GT(counts.sent, 0, "stream " << i);
        EXPECT_EQ(counts.sent, counts.received, "stream " << i);
        EXPECT_EQ(tuple.destinationPort, 9, "discard");
        ports.insert(tuple.sourcePort);
        const Hops path = routing.Path(0, s.streams[i].flow.destination, tuple);
        for (const auto& [node, link] : path)
        {
            EXPECT_GT(mixed.Flows().PortTo(node, link->node).TxPackets(), 0, "stream " << i);
        }
        second.insert(path[1].second->node);
    }
    EXPECT_EQ(ports.size(), s.streams.size(), "a port each");
    EXPECT_GT(second.size(), 1, "more than one way up");
}

TEST("a datagram that fits in no packet is refused")
{
    Scenario s = Dumbbell(1, 10e9);
    s.payloadBytes = PAYLOAD;
    AddStream(s, 0, 1, 1e9);
    TcpSettings settings;
    settings.segmentBytes = 1000;
    {
        Fabric fabric(s, settings);
        EXPECT_EQ(Refusal([&] { UdpStreams(s, fabric); }),
                  "'streams': a stream's datagrams of 1448 payload bytes fit in no packet: "
                  "at most 1052",
                  "what is wrong");
    }
    Simulator::Destroy();
}

} // namespace

} // namespace ns3::env::tcp::test
