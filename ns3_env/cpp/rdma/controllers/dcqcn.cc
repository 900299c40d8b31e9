// SPDX-License-Identifier: GPL-2.0-or-later
// DCQCN controller: marks cut the rate by alpha/2, a timer brings it back in three stages.
#include "dcqcn.h"

#include "ns3_env/cpp/contract/declaration.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3::env::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Dcqcn);

TypeId
Dcqcn::GetTypeId()
{
    const Time LEAST_INTERVAL = NanoSeconds(10); // shorter than a frame: a step per packet and more
    const Time LONGEST_INTERVAL = Seconds(1000);
    static TypeId tid =
        Declaration<Dcqcn>("rdma::dcqcn")
            .Number("Gain", "Weight g of a mark in alpha.", &Dcqcn::m_gain, {1.0 / 256, 0.0, 1.0})
            .Number("AlphaInterval",
                    "Interval of alpha's average (1 us in the reference, 55 us in the paper).",
                    &Dcqcn::m_alphaInterval,
                    {MicroSeconds(1), LEAST_INTERVAL, LONGEST_INTERVAL})
            .Number("DecreaseInterval",
                    "Least time between two cuts (4 us in the reference, 50 us in the paper).",
                    &Dcqcn::m_decreaseInterval,
                    {MicroSeconds(4), LEAST_INTERVAL, LONGEST_INTERVAL})
            .Number("IncreaseInterval",
                    "Time between increases (300 us in the reference, 55 us in the paper).",
                    &Dcqcn::m_increaseInterval,
                    {MicroSeconds(300), LEAST_INTERVAL, LONGEST_INTERVAL})
            .Number("ByteCounter",
                    "Bytes sent between increases of a second kind, next to the timer's (10 MB in "
                    "the paper); 0: none.",
                    &Dcqcn::m_byteCounter,
                    {0, 0, 1e15})
            .Flag("KeepTarget",
                  "Whether cuts without an increase between them keep the target rate; otherwise "
                  "it is the rate before each cut, as in the paper.",
                  &Dcqcn::m_keepTarget,
                  true)
            .Number("FastRecoveryStages",
                    "Increases towards the target before the target itself grows (F).",
                    &Dcqcn::m_fastRecovery,
                    {1, 0, 1'000'000})
            .Number("AdditiveIncrease",
                    "R_AI as a fraction of the host's link rate (20 Mb/s at 100 Gb/s).",
                    &Dcqcn::m_increaseFraction,
                    {2e-4, 0.0, 1.0})
            .Number("HyperIncrease",
                    "R_HAI, likewise (200 Mb/s at 100 Gb/s).",
                    &Dcqcn::m_hyperFraction,
                    {2e-3, 0.0, 1.0})
            .Number("Kmin",
                    "Marking of its switches under ecn: auto, bytes at MarkingRate: none below (5 "
                    "kB in the paper).",
                    &Dcqcn::m_kminBytes,
                    {100e3, 0.0, 1e12})
            .Number("Kmax",
                    "Likewise: every packet above (200 kB in the paper).",
                    &Dcqcn::m_kmaxBytes,
                    {400e3, 0.0, 1e12})
            .Number("Pmax",
                    "Likewise: share of packets marked just below Kmax (0.01 in the paper).",
                    &Dcqcn::m_pmax,
                    {0.2, 0.0, 1.0})
            .Number("MarkingRate",
                    "Rate of the port, bit/s, that Kmin and Kmax are of; they scale with the rate "
                    "(40 Gb/s in the paper).",
                    &Dcqcn::m_markingRateBps,
                    {25e9, 1.0, 1e15})
            .Flag("BdpWindow",
                  "Whether a flow has at most a BDP in flight; otherwise it has no window.",
                  &Dcqcn::m_bdpWindow,
                  false)
            .Flag("RateWindow",
                  "Whether a flow's window is its rate times the network's largest base RTT, a BDP "
                  "at most.",
                  &Dcqcn::m_rateWindow,
                  false)
            .Flag("TimerEvents",
                  "Whether timers are events, which take their turn among those of their instant; "
                  "otherwise they come first. Always so under timing: published.",
                  &Dcqcn::m_timerEvents,
                  false)
            .State("Alpha",
                   "Estimate of congestion, when a timer's step is worked off.",
                   &Dcqcn::m_alpha)
            .State("TargetRateBps", "R_T, the rate that increases lead to.", &Dcqcn::m_targetBps);
    return tid;
}

EcnConfig
Dcqcn::GetEcnConfig() const
{
    // by default those of the published presets (docs/sources/published-simulator.md, "Switch")
    return {.enabled = true,
            .kminBytes = m_kminBytes,
            .kmaxBytes = m_kmaxBytes,
            .pmax = m_pmax,
            .atRateBps = m_markingRateBps};
}

void
Dcqcn::OnFlowStart(FlowState& flow)
{
    if (m_bdpWindow)
    {
        flow.SetWindow(flow.Path().bdpBytes);
    }
    if (m_rateWindow)
    {
        flow.SetWindow(flow.Path().WindowAt(flow.RateBps()));
    }
}

void
Dcqcn::OnPacketSent(FlowState& flow, Picos now, uint32_t wireBytes)
{
    CatchUp(flow, now);
    if (m_byteCounter > 0 && m_origin != NEVER)
    {
        m_sentBytes += wireBytes;
        if (m_sentBytes >= m_byteCounter)
        {
            m_sentBytes -= m_byteCounter;
            Increase(flow, m_byteStage);
            WriteRate(flow);
        }
    }
}

void
Dcqcn::OnAck(FlowState& flow, const AckSample& ack)
{
    CatchUp(flow, ack.now);
    if (!ack.ecnMarked)
    {
        return;
    }
    const bool first = m_origin == NEVER;
    if (first)
    {
        m_origin = ack.now;
        m_rateBps = flow.RateBps();
        m_targetBps.Set(m_rateBps);
        if (m_timerEvents)
        {
            StartTimers(flow);
        }
    }
    if (m_timers)
    {
        m_markedThisStep = m_markedThisStep || !first;
        m_markedThisCheck = true;
        return;
    }
    if (!first)
    {
        AdvanceAlpha(ack.now - 1); // a mark at the very instant of a step still counts in it
        m_markedThisStep = true;
    }
    if (m_nextDecrease == NEVER)
    {
        // Checks are on a grid: the first comes an interval after the first mark, just after alpha's step.
        const Picos interval = m_decreaseInterval.GetTimeStep();
        const Picos firstCheck = m_origin + interval + PS_PER_NS;
        const Picos past = ack.now - firstCheck;
        m_nextDecrease = past < 0 ? firstCheck : firstCheck + (past / interval + 1) * interval;
    }
}

void
Dcqcn::OnFlowEnd(FlowState&, Picos)
{
    m_timers.reset();
}

void
Dcqcn::StartTimers(const FlowState& flow)
{
    const auto decrease = [this, &flow]
    {
        if (std::exchange(m_markedThisCheck, false))
        {
            Decrease(flow);
            m_timers->RestartIncrease();
        }
    };
    m_timers.emplace(published::DcqcnTimers::Timer{m_alphaInterval.GetTimeStep(),
                                                   [this] { m_alpha.Set(StepAlpha()); }},
                     published::DcqcnTimers::Timer{m_decreaseInterval.GetTimeStep(), decrease},
                     published::DcqcnTimers::Timer{m_increaseInterval.GetTimeStep(),
                                                   [this, &flow] { Increase(flow, m_stage); }});
}

void
Dcqcn::CatchUp(FlowState& flow, Picos now)
{
    if (m_origin == NEVER)
    {
        return;
    }
    while (std::min(m_nextIncrease, m_nextDecrease) <= now)
    {
        if (m_nextIncrease <= m_nextDecrease)
        {
            const Picos next = m_nextIncrease + m_increaseInterval.GetTimeStep();
            m_nextIncrease = Increase(flow, m_stage) ? next : NEVER;
        }
        else
        {
            const Picos due = std::exchange(m_nextDecrease, NEVER);
            AdvanceAlpha(due);
            Decrease(flow);
            m_nextIncrease = due + m_increaseInterval.GetTimeStep();
        }
    }
    WriteRate(flow);
}

void
Dcqcn::WriteRate(FlowState& flow)
{
    if (flow.RateBps() != m_rateBps)
    {
        flow.SetRate(m_rateBps);
        if (m_rateWindow)
        {
            flow.SetWindow(flow.Path().WindowAt(m_rateBps));
        }
    }
}

double
Dcqcn::StepAlpha()
{
    // alpha = (1 - g) alpha + g if a mark came in the interval, else (1 - g) alpha
    const bool marked = std::exchange(m_markedThisStep, false);
    return (1 - m_gain) * m_alpha.Get() + (marked ? m_gain : 0.0);
}

void
Dcqcn::AdvanceAlpha(Picos now)
{
    const int64_t due = (now - m_origin) / m_alphaInterval.GetTimeStep() - m_alphaSteps;
    if (due <= 0)
    {
        return;
    }
    m_alphaSteps += due;
    m_alpha.Set(StepAlpha() * std::pow(1 - m_gain, static_cast<double>(due - 1)));
}

void
Dcqcn::Decrease(const FlowState& flow)
{
    if (m_stage > 0 || m_byteStage > 0 || !m_keepTarget)
    {
        m_targetBps.Set(m_rateBps);
    }
    m_rateBps = std::max(flow.Path().minRateBps, std::floor(m_rateBps * (1 - m_alpha.Get() / 2)));
    m_stage = m_byteStage = 0;
    m_sentBytes = 0;
}

bool
Dcqcn::Increase(const FlowState& flow, uint32_t& stage)
{
    const double line = flow.Path().hostRateBps;
    const double before = m_rateBps;
    // Zhu 2015, sec. 3: fast recovery while both counters are below F, hyper increase once both are beyond it
    const bool both = m_byteCounter > 0;
    const uint32_t most = std::max(m_stage, m_byteStage);
    const uint32_t least = both ? std::min(m_stage, m_byteStage) : m_stage;
    if (most >= m_fastRecovery)
    {
        const double step = least <= m_fastRecovery ? m_increaseFraction : m_hyperFraction;
        m_targetBps.Set(std::min(line, m_targetBps.Get() + std::round(step * line)));
    }
    // halves in whole bits per second, each cut off, as the published simulator's rates
    m_rateBps = std::min(line, std::floor(before / 2) + std::floor(m_targetBps.Get() / 2));
    ++stage;
    return m_targetBps.Get() != line || m_rateBps != before; // at line rate no increase is left
}

} // namespace ns3::env::rdma
