// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of UDP streams: their rate, start and stop, paths, and the fate of each byte.
#include "episodes.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/tcp/network/udp-streams.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-streams");

constexpr uint32_t PAYLOAD = 1448;
constexpr uint32_t WIRE = PAYLOAD + 8 + 20 + 2;

void
AddStream(Scenario& s, uint32_t from, uint32_t to, double rateBps, Picos start, Picos stop)
{
    const auto id = static_cast<uint32_t>(s.flows.size() + s.streams.size());
    s.payloadBytes = PAYLOAD;
    s.streams.push_back({{id, from, to, ENDLESS_BYTES, start}, rateBps, stop});
}

/// Flows and streams on one network.
class Mixed
{
  public:
    Mixed(const Scenario& scenario, const TcpSettings& settings)
        : m_scenario(scenario),
          m_episode(m_scenario, settings, {"cubic", {}}),
          m_streams(std::in_place, m_scenario, m_episode.Net())
    {
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

/// Departure times of datagrams at the host `node`.
std::vector<Picos>
Departures(const Scenario& s, uint32_t node, const TcpSettings& settings = {})
{
    DepartureTimes departures;
    Mixed mixed(s, settings);
    for (const Egress& egress : mixed.Net().Egresses())
    {
        if (egress.node == node)
        {
            egress.egress->Add(departures);
        }
    }
    mixed.Flows().RunUntil(s.timeLimit);
    return departures.times;
}

TEST("datagrams leave evenly, at their rate on the wire, from start to stop")
{
    constexpr double RATE = 0.7e9; // no whole picoseconds between two
    constexpr Picos START = 3 * PS_PER_US + 1;
    constexpr Picos STOP = 20 * PS_PER_MS;
    const double gap = WIRE * 8.0 * PS_PER_SECOND / RATE;
    Scenario s = Dumbbell(1, 10e9);
    s.timeLimit = 21 * PS_PER_MS;
    AddStream(s, 0, 1, RATE, START, STOP);
    const std::vector<Picos> times = Departures(s, 0);
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
    Scenario s = Dumbbell(1, 1e9);
    constexpr Picos STOP = 10 * PS_PER_MS;
    s.timeLimit = 20 * PS_PER_MS;
    AddStream(s, 0, 1, 3e9, 0, STOP);
    TcpSettings settings;
    settings.socketBufferBytes = 64 * PAYLOAD;
    const std::vector<Picos> times = Departures(s, 0, settings);
    const Picos each = IdealTime(WIRE, 1e9, Rounding::Exact);
    for (size_t i = 0; i < times.size(); ++i)
    {
        ASSERT_EQ(times[i], static_cast<Picos>(i) * each, "datagram " << i);
    }
    EXPECT_GT(times.back(), STOP, "what waited at the stop still leaves");
    EXPECT_LT(times.back(), STOP + 66 * each, "and that is a buffer's");
}

TEST("of each stream, what was sent was received or lost, or is on the way")
{
    constexpr uint32_t SENDERS = 3;
    std::array<uint64_t, 3> mostOnTheWay{};
    Scenario s = SlowMiddle(SENDERS, 10e9, 1e9, 5 * PS_PER_US);
    s.lossProbability = 1e-3;
    AddIncast(s, SENDERS, 500'000);
    constexpr Picos STOP = 40 * PS_PER_MS;
    AddStream(s, 0, SENDERS, 0.4e9, 0, STOP);
    AddStream(s, 1, SENDERS, 0.5e9, 2 * PS_PER_MS, STOP);
    AddStream(s, 1, 2, 2e9, 2 * PS_PER_MS, STOP); // past the slow link
    TcpSettings settings;
    settings.delayedAckTimeout = 200 * PS_PER_US;
    settings.minRto = 2 * PS_PER_MS;
    settings.queue.limit = {20, QueueLength::Unit::Packets};
    Mixed mixed(s, settings);
    const OnTheWay way(mixed.Net());
    for (Picos time = PS_PER_MS; time <= 30 * PS_PER_MS; time += PS_PER_MS)
    {
        mixed.Flows().RunUntil(time);
        for (size_t i = 0; i < s.streams.size(); ++i)
        {
            const StreamCounts counts = mixed.Streams().Of(i);
            const auto onTheWay = static_cast<uint64_t>(way.BytesOf(mixed.Streams().Tuple(i)));
            EXPECT_EQ(counts.sent,
                      counts.received + counts.lost + onTheWay,
                      "stream " << i << " at " << time << " ps");
            mostOnTheWay[i] = std::max(mostOnTheWay[i], onTheWay);
        }
    }
    mixed.Flows().RunUntil(STOP + 300 * PS_PER_MS);
    for (size_t i = 0; i < s.streams.size(); ++i)
    {
        const StreamCounts counts = mixed.Streams().Of(i);
        EXPECT_EQ(counts.sent, counts.received + counts.lost, "stream " << i);
        EXPECT_GT(counts.lost, 0, "some of stream " << i);
        EXPECT_GT(mostOnTheWay[i], PAYLOAD, "stream " << i);
        const StreamEntry& entry = s.streams[i];
        const double seconds = static_cast<double>(entry.stop - entry.flow.start) / PS_PER_SECOND;
        EXPECT_NEAR(static_cast<double>(counts.sent),
                    entry.rateBps * seconds / 8 * PAYLOAD / WIRE,
                    PAYLOAD,
                    "all that stream " << i << " had to send");
    }
    EXPECT_LT(mixed.Streams().Of(2).lost * 50,
              mixed.Streams().Of(2).sent,
              "the links' losses alone");
    EXPECT_EQ(mixed.Net().DeliveredPayload() + mixed.Net().DroppedPayload(),
              mixed.Flows().SentPayload() + mixed.Streams().TransmittedPayload(),
              "flows and streams together");
}

TEST("streams of a host have ports of their own, and spread over equal paths")
{
    Scenario s = FatTree16();
    s.timeLimit = PS_PER_MS;
    for (uint32_t i = 0; i < 12; ++i)
    {
        AddStream(s, 0, 15 - i % 2, 1e9, 0, 50 * PS_PER_US);
    }
    const Routing routing(s);
    Mixed mixed(s, {});
    mixed.Flows().RunUntil(s.timeLimit);
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
        for (const auto& [node, link] : routing.Path(0, s.streams[i].flow.destination, tuple))
        {
            EXPECT_GT(mixed.Net().EgressTo(node, link->node).egress->TxPackets(),
                      0,
                      "stream " << i << " at " << node);
        }
        second.insert(routing.Path(0, s.streams[i].flow.destination, tuple)[1].second->node);
    }
    EXPECT_EQ(ports.size(), s.streams.size(), "a port each");
    EXPECT_GT(second.size(), 1, "more than one way up");
}

TEST("a datagram that fits in no packet is refused")
{
    Scenario s = Dumbbell(1, 10e9);
    AddStream(s, 0, 1, 1e9, 0, NEVER);
    TcpSettings settings;
    settings.segmentBytes = 1000;
    std::string what;
    {
        Fabric fabric(s, settings);
        what = env::test::Refusal([&] { UdpStreams(s, fabric); });
    }
    Simulator::Destroy();
    EXPECT_EQ(what,
              "'streams': a stream's datagrams of 1448 payload bytes fit in no packet: "
              "at most 1052",
              "what is wrong");
}

} // namespace

} // namespace ns3::env::tcp::test
