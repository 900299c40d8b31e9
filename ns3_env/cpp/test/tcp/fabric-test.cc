// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of TCP's network: no byte vanishes, a seed decides every bit, episodes leave no memory.
#include "episodes.h"

#include "ns3_env/cpp/test/suite.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unistd.h>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-fabric");

constexpr uint32_t SENDERS = 4;

/// Four flows through a short queue, on links that lose some packets.
Scenario
Lossy(uint64_t seed, uint64_t bytes)
{
    Scenario s = SlowMiddle(SENDERS, 10e9, 10e9, 5 * PS_PER_US);
    s.seed = seed;
    s.lossProbability = 1e-3;
    AddIncast(s, SENDERS, bytes, 10 * PS_PER_US);
    return s;
}

TcpSettings
ShortQueue()
{
    TcpSettings settings;
    settings.delayedAckTimeout = 200 * PS_PER_US;
    settings.minRto = PS_PER_MS;
    settings.queue.limit = {20, QueueLength::Unit::Packets};
    return settings;
}

TEST("what was sent was received or dropped, or is on the way")
{
    TestEpisode episode(Lossy(1, 1'000'000), ShortQueue(), {"cubic", {}});
    const OnTheWay way(episode.Net());
    const auto inTheEnd = [&]
    {
        return static_cast<int64_t>(episode.Net().DeliveredPayload() +
                                    episode.Net().DroppedPayload());
    };
    bool sawSome = false;
    for (Picos time = 100 * PS_PER_US; time < 2 * PS_PER_MS; time += 100 * PS_PER_US)
    {
        episode.RunUntil(time);
        EXPECT_EQ(static_cast<int64_t>(episode.SentPayload()),
                  inTheEnd() + way.Bytes(),
                  "after " << time << " ps");
        sawSome = sawSome || way.Bytes() > 0;
    }
    EXPECT(sawSome, "some was on the way");
    episode.Run();
    episode.RunUntil(2 * PS_PER_SECOND); // retransmissions arrive also
    uint64_t unique = 0;
    uint64_t repeated = 0;
    for (size_t i = 0; i < episode.Flows(); ++i)
    {
        const TcpFlow& flow = episode.Flow(i);
        EXPECT(flow.IsFinished(), "flow " << i);
        EXPECT_EQ(flow.ReceivedBytes(), 1'000'000, "flow " << i);
        unique += flow.ReceivedBytes();
        repeated += flow.RetransmittedBytes();
    }
    EXPECT_EQ(episode.SentPayload(), unique + repeated, "first and again");
    EXPECT_GT(episode.Net().DroppedPayload(), 0, "some was dropped");
    EXPECT_EQ(static_cast<int64_t>(episode.SentPayload()), inTheEnd(), "at the end");
    EXPECT_EQ(way.Bytes(), 0, "nothing is on the way");
}

/// All that can be seen of an episode.
std::string
Digest(uint64_t seed, const std::string& controller)
{
    TestEpisode episode(Lossy(seed, 300'000), ShortQueue(), {controller, {}});
    episode.Run();
    std::ostringstream digest;
    for (size_t i = 0; i < episode.Flows(); ++i)
    {
        const TcpFlow& flow = episode.Flow(i);
        digest << flow.EndTime() << ' ' << flow.TransmittedBytes() << ' ' << flow.Timeouts() << ' '
               << flow.Rtts()->Count() << ' ' << flow.Rtts()->Mean() << ' ' << flow.Rtts()->Max()
               << ' ' << flow.WindowBytes() << ' ';
    }
    for (const Egress& egress : episode.Net().Egresses())
    {
        digest << egress.egress->TxBytes() << ' ';
    }
    return digest.str();
}

constexpr const char* DIGEST_LINE = "digest of an episode: ";

/// A separate suite, which prints its digest for another process to compare.
const bool DIGEST = env::test::Suite("tcp-digest")
                        .Add("an episode says what it saw",
                             [] { std::cout << DIGEST_LINE << Digest(5, "bbr") << std::endl; });

TEST("the same seed gives the same bits, in one process and in two")
{
    const auto ofAnotherProcess = []() -> std::string
    {
        const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
        const std::string command = std::string("'").append(self) + "' --test-name=tcp-digest";
        std::string output;
        std::array<char, 256> part{};
        if (FILE* pipe = popen(command.c_str(), "r"))
        {
            while (std::fgets(part.data(), part.size(), pipe) != nullptr)
            {
                output += part.data();
            }
            pclose(pipe);
        }
        const size_t begin = output.find(DIGEST_LINE) + std::string(DIGEST_LINE).size();
        return output.substr(begin, output.find('\n', begin) - begin);
    };

    const std::string first = Digest(5, "bbr");
    EXPECT_NE(Digest(6, "bbr"), first, "another seed");
    EXPECT_NE(Digest(5, "dctcp"), first, "another controller");
    EXPECT_EQ(Digest(5, "bbr"), first, "again, after others");
    EXPECT_EQ(ofAnotherProcess(), first, "in another process");
}

#ifndef __SANITIZE_ADDRESS__ // freed memory stays for a while
TEST("episodes leave no memory")
{
    const auto residentPages = []() -> long
    {
        std::ifstream statm("/proc/self/statm");
        long all = 0;
        long resident = 0;
        statm >> all >> resident;
        return resident;
    };

    constexpr int WARM = 20;
    constexpr int MORE = 100;
    long before = 0;
    for (int i = 0; i < WARM + MORE; ++i)
    {
        before = i == WARM ? residentPages() : before;
        Scenario s = FatTree16();
        for (uint32_t flow = 0; flow < 16; ++flow)
        {
            AddFlow(s, flow, (flow + 5) % 16, 10'000);
        }
        TestEpisode episode(s, {}, {i % 2 == 0 ? "cubic" : "bbr", {}});
        episode.RunUntil(i % 3 == 0 ? 30 * PS_PER_US : PS_PER_MS); // some are cut
    }
    const long grown = (residentPages() - before) * sysconf(_SC_PAGESIZE);
    EXPECT_LT(grown, MORE * 4096, "bytes that " << MORE << " episodes left");
}
#endif

} // namespace

} // namespace ns3::env::tcp::test
