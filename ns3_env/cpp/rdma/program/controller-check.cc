// SPDX-License-Identifier: GPL-2.0-or-later
// Check of the contract's promises: a controller's hooks in any order, without a network.
#include "controller-check.h"

#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/decision/deciding-controller.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <vector>

namespace ns3::env::rdma
{

namespace
{

/// Feedback no network would give: repeated, reordered, empty, zero and enormous.
class Feedback
{
  public:
    Feedback(const PathFacts& facts, uint64_t seed)
        : m_facts(facts),
          m_random(seed)
    {
    }

    double Unit() { return std::uniform_real_distribution<double>(0.0, 1.0)(m_random); }
    bool Chance(double probability) { return Unit() < probability; }

    Picos Rtt()
    {
        if (Chance(0.05))
        {
            return Chance(0.5) ? 0 : 100 * PS_PER_SECOND;
        }
        return m_facts.baseRtt + static_cast<Picos>(Unit() * 1e9 * (Chance(0.5) ? 1.0 : 0.01));
    }

    std::vector<IntRecord> Records(Picos now)
    {
        if (!m_past.empty() && Chance(0.3)) // repeated or out of order
        {
            return m_past[static_cast<size_t>(Unit() * static_cast<double>(m_past.size()))];
        }
        std::vector<IntRecord> hops(static_cast<size_t>(Unit() * (MAX_INT_HOPS + 1)));
        for (IntRecord& hop : hops)
        {
            hop = Record(now);
        }
        m_past.push_back(hops);
        return hops;
    }

  private:
    IntRecord Record(Picos now)
    {
        IntRecord hop{.txBytes = static_cast<uint64_t>(Unit() * 1e9),
                      .timeNs = ToNanos(now) - static_cast<int64_t>(Unit() * 1e4),
                      .rateBps = Chance(0.5) ? 100'000'000'000U : 400'000'000'000U,
                      .queueBytes = Chance(0.3) ? 0U : static_cast<uint32_t>(Unit() * 3e7),
                      .flows = static_cast<uint32_t>(Unit() * 300)};
        Spoil(hop.txBytes, 0.02);
        Spoil(hop.timeNs, 0.002);
        Spoil(hop.rateBps, 0.02);
        Spoil(hop.queueBytes, 0.02);
        Spoil(hop.flows, 0.02);
        return hop;
    }

    /// Makes a field zero or as large as it can be.
    template <typename T>
    void Spoil(T& field, double probability)
    {
        if (Chance(probability))
        {
            field = Chance(0.5) ? T{0} : std::numeric_limits<T>::max() / 2;
        }
    }

    const PathFacts& m_facts;
    std::mt19937_64 m_random;
    std::vector<std::vector<IntRecord>> m_past;
};

void
CallOneHook(CongestionControl& control, FakeFlow& flow, Feedback& feedback)
{
    const Picos now = Simulator::Now().GetTimeStep();
    const double kind = feedback.Unit();
    if (kind < 0.3)
    {
        flow.Sent(flow.SentBytes() + 1000);
        control.OnPacketSent(flow, now, flow.Path().packetBytes);
    }
    else if (kind < 0.9)
    {
        // Duplicates, single packets, and ACKs that cover many packets.
        const double packets = feedback.Chance(0.1) ? 0 : std::floor(1 + feedback.Unit() * 1.2);
        const uint64_t to = feedback.Chance(0.02)
                                ? flow.SentBytes()
                                : flow.AckedBytes() + 1000 * static_cast<uint64_t>(packets);
        const uint64_t acked = std::min(flow.SentBytes(), to);
        const auto newly = acked - flow.AckedBytes();
        flow.Acked(acked);
        const std::vector<IntRecord> hops = feedback.Records(now);
        control.OnAck(flow,
                      {.now = now,
                       .rtt = feedback.Rtt(),
                       .ackedBytes = acked,
                       .newlyAckedBytes = newly,
                       .ecnMarked = feedback.Chance(0.5),
                       .hops = hops});
    }
    else if (kind < 0.96)
    {
        flow.Sent(flow.AckedBytes()); // go-back-N
        kind < 0.93 ? control.OnNack(flow, now) : control.OnTimeout(flow, now);
    }
    else
    {
        control.OnCongestionNotification(flow,
                                         {.now = now,
                                          .offsetBytes = (feedback.Unit() - 0.5) * 1e7,
                                          .deltaBytes = (feedback.Unit() - 0.5) * 1e7,
                                          .feedback = static_cast<uint32_t>(feedback.Unit() * 64),
                                          .congestionPoint = feedback.Chance(0.5) ? 0U : 1U});
    }
}

/// The promise that the present window and rate break; none if they keep all.
std::optional<std::string>
BrokenNow(const FlowState& flow, const CongestionControl& control)
{
    constexpr double ROUNDING = 1e-12;
    const double window = flow.WindowBytes();
    const double rate = flow.RateBps();
    const double leastWindow = control.GetWindowFloor(flow);
    const double leastRate = control.GetRateFloor(flow);
    std::ostringstream fault;
    if (!(leastWindow > 0))
    {
        fault << "the floor of its window, " << leastWindow << " B, is no window";
    }
    else if (!(leastRate > 0))
    {
        fault << "the floor of its rate, " << leastRate << " bit/s, is no rate";
    }
    else if (!(window >= leastWindow))
    {
        fault << "its window, " << window << " B, is below its floor, " << leastWindow << " B";
    }
    else if (!std::isfinite(rate))
    {
        fault << "its rate is " << rate;
    }
    else if (rate < leastRate * (1 - ROUNDING))
    {
        fault << "its rate, " << rate << " bit/s, is below its floor, " << leastRate << " bit/s";
    }
    else if (rate > flow.Path().hostRateBps * (1 + ROUNDING))
    {
        fault << "its rate, " << rate << " bit/s, is above the link's, " << flow.Path().hostRateBps
              << " bit/s";
    }
    return fault.str().empty() ? std::nullopt : std::optional(fault.str());
}

/// The promises of one flow's life, in a separate simulation.
class CheckedFlow
{
  public:
    CheckedFlow(const std::string& controller, uint64_t seed)
        : m_control(ObjectFactory("rdma::" + controller).Create<CongestionControl>()),
          m_facts(
              DumbbellFacts(1048 + m_control->GetIntRequest().wireBytes, seed % 2 ? 1e9 : 100e9)),
          m_flow(m_facts),
          m_feedback(m_facts, seed)
    {
    }

    std::optional<std::string> Play()
    {
        m_control->OnFlowStart(m_flow);
        Look("after its start");
        Picos at = 0;
        for (uint32_t i = 0; i < CHECKED_HOOKS; ++i)
        {
            at += static_cast<Picos>(m_feedback.Unit() * (m_feedback.Chance(0.1) ? 1e9 : 1e7));
            Simulator::Schedule(Time(at), [this]() { OneHook(); });
        }
        double lastRate = 0;
        Simulator::Schedule(Time(at),
                            [&]()
                            {
                                m_control->OnFlowEnd(m_flow, at);
                                lastRate = m_flow.RateBps();
                            });
        Simulator::Run();
        if (!m_broken && m_flow.RateBps() != lastRate)
        {
            m_broken = "acts after its flow's end";
        }
        for (const auto& [counter, value] : m_control->GetCounters())
        {
            if (!m_broken && !(value >= 0))
            {
                m_broken = "its counter " + counter + " is below zero";
            }
        }
        Simulator::Destroy();
        return m_broken;
    }

  private:
    void OneHook()
    {
        if (m_broken) // one report is enough
        {
            return;
        }
        Look("between hooks");
        CallOneHook(*m_control, m_flow, m_feedback);
        Look("after a hook");
    }

    void Look(const char* when)
    {
        const std::optional<std::string> broken = BrokenNow(m_flow, *m_control);
        if (broken && !m_broken)
        {
            m_broken = *broken + ", " + when + " at " +
                       std::to_string(ToNanos(Simulator::Now().GetTimeStep())) + " ns";
        }
    }

    Ptr<CongestionControl> m_control;
    PathFacts m_facts;
    FakeFlow m_flow;
    Feedback m_feedback;
    std::optional<std::string> m_broken;
};

} // namespace

std::optional<std::string>
BrokenPromise(const std::string& controller)
{
    for (uint64_t seed = 0; seed < CHECKED_FLOWS; ++seed)
    {
        if (const auto broken = CheckedFlow(controller, seed).Play())
        {
            return "flow " + std::to_string(seed) + ": " + *broken;
        }
    }
    return std::nullopt;
}

std::vector<std::string>
CheckableControllers()
{
    std::vector<std::string> names = ListControllers();
    std::erase_if(
        names,
        [](const std::string& name)
        {
            return TypeId::LookupByName("rdma::" + name).IsChildOf(DecidingController::GetTypeId());
        });
    return names;
}

} // namespace ns3::env::rdma
