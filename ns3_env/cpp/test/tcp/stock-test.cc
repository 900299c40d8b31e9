// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of TCP against ns-3's own stack: every law, drawn networks, the same picoseconds and bytes.
// What that stack gave is stored: stock-reports.txt (docs/decisions/0016-tcp.md).
#include "episodes.h"

#include "ns3_env/cpp/tcp/socket/congestion-ops.h"
#include "ns3_env/cpp/test/suite.h"

#include <fstream>
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
    std::map<std::pair<uint32_t, uint32_t>, const Port*> ports;
    for (const Egress& egress : episode.Net().Egresses())
    {
        ports[{egress.node, egress.peer}] = egress.egress.get();
    }
    for (const LinkSpec& link : scenario.links)
    {
        for (const auto& ends : {std::pair{link.a, link.b}, std::pair{link.b, link.a}})
        {
            const Port& port = *ports.at(ends);
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

/// Hashes of the reports of ns-3's own stack, by law and network.
std::map<std::pair<std::string, uint32_t>, uint64_t>
StockReports()
{
    std::ifstream file(TCP_STOCK_REPORTS);
    std::string line;
    std::getline(file, line); // what the file is
    std::map<std::pair<std::string, uint32_t>, uint64_t> hashes;
    std::string law;
    uint32_t network = 0;
    uint64_t hash = 0;
    while (file >> law >> std::dec >> network >> std::hex >> hash)
    {
        hashes[{law, network}] = hash;
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
        Scenario s = SlowMiddle(senders, Of({1e9, 10e9}), Of({1e9, 10e9}), Of({1, 20}) * PS_PER_US);
        s.seed = m_random() % 1000 + 1;
        s.lossProbability = Of({0.0, 0.0, 1e-3, 0.02});
        s.timeLimit = 100 * PS_PER_MS;
        AddIncast(s, senders, Of<uint64_t>({3'000, 60'000, 400'001}), Of({0, 7}) * PS_PER_US);
        return s;
    }

    TcpSettings Settings()
    {
        TcpSettings settings;
        settings.segmentBytes = Of({536U, 1448U, 1448U, 8960U});
        settings.initialWindowSegments = Of({1U, 10U, 10U, 60U});
        settings.segmentsPerAck = Of({1U, 1U, 2U, 4U});
        settings.delayedAckTimeout = Of({50, 500}) * PS_PER_US;
        settings.minRto = Of({1, 5}) * PS_PER_MS;
        settings.initialRto = Of({5, 20}) * PS_PER_MS;
        settings.sack = Of({true, true, false});
        settings.ecn = Of({true, false});
        settings.pacing = Of({true, false, false});
        settings.socketBufferBytes = Of({64 * 8960U, 4U << 20});
        settings.queue = Queue();
        if (Of({true, false, false}))
        {
            settings.hostQueue = Queue();
        }
        return settings;
    }

  private:
    QueueSettings Queue()
    {
        using Unit = QueueLength::Unit;
        QueueSettings queue{.limit = Of({QueueLength{5, Unit::Packets},
                                         QueueLength{25, Unit::Packets},
                                         QueueLength{200, Unit::Packets},
                                         QueueLength{60e3, Unit::Bytes}}),
                            .discipline = DropTail{}};
        const auto kind = Of({0, 0, 1, 2});
        if (kind == 1)
        {
            queue.discipline = EcnThreshold{.threshold = {8, Unit::Packets}};
        }
        if (kind == 2)
        {
            Red red{{5, Unit::Packets}, {15, Unit::Packets}};
            red.ecn = Of({true, false});
            red.averageWeight = 0.1;
            queue.discipline = red;
        }
        return queue;
    }

    std::mt19937 m_random;
};

TEST("every law plays as on ns-3's own stack, to the picosecond")
{
    constexpr uint32_t NETWORKS = 6;
    auto stock = StockReports();
    for (const std::string& law : ListCongestionOps())
    {
        if (law == "max_min" || law == "oracle")
        {
            continue; // fluids
        }
        for (uint32_t seed = 1; seed <= NETWORKS; ++seed)
        {
            Draw draw(seed);
            const Scenario scenario = draw.Network();
            const TcpSettings settings = draw.Settings();
            const std::string own = Play(scenario, settings, {law, {}});
            EXPECT_EQ(HashOf(own),
                      (stock[{law, seed}]),
                      law << ", network " << seed << ":\n"
                          << own);
        }
    }
}

TEST("drawn networks play as on ns-3's own stack, to the picosecond")
{
    constexpr uint32_t NETWORKS = 120;
    auto stock = StockReports();
    for (uint32_t seed = 100; seed < 100 + NETWORKS; ++seed)
    {
        Draw draw(seed);
        const Scenario scenario = draw.Network();
        const TcpSettings settings = draw.Settings();
        const ControllerSpec law{draw.Of({"cubic", "newreno", "dctcp", "bbr", "vegas"}), {}};
        const std::string own = Play(scenario, settings, law);
        EXPECT_EQ(HashOf(own),
                  (stock[{law.name, seed}]),
                  law.name << ", network " << seed << ":\n"
                           << own);
    }
}

} // namespace

} // namespace ns3::env::tcp::test
