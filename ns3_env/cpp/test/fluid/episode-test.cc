// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of fluid episodes: rates, completion times and bytes by hand.
#include "ns3/simulator.h"
#include "ns3_env/cpp/fluid/fluid-episode.h"
#include "ns3_env/cpp/rdma/program/fluid-paths.h"
#include "ns3_env/cpp/test/scenarios.h"
#include "ns3_env/cpp/test/suite.h"

#include <memory>
#include <utility>
#include <vector>

namespace ns3::env
{

namespace
{

SUITE("fluid-episode");

using env::test::AddFlow;
using env::test::AddIncast;

constexpr double RATE = 100e9;
constexpr uint64_t MB = 1'000'000;
constexpr Picos US = 1000 * PS_PER_NS;
constexpr double PAYLOAD_SHARE = 1000.0 / 1048;

/// Time in which a link of RATE carries these payload bytes.
double
TimeOf(double bytes)
{
    return bytes * 8 / (RATE * PAYLOAD_SHARE) * PS_PER_SECOND;
}

Scenario
Dumbbell(uint32_t senders)
{
    Scenario s = env::test::Dumbbell(senders, RATE);
    s.published = false;
    return s;
}

/// A flow's rate from a time on.
struct Step
{
    Picos time;
    uint32_t flow;
    double rateBps;
};

/// An episode in a separate simulation, run to its end.
class Run
{
  public:
    explicit Run(Scenario scenario, Sharing sharing = Sharing::MaxMin)
        : m_episode(std::make_unique<FluidEpisode>(
              std::move(scenario),
              sharing,
              [](const Scenario& own) { return std::make_unique<rdma::FluidPaths>(own); },
              [](Flow&, const FlowEntry&) {}))
    {
        m_episode->TraceWindowAndRate(Callback<void, const FlowState&, Picos>(
            [this](const FlowState& flow, Picos now)
            { m_steps.push_back({now, flow.Id(), flow.RateBps()}); }));
        m_episode->Run();
    }
    ~Run()
    {
        m_episode.reset();
        Simulator::Destroy();
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    FluidEpisode* operator->() { return m_episode.get(); }
    const FlowRecord& Of(size_t flow) const { return m_episode->Records()[flow]; }

    /// Time from a flow's standalone end to its actual end.
    Picos Late(size_t flow) const
    {
        return Of(flow).end - m_episode->GetScenario().flows[flow].flow.start - Of(flow).standalone;
    }

    /// A flow's rate at `time`, by its steps up to then.
    double RateAt(uint32_t flow, Picos time) const
    {
        double rate = -1;
        for (const Step& step : m_steps)
        {
            rate = step.flow == flow && step.time <= time ? step.rateBps : rate;
        }
        return rate;
    }

  private:
    std::unique_ptr<FluidEpisode> m_episode;
    std::vector<Step> m_steps;
};

TEST("a flow alone ends exactly at its standalone time, whatever its size")
{
    for (const uint64_t bytes : {uint64_t{1}, uint64_t{999}, uint64_t{1001}, 7 * MB + 13, 400 * MB})
    {
        Scenario s = Dumbbell(1);
        AddFlow(s, 0, 1, bytes, 17);
        const Run run(std::move(s));
        EXPECT_EQ(run.Late(0), 0, bytes << " bytes");
        EXPECT_EQ(run.Of(0).ackedBytes, bytes, "acknowledged");
    }
}

TEST("two flows of one link have half of it each until the shorter is through")
{
    Scenario s = Dumbbell(2);
    AddFlow(s, 0, 2, 2 * MB);
    AddFlow(s, 1, 2, MB);
    const Run run(std::move(s));
    // The shorter is through when the link has carried 2 MB, the longer at 3 MB: each 1 MB later than without the
    // other.
    EXPECT_NEAR(run.Late(0), TimeOf(MB), 1, "the longer");
    EXPECT_NEAR(run.Late(1), TimeOf(MB), 1, "the shorter");
    const auto through = static_cast<Picos>(TimeOf(2 * MB));
    EXPECT_EQ(run.RateAt(0, through - 1), RATE / 2, "both there");
    EXPECT_EQ(run.RateAt(1, through - 1), RATE / 2, "both there");
    EXPECT_EQ(run.RateAt(0, through + 1), RATE, "alone");
    EXPECT_EQ(run.RateAt(1, through + 1), 0, "through");
}

TEST("rates change at an arrival: the first flow alone, both at half, the second alone")
{
    constexpr Picos LATER = 30 * US;
    Scenario s = Dumbbell(2);
    AddFlow(s, 0, 2, MB);
    AddFlow(s, 1, 2, MB, LATER);
    const Run run(std::move(s));
    // At the arrival the first has MB - x to go, which takes twice as long as without the other; the second then has x
    // to go.
    EXPECT_NEAR(run.Late(0), TimeOf(MB) - LATER, 1, "the first");
    EXPECT_NEAR(run.Late(1), TimeOf(MB) - LATER, 1, "the second");
    EXPECT_EQ(run.RateAt(0, LATER - 1), RATE, "before");
    EXPECT_EQ(run.RateAt(0, LATER), RATE / 2, "from then on");
}

TEST("equal flows that start together each end n - 1 of their times late")
{
    Scenario s = Dumbbell(8);
    AddIncast(s, 8, MB);
    const Run run(std::move(s));
    for (size_t flow = 0; flow < 8; ++flow)
    {
        EXPECT_NEAR(run.Late(flow), TimeOf(7 * MB), 1, "flow " << flow);
    }
}

/// Switches in a row with a host at the beginning, one at the end and two at each: from host 0 to 1 across all, and
/// across each link, at a multiple of RATE, between two hosts at its ends.
Scenario
ParkingLot(const std::vector<double>& rates, uint64_t bytes)
{
    const auto count = static_cast<uint32_t>(rates.size());
    const uint32_t hosts = 2 + 2 * count;
    Scenario s = Dumbbell(1);
    s.links.clear();
    s.isSwitch.assign(hosts, false);
    s.isSwitch.insert(s.isSwitch.end(), count + 1, true);
    const auto attach = [&](uint32_t host, uint32_t position)
    { s.links.push_back({host, hosts + position, 10 * RATE, US}); };
    attach(0, 0);
    attach(1, count);
    AddFlow(s, 0, 1, bytes);
    for (uint32_t i = 0; i < count; ++i)
    {
        s.links.push_back({hosts + i, hosts + i + 1, rates[i] * RATE, US});
        attach(2 + 2 * i, i);
        attach(3 + 2 * i, i + 1);
        AddFlow(s, 2 + 2 * i, 3 + 2 * i, bytes);
    }
    return s;
}

TEST("a parking lot of equal links gives each flow a half, one of unequal links what the rest "
     "leaves")
{
    for (const auto& [rates, wanted] :
         std::vector<std::pair<std::vector<double>, std::vector<double>>>{
             {{1, 1, 1}, {0.5, 0.5, 0.5, 0.5}},
             {{1, 2, 5}, {0.5, 0.5, 1.5, 4.5}}})
    {
        const Run run(ParkingLot(rates, MB));
        for (uint32_t flow = 0; flow < 4; ++flow)
        {
            EXPECT_NEAR(run.RateAt(flow, 1), wanted[flow] * RATE, 1, "flow " << flow);
        }
    }
}

TEST("least remaining first: flows that start together go one after another, the shortest first")
{
    Scenario s = Dumbbell(3);
    AddFlow(s, 0, 3, 3 * MB);
    AddFlow(s, 1, 3, MB);
    AddFlow(s, 2, 3, 2 * MB);
    const Run run(std::move(s), Sharing::LeastRemaining);
    EXPECT_NEAR(run.Late(1), 0, 1, "1 MB waits for none");
    EXPECT_NEAR(run.Late(2), TimeOf(MB), 1, "2 MB for 1 MB");
    EXPECT_NEAR(run.Late(0), TimeOf(3 * MB), 1, "3 MB for both");
}

TEST("least remaining first: a newcomer waits for who has less left, and goes before who has more")
{
    const auto half = static_cast<Picos>(TimeOf(MB));
    Scenario s = Dumbbell(3);
    AddFlow(s, 0, 3, 2 * MB);
    AddFlow(s, 1, 3, MB / 2, half);     // less than the 1 MB left
    AddFlow(s, 2, 3, 3 * MB / 2, half); // more
    const Run run(std::move(s), Sharing::LeastRemaining);
    EXPECT_NEAR(run.Late(1), 0, 1, "it goes at once");
    EXPECT_NEAR(run.Late(0), TimeOf(MB / 2), 2, "it is held up by that one");
    EXPECT_NEAR(run.Late(2), TimeOf(3 * MB / 2), 2, "it waits for both");
}

TEST("least remaining first: a flow that comes to have less left than another takes its place")
{
    // Flow 2's own link has 0.9 of the rate of the other links: flow 0 has 0.1 of the link that they share, and flow 1
    // 0.9 of the next.
    Scenario s = Dumbbell(1);
    s.isSwitch = {false, false, false, false, false, false, true, true, true};
    s.links = {{0, 6, RATE, US},
               {1, 8, RATE, US},
               {2, 7, RATE, US},
               {3, 8, RATE, US},
               {4, 6, 0.9 * RATE, US},
               {5, 7, RATE, US},
               {6, 7, RATE, US},
               {7, 8, RATE, US}};
    AddFlow(s, 0, 1, 20 * MB);
    AddFlow(s, 2, 3, 30 * MB);
    AddFlow(s, 4, 5, 19 * MB);
    const Run run(std::move(s), Sharing::LeastRemaining);
    const auto crossing = static_cast<Picos>(TimeOf(12.5 * MB)); // 30 - 0.9 x = 20 - 0.1 x
    EXPECT_NEAR(run.RateAt(0, crossing - 10), 0.1 * RATE, 1, "before");
    EXPECT_NEAR(run.RateAt(1, crossing - 10), 0.9 * RATE, 1, "before");
    EXPECT_NEAR(run.RateAt(0, crossing + 10), 0, 1, "after");
    EXPECT_NEAR(run.RateAt(1, crossing + 10), RATE, 1, "after");
}

TEST("endless flows have their rates until the time limit, and what they have carried")
{
    for (const Sharing sharing : {Sharing::MaxMin, Sharing::LeastRemaining})
    {
        Scenario s = Dumbbell(2);
        s.timeLimit = 100 * US;
        AddFlow(s, 0, 2, ENDLESS_BYTES);
        AddFlow(s, 1, 2, ENDLESS_BYTES);
        Run run(std::move(s), sharing);
        const double carried = 100 * US / TimeOf(1);
        const double first = sharing == Sharing::MaxMin ? carried / 2 : carried;
        EXPECT_NEAR(run.Of(0).ackedBytes, first, 1, "the first");
        EXPECT_NEAR(run.Of(1).ackedBytes, carried - first, 1, "the second");
        EXPECT_EQ(run.Of(0).end, -1, "no end");
    }
}

TEST("a time limit cuts flows, and all that was acknowledged has been delivered")
{
    Scenario s = Dumbbell(4);
    s.timeLimit = 150 * US;
    AddIncast(s, 4, MB, 7 * US);
    Run run(std::move(s));
    uint64_t acked = 0;
    for (const FlowRecord& record : run->Records())
    {
        EXPECT_LT(record.ackedBytes, MB, "cut");
        acked += record.ackedBytes;
    }
    EXPECT_NEAR(acked, 150 * US / TimeOf(1), 3, "the link was full all the time");
    EXPECT_EQ(run->Totals().deliveredPayload, acked, "delivered");
    EXPECT_EQ(run->Totals().transmittedPayload, acked, "sent");
}

TEST("a stream takes its rate of a link first, while it is on")
{
    Scenario s = Dumbbell(2);
    s.timeLimit = 400 * US;
    AddFlow(s, 0, 2, ENDLESS_BYTES);
    s.streams.push_back({{1, 1, 2, ENDLESS_BYTES, 100 * US}, 0.3 * RATE, 200 * US});
    Run run(std::move(s));
    EXPECT_EQ(run.RateAt(0, 100 * US - 1), RATE, "before");
    EXPECT_NEAR(run.RateAt(0, 100 * US), 0.7 * RATE, 1, "beside it");
    EXPECT_EQ(run.RateAt(0, 200 * US), RATE, "after");
    const double each = 100 * US / TimeOf(1); // of 100 us
    EXPECT_NEAR(run->CountsOf(0).received, 0.3 * each, 1, "the stream");
    EXPECT_NEAR(run.Of(0).ackedBytes, 3.7 * each, 1, "the flow");
    EXPECT_EQ(run->Totals().deliveredPayload,
              run.Of(0).ackedBytes + run->CountsOf(0).received,
              "delivered");
}

TEST("streams that exceed a link have all of it, in proportion, and leave flows nothing")
{
    Scenario s = Dumbbell(3);
    s.timeLimit = 100 * US;
    AddFlow(s, 0, 3, MB);
    s.streams.push_back({{1, 1, 3, ENDLESS_BYTES, 0}, RATE, NEVER});
    s.streams.push_back({{2, 2, 3, ENDLESS_BYTES, 0}, RATE / 2, NEVER});
    Run run(std::move(s));
    const double all = 100 * US / TimeOf(1);
    EXPECT_EQ(run.Of(0).ackedBytes, 0, "the flow");
    EXPECT_NEAR(run->CountsOf(0).received, all * 2 / 3, 1, "the faster stream");
    EXPECT_NEAR(run->CountsOf(1).received, all / 3, 1, "the other");
}

TEST("a switch's ports count what passes them, and have no queue")
{
    Scenario s = Dumbbell(2);
    AddFlow(s, 0, 2, 2 * MB);
    AddFlow(s, 1, 2, MB);
    Run run(std::move(s));
    uint64_t busy = 0;
    run->ForEachQueue(
        [&](const EgressQueue& queue)
        {
            EXPECT_EQ(queue.bytes, 0, "queue");
            EXPECT_EQ(queue.stats->Max(), 0, "queue");
            if (queue.txBytes > 0)
            {
                ++busy;
                EXPECT_EQ(queue.txBytes, 3 * MB * 1048 / 1000, "node " << queue.node);
            }
        });
    EXPECT_EQ(busy, 2, "the two ports towards the receiver");
}

TEST("some flows under a fluid and others under a controller of packets are refused")
{
    const Fluids fluids{{"max_min", Sharing::MaxMin}};
    Scenario s = Dumbbell(2);
    AddIncast(s, 2, MB);
    EXPECT(!SharingOf(s, fluids), "none of them");
    s.controllers = {{"max_min", {}}, {"hpcc", {}}};
    EXPECT(SharingOf(s, fluids) == Sharing::MaxMin, "all of them");
    s.flows[1].controller = 1;
    EXPECT_EQ(env::test::Refusal([&] { SharingOf(s, fluids); }),
              "'controllers': 'max_min' is a reference without packets: all flows are under it or "
              "none, and some are under 'hpcc'",
              "both");
}

} // namespace

} // namespace ns3::env
