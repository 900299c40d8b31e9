// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of RTT-driven MPC and T-DCTCP on a slow link: goodput, RTTs and the queue.
#include "episodes.h"

#include <cmath>
#include <vector>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-sockets");

constexpr double RATE = 100e6;
constexpr double FULL =
    1000.0 / 1042; // payload's share of a frame with 20 B of TCP, 20 of IP and 2 of PPP

struct Seen
{
    std::vector<double> goodputBps; ///< of each flow
    double meanRttMs{0};
    double rttDeviationMs{0};
    double meanQueue{0}; ///< in packets

    double Sum() const { return goodputBps[0] + (goodputBps.size() > 1 ? goodputBps[1] : 0); }
};

/// Endless flows on a link of 100 Mb/s, each with its sender and controller; segments of 1000 B.
Seen
Observe(const std::vector<ControllerSpec>& controllers,
        QueueSettings queue,
        Picos begin,
        Picos end,
        Picos delay = 5 * MS)
{
    const auto flows = static_cast<uint32_t>(controllers.size());
    Scenario s = Dumbbell(flows, 10 * RATE, 0);
    s.links[flows].rateBps = RATE;
    s.links[flows].delay = delay;
    s.measurement = {begin, end};
    s.controllers = controllers;
    for (uint32_t i = 0; i < flows; ++i)
    {
        AddFlow(s, i, flows, ENDLESS_BYTES, i * MS);
        s.flows.back().controller = i;
    }
    TcpSettings settings = AckEach();
    settings.segmentBytes = 1000;
    settings.minRto = PS_PER_SECOND;
    settings.socketBufferBytes = 8'000'000;
    settings.queue = queue;
    TestEpisode episode(s, settings, controllers[0]);
    episode.RunUntil(begin);
    Seen seen;
    double rtts = 0;
    double squares = 0;
    for (uint32_t i = 0; i < flows; ++i)
    {
        seen.goodputBps.push_back(-8.0 * static_cast<double>(episode.Flow(i).ReceivedBytes()));
        episode.Flow(i).Sender().SetRttCallback(
            [&](Picos rtt)
            {
                const double ms = static_cast<double>(rtt) / MS;
                rtts += 1;
                seen.meanRttMs += ms;
                squares += ms * ms;
            });
    }
    episode.RunUntil(end);
    episode.Net().FinishQueues(end);
    const double seconds = static_cast<double>(end - begin) / PS_PER_SECOND;
    for (uint32_t i = 0; i < flows; ++i)
    {
        seen.goodputBps[i] += 8.0 * static_cast<double>(episode.Flow(i).ReceivedBytes());
        seen.goodputBps[i] /= seconds;
    }
    seen.meanRttMs /= rtts;
    seen.rttDeviationMs = std::sqrt(std::max(0.0, squares / rtts - std::pow(seen.meanRttMs, 2)));
    seen.meanQueue = episode.PortTo(flows + 1, flows + 2).Stats()->Mean() / 1040;
    return seen;
}

TEST("rttmpc alone fills the link and holds the RTT halfway up the queue")
{
    const Seen seen = Observe({{"rttmpc", {}}}, {Packets(120), {}}, 2000 * MS, 4000 * MS);
    EXPECT_NEAR(seen.Sum() / (FULL * RATE), 1, 0.01, "goodput");
    // empty 10.1 ms, full 20.1 ms
    EXPECT_GT(seen.meanRttMs, 12, "a queue stands");
    EXPECT_LT(seen.meanRttMs, 18, "it is not full");
    EXPECT_LT(seen.rttDeviationMs, 1.5, "the RTT is smooth");
}

TEST("rttmpc loses packets in a small buffer and goes on")
{
    const ControllerSpec often{"rttmpc", {{"ProbeRtts", "30"}}};
    const Seen seen = Observe({often, often}, {Packets(15), {}}, 2000 * MS, 5000 * MS);
    EXPECT_GT(seen.Sum() / (FULL * RATE), 0.75, "goodput");
    EXPECT_GT(std::min(seen.goodputBps[0], seen.goodputBps[1]) / (FULL * RATE), 0.1, "a flow's");
    // empty 10.1 ms, full 11.4 ms: the duration of a recovery is no RTT
    EXPECT_LT(seen.meanRttMs, 12, "the RTT");
}

TEST("rttmpc flows keep caps that fit the link, without a queue")
{
    const std::vector<double> caps{20e6, 50e6, 0.5e6}; // the last: less than a packet per RTT
    std::vector<ControllerSpec> controllers;
    for (double bps : caps)
    {
        controllers.push_back({"rttmpc",
                               {{"InitialRate", std::to_string(bps / 2) + "bps"},
                                {"MinRate", "100kb/s"},
                                {"MaxRate", std::to_string(bps) + "bps"}}});
    }
    const Seen seen = Observe(controllers, {Packets(120), {}}, 1000 * MS, 3000 * MS);
    for (size_t i = 0; i < caps.size(); ++i)
    {
        EXPECT_NEAR(seen.goodputBps[i] / caps[i], 1, 0.02, "flow " << i);
    }
    EXPECT_LT(seen.meanQueue, 2, "the queue");
}

TEST("tdctcp below T_low grows until marks cut it, near the threshold")
{
    const ControllerSpec law{"tdctcp", {}};
    const QueueSettings marks{Packets(400), EcnThreshold{Packets(20)}};
    const Seen seen = Observe({law, law}, marks, 1000 * MS, 3000 * MS, 200 * US);
    EXPECT_GT(seen.Sum() / (FULL * RATE), 0.95, "goodput");
    EXPECT_LT(seen.meanQueue, 30, "the queue");
    EXPECT_GT(seen.meanQueue, 5, "which is not empty");
}

TEST("tdctcp above T_low needs no mark: a rising RTT holds the queue")
{
    const Seen seen = Observe({{"tdctcp", {}}}, {Packets(1200), {}}, 1000 * MS, 2000 * MS);
    EXPECT_GT(seen.Sum() / (FULL * RATE), 0.95, "goodput");
    EXPECT_LT(seen.meanQueue, 100, "the queue");
}

} // namespace

} // namespace ns3::env::tcp::test
