// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of RTT-driven MPC in closed loop with a fluid bottleneck (Lynn et al. 2020, eq. 2).
#include "ns3/test.h"
#include "ns3_env/cpp/tcp/controllers/rttmpc-control.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

namespace ns3::env::tcp::test
{

namespace
{

/// A queue that all flows share; a flow hears of its RTT when the ACK arrives.
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
    template <typename See>
    void Run(double rtts, const See& see)
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
                const double rttNs = m_propagationNs + m_queueNs;
                flow.acks.push_back({m_nowNs + rttNs, rttNs, lost});
                Deliver(flow);
            }
            see();
        }
    }

    void Run(double rtts)
    {
        Run(rtts, [] {});
    }

    void SetRate(double rateBps) { m_rateBps = rateBps; }
    double QueueNs() const { return m_queueNs; }
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

std::string
Text(double number)
{
    std::ostringstream text;
    text << number;
    return text.str();
}

class ConvergenceCase : public TestCase
{
  public:
    ConvergenceCase(double rateBps, double propagationNs, double bufferRtts, double initialShare)
        : TestCase("the RTT comes to its target, the rate to r_B = " + Text(rateBps) + " from " +
                   Text(initialShare) + " r_B, RTT " + Text(propagationNs) + " ns, buffer of " +
                   Text(bufferRtts) + " RTTs"),
          m_rateBps(rateBps),
          m_propagationNs(propagationNs),
          m_bufferRtts(bufferRtts),
          m_initialShare(initialShare)
    {
    }

  private:
    void DoRun() override
    {
        FluidBottleneck path(m_rateBps, m_propagationNs, m_bufferRtts * m_propagationNs);
        const RttMpcControl& control = path.Join({.decayRtts = 1e5,
                                                  .probeRtts = 0,
                                                  .initialBps = m_initialShare * m_rateBps,
                                                  .leastBps = 1e3});
        path.Run(4000); // eq. 6 forgets a slow start as 1 / t
        Moments rate;
        Moments rtt;
        path.Run(50,
                 [&]
                 {
                     rate.Add(control.RateBps() / m_rateBps);
                     rtt.Add(m_propagationNs + path.QueueNs());
                 });
        NS_TEST_EXPECT_MSG_EQ_TOL(rtt.Mean() / control.TargetNs(), 1, 0.03, "RTT over its target");
        NS_TEST_EXPECT_MSG_LT(rtt.Deviation() / m_propagationNs, 0.02, "the RTT is smooth");
        NS_TEST_EXPECT_MSG_EQ_TOL(rate.Mean(), 1, 0.01, "rate over r_B");
        NS_TEST_EXPECT_MSG_LT(rate.Deviation(), 0.02, "the rate is smooth");
        NS_TEST_EXPECT_MSG_EQ_TOL(control.BottleneckBps() / m_rateBps,
                                  1,
                                  0.03,
                                  "the estimate of r_B");
        NS_TEST_EXPECT_MSG_EQ_TOL(control.Range().MinNs() / m_propagationNs, 1, 0.02, "l_P");
        NS_TEST_EXPECT_MSG_GT(control.TargetNs(),
                              1.05 * m_propagationNs,
                              "the target holds a queue");
    }

    double m_rateBps;
    double m_propagationNs;
    double m_bufferRtts;
    double m_initialShare;
};

/// Decay makes the path's ends forgotten; probes see them again.
class ProbeCase : public TestCase
{
  public:
    ProbeCase()
        : TestCase("probes find the RTTs of an empty and of a full queue again")
    {
    }

  private:
    void DoRun() override
    {
        constexpr double PROPAGATION = 25e6;
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
        NS_TEST_EXPECT_MSG_GT(forgotten, 1.1 * PROPAGATION, "l_P was forgotten");
        NS_TEST_EXPECT_MSG_LT(least, 1.01 * PROPAGATION, "and found");
        NS_TEST_EXPECT_MSG_GT(largest, 1.9 * PROPAGATION, "l_B, close to the full queue");
        NS_TEST_EXPECT_MSG_GT(control.Counters().probesUp, 2, "probes up");
        NS_TEST_EXPECT_MSG_GT(control.Counters().probesDown, 2, "probes down");
        NS_TEST_EXPECT_MSG_EQ_TOL(rate.Mean(), 1, 0.02, "probes cost little");
    }
};

class LossCase : public TestCase
{
  public:
    LossCase()
        : TestCase("a loss empties the queue once, then the flow goes on")
    {
    }

  private:
    void DoRun() override
    {
        constexpr double PROPAGATION = 25e6;
        FluidBottleneck path(1e9, PROPAGATION, PROPAGATION);
        path.Join({.decayRtts = 1e5, .probeRtts = 0});
        path.Run(300);
        RttMpcControl& control = path.Control(0);
        NS_TEST_EXPECT_MSG_GT(path.QueueNs(), 0.3 * PROPAGATION, "a queue stands");
        NS_TEST_EXPECT_MSG_EQ_TOL(control.OnLoss() / 1e9, 0.5, 0.01, "half of r_B");
        control.OnLoss();
        NS_TEST_EXPECT_MSG_EQ_TOL(control.RateBps() / 1e9, 0.5, 0.01, "not less for a second loss");
        double queue = path.QueueNs();
        path.Run(4, [&] { queue = std::min(queue, path.QueueNs()); });
        NS_TEST_EXPECT_MSG_LT(queue, 0.01 * PROPAGATION, "it empties");
        path.Run(200);
        NS_TEST_EXPECT_MSG_EQ_TOL((PROPAGATION + path.QueueNs()) / control.TargetNs(),
                                  1,
                                  0.05,
                                  "the target again");
    }
};

class RoomCase : public TestCase
{
  public:
    RoomCase()
        : TestCase("a bottleneck that has become ten times as fast is found by the next probe")
    {
    }

  private:
    void DoRun() override
    {
        constexpr double PROPAGATION = 25e6;
        FluidBottleneck path(100e6, PROPAGATION, PROPAGATION);
        const RttMpcControl& control = path.Join({.probeRtts = 60});
        path.Run(400);
        NS_TEST_EXPECT_MSG_EQ_TOL(control.RateBps() / 100e6, 1, 0.5, "before");
        path.SetRate(1e9);
        path.Run(250);
        NS_TEST_EXPECT_MSG_EQ_TOL(control.RateBps() / 1e9, 1, 0.5, "after");
    }
};

/// Lynn et al. 2020, Table I: four flows of one RTT at a bottleneck of 40.
class SharingCase : public TestCase
{
  public:
    explicit SharingCase(std::vector<double> caps)
        : TestCase(caps.empty() ? "four flows share the bottleneck" : "four flows keep their caps"),
          m_caps(std::move(caps))
    {
    }

  private:
    void DoRun() override
    {
        constexpr double PROPAGATION = 25e6;
        FluidBottleneck path(40e6, PROPAGATION, PROPAGATION);
        for (size_t i = 0; i < 4; ++i)
        {
            path.Join({.initialBps = 1e6,
                       .leastBps = 1e4,
                       .largestBps = m_caps.empty() ? 1e9 : m_caps[i]});
        }
        path.Run(600);
        Moments rates[4];
        Moments queue;
        path.Run(400,
                 [&]
                 {
                     for (size_t i = 0; i < 4; ++i)
                     {
                         rates[i].Add(path.Control(i).RateBps());
                     }
                     queue.Add(path.QueueNs() / PROPAGATION);
                 });
        for (size_t i = 0; i < 4; ++i)
        {
            const double expected = m_caps.empty() ? 10e6 : m_caps[i];
            NS_TEST_EXPECT_MSG_EQ_TOL(rates[i].Mean() / expected, 1, 0.03, "flow " << i);
        }
        if (!m_caps.empty())
        {
            NS_TEST_EXPECT_MSG_LT(queue.Mean(), 0.05, "caps that fit build no queue");
        }
    }

    std::vector<double> m_caps;
};

class RttMpcLoopTestSuite : public TestSuite
{
  public:
    RttMpcLoopTestSuite()
        : TestSuite("tcp-rttmpc-loop", Type::UNIT)
    {
        const auto add = [this](TestCase* test) { AddTestCase(test, TestCase::Duration::QUICK); };
        for (double bufferRtts : {0.5, 1.0, 2.0})
        {
            add(new ConvergenceCase(1e9, 25e6, bufferRtts, 0.01));
        }
        add(new ConvergenceCase(1e9, 25e6, 1, 0.9));
        add(new ConvergenceCase(1e9, 25e6, 1, 3));
        add(new ConvergenceCase(100e9, 20e3, 1, 0.01));
        add(new ProbeCase);
        add(new LossCase);
        add(new RoomCase);
        add(new SharingCase({}));
        add(new SharingCase({3e6, 7e6, 10e6, 20e6}));
    }
};

RttMpcLoopTestSuite g_rttMpcLoopTestSuite;

} // namespace

} // namespace ns3::env::tcp::test
