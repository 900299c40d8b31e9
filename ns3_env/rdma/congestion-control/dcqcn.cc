// SPDX-License-Identifier: GPL-2.0-or-later
#include "dcqcn.h"

#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

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
Dcqcn::OnAck(FlowState& flow, const AckSample& ack)
{
    if (!ack.ecnMarked)
    {
        return;
    }
    if (!m_started)
    {
        OnFirstMark(flow, ack.now);
    }
    else
    {
        AdvanceAlpha(ack.now);
        m_markedThisStep = true;
    }
    ArmDecreaseCheck(ack.now);
}

void
Dcqcn::OnFirstMark(FlowState& flow, Picos now)
{
    m_started = true;
    m_flow = &flow;
    m_origin = now;
    m_alpha = 1.0;
    m_targetBps = flow.RateBps();
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
Dcqcn::ArmDecreaseCheck(Picos now)
{
    if (m_checkArmed)
    {
        return;
    }
    m_checkArmed = true;
    // Checks stand on a grid: the first comes an interval after the first mark, and just after alpha's step.
    const Picos interval = m_decreaseInterval.GetTimeStep();
    const Picos first = m_origin + interval + PS_PER_NS;
    const Picos past = now - first;
    const Picos next = past < 0 ? first : first + (past / interval + 1) * interval;
    m_decreaseEvent = Simulator::Schedule(Time(next - now), &Dcqcn::Decrease, this, m_flow);
}

void
Dcqcn::Decrease(FlowState* flow)
{
    m_checkArmed = false;
    AdvanceAlpha(Simulator::Now().GetTimeStep());
    const PathFacts& path = flow->Path();
    if (m_stage > 0) // cuts without an increase between them keep the target
    {
        m_targetBps = flow->RateBps();
    }
    flow->SetRate(std::max(path.minRateBps, flow->RateBps() * (1 - m_alpha / 2)));
    m_stage = 0;
    ArmIncrease();
}

void
Dcqcn::ArmIncrease()
{
    m_increaseEvent.Cancel();
    m_increaseEvent = Simulator::Schedule(m_increaseInterval, &Dcqcn::Increase, this, m_flow);
}

void
Dcqcn::Increase(FlowState* flow)
{
    const double line = flow->Path().hostRateBps;
    if (m_stage >= m_fastRecovery)
    {
        const double step = m_stage == m_fastRecovery ? m_increaseFraction : m_hyperFraction;
        m_targetBps = std::min(line, m_targetBps + step * line);
    }
    flow->SetRate(std::min(line, (flow->RateBps() + m_targetBps) / 2));
    ++m_stage;
    if (flow->RateBps() < line || m_targetBps < line) // at line rate there is nothing left to do
    {
        ArmIncrease();
    }
}

void
Dcqcn::StopTimers()
{
    m_decreaseEvent.Cancel();
    m_increaseEvent.Cancel();
}

void
Dcqcn::OnFlowEnd(FlowState&, Picos)
{
    StopTimers();
}

void
Dcqcn::DoDispose()
{
    StopTimers();
    CongestionControl::DoDispose();
}

} // namespace ns3::rdma
