// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of TCP's network: another seed is another run, and episodes leave no memory.
#include "episodes.h"

#include <fstream>
#include <unistd.h>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-fabric");

TEST("another seed and another law are another run, and a run does not depend on those before it")
{
    const auto endsOf = [](uint64_t seed, const char* law)
    {
        Scenario s = SlowMiddle(4, 10e9, 10e9, 5 * US);
        s.seed = seed;
        s.lossProbability = 1e-3;
        AddIncast(s, 4, 300'000, 10 * US);
        TcpSettings settings = ShortTimeouts();
        settings.queue.limit = Packets(20);
        TestEpisode episode(s, settings, {law, {}});
        episode.Run();
        std::vector<Picos> ends;
        for (size_t i = 0; i < episode.Flows(); ++i)
        {
            ends.push_back(episode.Flow(i).EndTime());
        }
        return ends;
    };
    const std::vector<Picos> first = endsOf(5, "bbr");
    EXPECT(endsOf(6, "bbr") != first, "another seed");
    EXPECT(endsOf(5, "dctcp") != first, "another law");
    EXPECT(endsOf(5, "bbr") == first, "again, after others");
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
        episode.RunUntil(i % 3 == 0 ? 30 * US : MS); // some are cut
    }
    const long grown = (residentPages() - before) * sysconf(_SC_PAGESIZE);
    EXPECT_LT(grown, MORE * 4096, "bytes that " << MORE << " episodes left");
}
#endif

} // namespace

} // namespace ns3::env::tcp::test
