// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of TCP against ns-3's own stack: every law, drawn networks, the same picoseconds and bytes.
// What that stack gave is stored: stock-reports.txt (docs/decisions/0016-tcp.md).
#include "episodes.h"

#include "ns3_env/cpp/tcp/socket/congestion-ops.h"

#include <fstream>
#include <map>
#include <random>
#include <sstream>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-stock");

/// Report on all flows under one controller, to the picosecond and the byte, and on all ports.
std::string
Play(const Scenario& scenario, const TcpSettings& settings, const ControllerSpec& spec)
{
    TestEpisode episode(scenario, settings, spec);
    episode.Run();
    std::ostringstream text;
    for (size_t i = 0; i < episode.Flows(); ++i)
    {
        const TcpFlow& flow = episode.Flow(i);
        const SenderCounts& counts = flow.Sender().Counts();
        const RttSamples& rtts = flow.Sender().Rtts();
        text << flow.EndTime() << ' ' << counts.sentBytes << ' ' << counts.retransmittedBytes << ' '
             << counts.acknowledgedBytes << ' ' << counts.packets << ' ' << counts.timeouts << ' '
             << rtts.Count() << ' ' << rtts.First() << ' ' << rtts.Last() << ' ' << rtts.Max()
             << ' ' << std::hexfloat << rtts.Mean() << std::defaultfloat << '\n';
    }
    for (const LinkSpec& link : scenario.links)
    {
        for (const auto& ends : {std::pair{link.a, link.b}, std::pair{link.b, link.a}})
        {
            const Port& port = episode.PortTo(ends.first, ends.second);
            text << port.TxPackets() << ' ' << port.TxBytes() << ' '
                 << port.Lost().By(LossCause::BufferFull).packets << ' '
                 << port.Lost().By(LossCause::Link).packets << '\n';
        }
    }
    return text.str();
}

/// FNV-1a of a text.
uint64_t
HashOf(const std::string& text)
{
    uint64_t hash = 14695981039346656037ULL;
    for (const unsigned char c : text)
    {
        hash = (hash ^ c) * 1099511628211ULL;
    }
    return hash;
}

/// Hashes of the reports of ns-3's own stack, by law, or "drawn", and network: six networks to a line, from the first.
std::map<std::pair<std::string, uint32_t>, uint64_t>
StockReports()
{
    std::ifstream file(TCP_STOCK_REPORTS);
    std::string law;
    std::getline(file, law); // what the file is
    std::map<std::pair<std::string, uint32_t>, uint64_t> hashes;
    for (uint32_t first = 0; file >> law >> std::dec >> first;)
    {
        for (uint32_t network = first; network < first + 6; ++network)
        {
            file >> std::hex >> hashes[{law, network}];
        }
    }
    return hashes;
}

/// Draws a connection's conditions.
class Draw
{
  public:
    explicit Draw(uint32_t seed)
        : m_random(seed)
    {
    }

    template <class T>
    T Of(std::initializer_list<T> choices)
    {
        return *(choices.begin() + m_random() % choices.size());
    }

    Scenario Network()
    {
        const auto senders = Of({1U, 3U, 6U});
        Scenario s = SlowMiddle(senders, Of({1e9, 10e9}), Of({1e9, 10e9}), Of({1, 20}) * US);
        s.seed = m_random() % 1000 + 1;
        s.lossProbability = Of({0.0, 0.0, 1e-3, 0.02});
        s.timeLimit = 100 * MS;
        AddIncast(s, senders, Of<uint64_t>({3'000, 60'000, 400'001}), Of({0, 7}) * US);
        return s;
    }

    TcpSettings Settings()
    {
        TcpSettings settings;
        settings.segmentBytes = Of({536U, 1448U, 1448U, 8960U});
        settings.initialWindowSegments = Of({1U, 10U, 10U, 60U});
        settings.segmentsPerAck = Of({1U, 1U, 2U, 4U});
        settings.delayedAckTimeout = Of({50, 500}) * US;
        settings.minRto = Of({1, 5}) * MS;
        settings.initialRto = Of({5, 20}) * MS;
        settings.sack = Of({true, true, false});
        settings.ecn = Of({true, false});
        settings.pacing = Of({true, false, false});
        settings.socketBufferBytes = Of({64 * 8960U, 4U << 20});
        settings.queue = Queue();
        settings.hostQueue =
            Of({true, false, false}) ? std::optional(Queue()) : std::optional<QueueSettings>();
        return settings;
    }

  private:
    QueueSettings Queue()
    {
        const QueueLength bytes{60e3, QueueLength::Unit::Bytes};
        QueueSettings queue{Of({Packets(5), Packets(25), Packets(200), bytes}), DropTail{}};
        const auto kind = Of({0, 0, 1, 2});
        if (kind == 1)
        {
            queue.discipline = EcnThreshold{.threshold = Packets(8)};
        }
        if (kind == 2)
        {
            Red red{Packets(5), Packets(15)};
            red.ecn = Of({true, false});
            red.averageWeight = 0.1;
            queue.discipline = red;
        }
        return queue;
    }

    std::mt19937 m_random;
};

/// Plays a drawn network under a law, or under one that is drawn behind it.
void
PlayDrawn(uint32_t seed, const std::string& key)
{
    static const auto STOCK = StockReports();
    Draw draw(seed);
    const Scenario scenario = draw.Network();
    const TcpSettings settings = draw.Settings();
    const std::string law =
        key == "drawn" ? draw.Of({"cubic", "newreno", "dctcp", "bbr", "vegas"}) : key;
    const std::string own = Play(scenario, settings, {law, {}});
    EXPECT_EQ(HashOf(own), STOCK.at({key, seed}), law << ", network " << seed << ":\n" << own);
}

TEST("every law plays as on ns-3's own stack, to the picosecond")
{
    for (const std::string& law : ListCongestionOps())
    {
        for (uint32_t seed = 1; seed <= 6 && law != "max_min" && law != "oracle"; ++seed) // fluids
        {
            PlayDrawn(seed, law);
        }
    }
}

TEST("drawn networks play as on ns-3's own stack, to the picosecond")
{
    for (uint32_t seed = 100; seed < 220; ++seed)
    {
        PlayDrawn(seed, "drawn");
    }
}

} // namespace

} // namespace ns3::env::tcp::test
