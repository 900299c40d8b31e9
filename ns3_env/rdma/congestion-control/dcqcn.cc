// SPDX-License-Identifier: GPL-2.0-or-later
#include "dcqcn.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Dcqcn);

TypeId
Dcqcn::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::dcqcn")
            .SetParent<CongestionControl>()
            .SetGroupName("Rdma")
            .AddConstructor<Dcqcn>()
            .AddAttribute("Gain",
                          "Weight g of a mark in alpha.",
                          DoubleValue(1.0 / 256),
                          MakeDoubleAccessor(&Dcqcn::m_gain),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute(
                "AlphaInterval",
                "Interval of alpha's average (1 us in the reference, 50 us in the paper).",
                TimeValue(MicroSeconds(1)),
                MakeTimeAccessor(&Dcqcn::m_alphaInterval),
                MakeTimeChecker())
            .AddAttribute(
                "DecreaseInterval",
                "Least time between two cuts (4 us in the reference, 50 us in the paper).",
                TimeValue(MicroSeconds(4)),
                MakeTimeAccessor(&Dcqcn::m_decreaseInterval),
                MakeTimeChecker())
            .AddAttribute("IncreaseInterval",
                          "Time between increases (300 us in the reference, 55 us in the paper).",
                          TimeValue(MicroSeconds(300)),
                          MakeTimeAccessor(&Dcqcn::m_increaseInterval),
                          MakeTimeChecker())
            .AddAttribute("FastRecoveryStages",
                          "Increases towards the target before the target itself grows (F).",
                          UintegerValue(1),
                          MakeUintegerAccessor(&Dcqcn::m_fastRecovery),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("AdditiveIncrease",
                          "R_AI as a fraction of the host's link rate (20 Mb/s at 100 Gb/s).",
                          DoubleValue(2e-4),
                          MakeDoubleAccessor(&Dcqcn::m_increaseFraction),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("HyperIncrease",
                          "R_HAI, likewise (200 Mb/s at 100 Gb/s).",
                          DoubleValue(2e-3),
                          MakeDoubleAccessor(&Dcqcn::m_hyperFraction),
                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

void
Dcqcn::OnPacketSent(FlowState& flow, Picos now, uint32_t)
{
    CatchUp(flow, now);
}

void
Dcqcn::OnAck(FlowState& flow, const AckSample& ack)
{
    CatchUp(flow, ack.now);
    if (!ack.ecnMarked)
    {
        return;
    }
    if (m_origin == NEVER)
    {
        m_origin = ack.now;
        m_targetBps = flow.RateBps();
    }
    else
    {
        AdvanceAlpha(ack.now - 1); // a mark at the very instant of a step still counts in it
        m_markedThisStep = true;
    }
    if (m_nextDecrease == NEVER)
    {
        // Checks stand on a grid: the first comes an interval after the first mark, just after alpha's step.
        const Picos interval = m_decreaseInterval.GetTimeStep();
        const Picos first = m_origin + interval + PS_PER_NS;
        const Picos past = ack.now - first;
        m_nextDecrease = past < 0 ? first : first + (past / interval + 1) * interval;
    }
}

void
Dcqcn::CatchUp(FlowState& flow, Picos now)
{
    while (std::min(m_nextIncrease, m_nextDecrease) <= now)
    {
        if (m_nextIncrease <= m_nextDecrease)
        {
            Increase(flow);
        }
        else
        {
            Decrease(flow);
        }
    }
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
    // alpha = (1 - g) alpha + g where a mark came in the interval, (1 - g) alpha where none did
    m_alpha = (1 - m_gain) * m_alpha + (m_markedThisStep ? m_gain : 0.0);
    m_markedThisStep = false;
    m_alpha *= std::pow(1 - m_gain, static_cast<double>(due - 1));
}

void
Dcqcn::Decrease(FlowState& flow)
{
    const Picos now = std::exchange(m_nextDecrease, NEVER);
    AdvanceAlpha(now);
    if (m_stage > 0) // cuts without an increase between them keep the target
    {
        m_targetBps = flow.RateBps();
    }
    const double cut = std::floor(flow.RateBps() * (1 - m_alpha / 2));
    flow.SetRate(std::max(flow.Path().minRateBps, cut));
    m_stage = 0;
    m_nextIncrease = now + m_increaseInterval.GetTimeStep();
}

void
Dcqcn::Increase(FlowState& flow)
{
    const double line = flow.Path().hostRateBps;
    const double before = flow.RateBps();
    if (m_stage >= m_fastRecovery)
    {
        const double step = m_stage == m_fastRecovery ? m_increaseFraction : m_hyperFraction;
        m_targetBps = std::min(line, m_targetBps + std::round(step * line));
    }
    // halves in whole bits per second, each cut off, as the reference's rates
    flow.SetRate(std::min(line, std::floor(before / 2) + std::floor(m_targetBps / 2)));
    ++m_stage;
    // at line rate there is nothing left to do
    const bool done = m_targetBps == line && flow.RateBps() == before;
    m_nextIncrease = done ? NEVER : m_nextIncrease + m_increaseInterval.GetTimeStep();
}

} // namespace ns3::rdma
