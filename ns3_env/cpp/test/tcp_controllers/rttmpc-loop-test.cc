// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of RTT-driven MPC in closed loop with a fluid bottleneck (Lynn et al. 2020, eq. 2).
#include "ns3_env/cpp/tcp/controllers/rttmpc-control.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <tuple>
#include <vector>

namespace ns3::env::tcp::test
{

namespace
{

SUITE("tcp-rttmpc-loop");

using env::test::Case;
using env::test::Shown;

constexpr double PROPAGATION = 25e6; // ns

/// A queue that all flows share; a flow learns its RTT when the ACK arrives.
class FluidBottleneck
{
  public:
    static constexpr int ACKS_PER_RTT = 50;

    FluidBottleneck(double rateBps, double propagationNs, double bufferNs)
        : m_rateBps(rateBps),
          m_propagationNs(propagationNs),
          m_bufferNs(bufferNs)
    {
    }

    RttMpcControl& Join(const RttMpcSettings& settings)
    {
        m_flows.push_back({.control = RttMpcControl(settings), .acks = {}});
        return m_flows.back().control;
    }

    /// Calls `see()` at every ACK of the first flow.
    void Run(double rtts, const std::function<void()>& see = [] {})
    {
        const double dtNs = m_propagationNs / ACKS_PER_RTT;
        for (const double endNs = m_nowNs + rtts * m_propagationNs; m_nowNs < endNs;
             m_nowNs += dtNs)
        {
            double sumBps = 0;
            for (const Flow& flow : m_flows)
            {
                sumBps += flow.control.RateBps();
            }
            const double nextNs = m_queueNs + (sumBps - m_rateBps) / m_rateBps * dtNs; // eq. 2
            const bool lost = nextNs > m_bufferNs;
            m_queueNs = std::clamp(nextNs, 0.0, m_bufferNs);
            for (Flow& flow : m_flows)
            {
                flow.acks.push_back({m_nowNs + RttNs(), RttNs(), lost});
                Deliver(flow);
            }
            see();
        }
    }

    double RateBps() const { return m_rateBps; }
    double QueueNs() const { return m_queueNs; }
    double RttNs() const { return m_propagationNs + m_queueNs; }
    RttMpcControl& Control(size_t flow) { return m_flows[flow].control; }

  private:
    struct Ack
    {
        double timeNs;
        double rttNs;
        bool lost;
    };

    struct Flow
    {
        RttMpcControl control;
        std::deque<Ack> acks;
        double recoveredNs{0};
    };

    void Deliver(Flow& flow) const
    {
        for (; !flow.acks.empty() && flow.acks.front().timeNs <= m_nowNs; flow.acks.pop_front())
        {
            const Ack& ack = flow.acks.front();
            if (ack.lost && ack.timeNs >= flow.recoveredNs)
            {
                flow.control.OnLoss();
                flow.recoveredNs = ack.timeNs + ack.rttNs; // one recovery per RTT, as TCP
            }
            flow.control.OnAck(static_cast<int64_t>(ack.timeNs), static_cast<int64_t>(ack.rttNs));
        }
    }

    double m_rateBps;
    double m_propagationNs;
    double m_bufferNs;
    double m_nowNs{1e6};
    double m_queueNs{0};
    std::vector<Flow> m_flows;
};

class Moments
{
  public:
    void Add(double value)
    {
        ++m_count;
        m_sum += value;
        m_squares += value * value;
    }

    double Mean() const { return m_sum / m_count; }
    double Deviation() const
    {
        return std::sqrt(std::max(0.0, m_squares / m_count - Mean() * Mean()));
    }

  private:
    double m_count{0};
    double m_sum{0};
    double m_squares{0};
};

/// Decay forgets the extremes of the path's RTT; probes measure them again.
TEST("probes find the RTTs of an empty and of a full queue again")
{
    FluidBottleneck path(1e9, PROPAGATION, PROPAGATION);
    const RttMpcControl& control = path.Join({.decayRtts = 200, .probeRtts = 60});
    path.Run(400);
    double least = 1e18;
    double forgotten = 0;
    double largest = 0;
    Moments rate;
    path.Run(1000,
             [&]
             {
                 least = std::min(least, control.Range().MinNs());
                 forgotten = std::max(forgotten, control.Range().MinNs());
                 largest = std::max(largest, control.Range().MaxNs());
                 rate.Add(control.RateBps() / 1e9);
             });
    EXPECT_GT(forgotten, 1.1 * PROPAGATION, "l_P was forgotten");
    EXPECT_LT(least, 1.01 * PROPAGATION, "and found");
    EXPECT_GT(largest, 1.9 * PROPAGATION, "l_B, close to the full queue");
    EXPECT_GT(control.Counters().probesUp, 2, "probes up");
    EXPECT_GT(control.Counters().probesDown, 2, "probes down");
    EXPECT_NEAR(rate.Mean(), 1, 0.02, "probes cost little");
}

TEST("a loss empties the queue once, then the flow goes on")
{
    FluidBottleneck path(1e9, PROPAGATION, PROPAGATION);
    path.Join({.decayRtts = 1e5, .probeRtts = 0});
    path.Run(300);
    RttMpcControl& control = path.Control(0);
    EXPECT_GT(path.QueueNs(), 0.3 * PROPAGATION, "a queue stands");
    EXPECT_NEAR(control.OnLoss() / 1e9, 0.5, 0.01, "half of r_B");
    control.OnLoss();
    EXPECT_NEAR(control.RateBps() / 1e9, 0.5, 0.01, "not less for a second loss");
    double queue = path.QueueNs();
    path.Run(4, [&] { queue = std::min(queue, path.QueueNs()); });
    EXPECT_LT(queue, 0.01 * PROPAGATION, "it empties");
    path.Run(200);
    EXPECT_NEAR(path.RttNs() / control.TargetNs(), 1, 0.05, "the target again");
}

TEST("the RTT comes to its target and the rate to the bottleneck's, from any beginning")
{
    for (const auto& [rateBps, propagationNs, bufferRtts, initialShare] :
         {std::tuple{1e9, 25e6, 0.5, 0.01},
          {1e9, 25e6, 1.0, 0.01},
          {1e9, 25e6, 2.0, 0.01},
          {1e9, 25e6, 1.0, 0.9},
          {1e9, 25e6, 1.0, 3.0},
          {100e9, 20e3, 1.0, 0.01}})
    {
        const Case about(Shown(rateBps) + " bit/s from " + Shown(initialShare) + " of it, RTT " +
                         Shown(propagationNs) + " ns, buffer of " + Shown(bufferRtts) + " RTTs");
        FluidBottleneck path(rateBps, propagationNs, bufferRtts * propagationNs);
        const RttMpcControl& control = path.Join({.decayRtts = 1e5,
                                                  .probeRtts = 0,
                                                  .initialBps = initialShare * rateBps,
                                                  .leastBps = 1e3});
        path.Run(4000); // eq. 6 forgets a slow start as 1 / t
        Moments rate;
        Moments rtt;
        const auto see = [&]
        {
            rate.Add(control.RateBps() / path.RateBps());
            rtt.Add(path.RttNs());
        };
        path.Run(50, see);
        EXPECT_NEAR(rtt.Mean() / control.TargetNs(), 1, 0.03, "RTT over its target");
        EXPECT_LT(rtt.Deviation() / propagationNs, 0.02, "the RTT is smooth");
        EXPECT_NEAR(rate.Mean(), 1, 0.01, "rate over r_B");
        EXPECT_LT(rate.Deviation(), 0.02, "the rate is smooth");
        EXPECT_NEAR(control.BottleneckBps() / rateBps, 1, 0.03, "the estimate of r_B");
        EXPECT_NEAR(control.Range().MinNs() / propagationNs, 1, 0.02, "l_P");
        EXPECT_GT(control.TargetNs(), 1.05 * propagationNs, "the target holds a queue");
    }
}

} // namespace

} // namespace ns3::env::tcp::test
